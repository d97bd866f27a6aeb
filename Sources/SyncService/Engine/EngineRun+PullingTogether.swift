import Foundation
import SyncCore
import SyncStore

// T4 of a service that has one cursor for all entities: the pages of all and where each goes on are one transaction, so that no
// row is there without those that changed with it.
extension EngineRun {
    func pullTogether() async throws {
        let cursors = try await store.cursors(registration)
        let since = Self.oldest(entities.map { cursors[$0]?.cursor })
        var isWhole = since == nil
        let pages: [String: PullPage]
        do {
            pages = try await self.pages(since: since)
        } catch ServiceFailure.cursorInvalid {
            isWhole = true
            pages = try await self.pages(since: nil)
        }
        if let page = pages.values.first(where: { $0.next != nil }) {
            throw ServiceFailure.malformed("what changed of all entities goes on at '\(page.next ?? "")'")
        }
        for entity in entities where pages[entity]?.isListing == true {
            try await store.beginSweep(of: entity, lease)
            listed.withLock { $0.insert(entity) }
        }
        var outcome = try await store.apply(
            entities.compactMap { entity in pages[entity].map { PulledPage($0, of: entity, takesOlder: isWhole) } },
            lease)
        for entity in entities {
            // They are tried again before the run ends.
            outcome[entity].parked = 0
            pulled.withLock { $0.insert(entity) }
            if let page = pages[entity], !page.rows.isEmpty {
                tell(.pulled(entity: entity, rows: page.rows.count, of: page.total))
            }
        }
        note(outcome)
        cursor.withLock { $0 = pages.values.first?.cursor }
    }

    private func pages(since cursor: String?) async throws -> [String: PullPage] {
        try await asking { [service, entities] in try await service.pull(entities, since: cursor) }
    }

    /// Where all entities can be asked for: from the oldest of their cursors; from the beginning if one has none, or nobody can
    /// tell which is older.
    static func oldest(_ cursors: [String?]) -> String? {
        guard let first = cursors.first, !cursors.contains(nil) else { return nil }
        let known = cursors.compactMap(\.self)
        if Set(known).count == 1 { return first }
        let numbers = known.compactMap { text in Double(text).map { (text, $0) } }
        return numbers.count == known.count ? numbers.min { $0.1 < $1.1 }?.0 : nil
    }

    /// Before a push of a service that asks what was pulled.
    func findCursor() async throws {
        guard service.capabilities.pushesTogether else { return }
        let cursors = try await store.cursors(registration)
        cursor.withLock { $0 = Self.oldest(entities.map { cursors[$0]?.cursor }) }
    }
}
