import Foundation
import SyncCore
import SyncStore

// T4: a page, its tombstones, the merges and where to go on are one transaction.
extension EngineRun {
    func pull() async throws {
        tell(.phase(.pulling))
        if service.capabilities.pullsTogether { return try await pullTogether() }
        for entity in entities {
            do {
                try await pull(entity, from: start.cursors[entity])
            } catch ServiceError.cursorInvalid {
                try await pull(entity, from: nil)
            }
            pulled.withLock { $0.insert(entity) }
        }
    }

    private func pull(_ entity: String, from known: PullState?) async throws {
        let cursor = known?.cursor
        var trail = PageLoopDetector(entity, from: known?.next)
        // The page where an earlier run ended, until it was read.
        var rest = known?.next
        var count = 0
        while true {
            let (page, request) = (trail.page, PullRequest(entity: entity, cursor: cursor, page: trail.page))
            let answer: PullPage
            do {
                answer = try await asking { [service] in try await service.pull(request) }
            } catch let failure as ServiceError where rest != nil && failure.isOfPage {
                // It is not known any more, or cannot be read.
                (trail, rest) = (PageLoopDetector(entity), nil)
                continue
            }
            rest = nil
            let goesOn = try await goes(on: answer, &trail, entity)
            try checkTimes(answer.rows, of: entity)
            if answer.isListing, page == nil { try await store.beginListing(of: entity, lease) }
            var outcome = try await store.apply(PulledPage(answer, of: entity, takesOlder: cursor == nil), lease)
            // They are tried again before the run ends.
            outcome[entity].parked = 0
            record(outcome)
            recordSkipped(answer, of: entity, after: count)
            count += answer.rows.count + answer.skipped.count
            if count > 0 || answer.next != nil { tell(.pulled(entity: entity, rows: count, of: answer.total)) }
            guard goesOn else {
                if answer.isListing { listed.withLock { $0.insert(entity) } }
                return
            }
        }
    }

    /// Whether there is another page. Where the pages have no end, the next run begins with the first one.
    private func goes(on answer: PullPage, _ trail: inout PageLoopDetector, _ entity: String) async throws -> Bool {
        do {
            return try trail.goes(on: answer.next, after: answer.rows.map(\.id))
        } catch {
            let page = PulledPage(entity: entity, rows: [], end: .anew, isListing: false, serverTime: nil)
            _ = try await store.apply(page, lease)
            throw error
        }
    }

    /// Where the later one wins, the service has to say when each record was changed.
    func checkTimes(_ rows: [RemoteRecord], of entity: String) throws {
        guard registration.entities.contains(where: { $0.name == entity && $0.policy == .lastWriterWins }),
            let row = rows.first(where: { $0.record != nil && $0.time == nil })
        else { return }
        throw SyncError(
            .invalidOption,
            "lastWriterWins needs the time of every record, and \(entity) \(row.id.description) of the service has none: "
                + (row.version.map { "'\($0)' is no time" } ?? "it says no version"), entity: entity)
    }

    /// - Parameter count: How many records the pages before had.
    private func recordSkipped(_ page: PullPage, of entity: String, after count: Int) {
        guard let first = page.skipped.first else { return }
        recordChanges(of: entity) { changes in
            changes.skipped += page.skipped.count
            changes.firstSkipped = changes.firstSkipped ?? count + first
        }
    }

    func record(_ outcome: AppliedChanges) {
        for (entity, counts) in outcome.entities {
            recordChanges(of: entity) { changes in
                changes.inserted += counts.inserted
                changes.updated += counts.updated
                changes.deleted += counts.deleted
                changes.linksAdded += counts.linksAdded
                changes.linksRemoved += counts.linksRemoved
                changes.conflicts += counts.conflicts
                changes.conflictingValues += counts.conflictingValues
                changes.unread += counts.unread
                changes.firstUnreadable = changes.firstUnreadable ?? counts.firstUnreadable
                changes.parked += counts.parked
            }
        }
    }

    /// Whether the service has anything that the store has not.
    static func isAnythingNew(
        _ store: any EngineStore, _ service: any SyncService, _ registration: EngineRegistration
    ) async throws -> Bool {
        let cursors = try await store.cursors(registration)
        let entities = registration.entities.map(\.name)
        if service.capabilities.pullsTogether {
            return try await isAnythingNew(store, service, entities, oldest(entities.map { cursors[$0]?.cursor }))
        }
        for entity in entities {
            let cursor = cursors[entity]?.cursor
            var trail = PageLoopDetector(entity)
            do {
                // What is on the first page may be known, and the news on the next one.
                while true {
                    let page = try await service.pull(PullRequest(entity: entity, cursor: cursor, page: trail.page))
                    if try await store.hasNews(PulledPage(page, of: entity, takesOlder: cursor == nil)) { return true }
                    guard try trail.goes(on: page.next, after: page.rows.map(\.id)) else { break }
                }
            } catch ServiceError.cursorInvalid {
                return true
            } catch let failure as ServiceError {
                throw service.hidingSecrets(of: failure.error)
            }
        }
        return false
    }

    private static func isAnythingNew(
        _ store: any EngineStore, _ service: any SyncService, _ entities: [String], _ cursor: String?
    ) async throws -> Bool {
        do {
            for (entity, page) in try await service.pull(entities, since: cursor) {
                if try await store.hasNews(PulledPage(page, of: entity, takesOlder: cursor == nil)) { return true }
            }
            return false
        } catch ServiceError.cursorInvalid {
            return true
        } catch let failure as ServiceError {
            throw service.hidingSecrets(of: failure.error)
        }
    }

    // MARK: Single answers

    /// Stores records that the app fetched itself.
    func write(_ json: JSONValue, _ entity: String) async throws {
        let records: [JSONValue] =
            switch json {
            case .array(let elements): elements
            default: [json]
            }
        let rows = try records.map { record in
            guard let id = try store.id(of: record, entity) else {
                throw SyncError(.primaryKeyMissing, "a record has no readable key", entity: entity)
            }
            return PulledPage.Record(id: id, record: record, version: nil, time: nil, isWhole: false)
        }
        let page = PulledPage(entity: entity, rows: rows, end: .none, isListing: false, serverTime: nil)
        record(try await store.apply(page, lease))
    }

    func write(remoteFirst operation: PushOperation) async throws {
        var operation = operation
        try await findCursor()
        operation.cursor = operation.cursor ?? cursor.value
        let outcome = try await service.pushed([operation]).first ?? .unknown("there was no answer")
        let rows: [PulledPage.Record]
        switch outcome {
        case .applied(let row):
            if let row, let id = operation.id, !operation.mayGiveAnotherID,
                try !store.areSame(row.id, id, of: operation.entity)
            {
                throw SyncError(.serviceFailure, row.otherRowReason, entity: operation.entity)
            }
            if operation.kind == .delete, let id = operation.id {
                rows = [PulledPage.Record(id: id, record: nil, version: nil, time: nil)]
            } else if let row, row.record != nil {
                rows = [PulledPage.Record(row)]
            } else if let id = row?.id ?? operation.id,
                case .found(let row)? = try checked(
                    await service.fetch([id], of: operation.entity).first, id, operation.entity)
            {
                rows = [PulledPage.Record(row)]
            } else {
                rows = []
            }
        case .conflict, .exists: throw SyncError(.serviceFailure, "the service has another version of the row")
        case .gone:
            throw SyncError(.rowNotFound, "the service does not have the row any more", entity: operation.entity)
        case .retry: throw SyncError(.serviceFailure, "the service asks to try again later")
        case .silent: throw SyncError(.serviceFailure, "the answer does not say what became of it")
        case .rejected(let reason), .unknown(let reason): throw SyncError(.serviceFailure, reason)
        }
        let page = PulledPage(entity: operation.entity, rows: rows, end: .none, isListing: false, serverTime: nil)
        record(try await store.apply(page, lease))
    }
}

extension PulledPage {
    init(_ page: PullPage, of entity: String, takesOlder: Bool) {
        self.init(
            entity: entity, rows: page.rows.map(Record.init),
            end: page.next.map { .more(next: $0) } ?? .last(cursor: page.cursor),
            isListing: page.isListing, serverTime: page.time?.milliseconds, takesOlder: takesOlder)
    }
}

extension PulledPage.Record {
    init(_ row: RemoteRecord) {
        self.init(
            id: row.id, record: row.record, version: row.version, time: row.time?.milliseconds, isWhole: row.isWhole)
    }
}

// MARK: - Pulling together

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
        } catch ServiceError.cursorInvalid {
            isWhole = true
            pages = try await self.pages(since: nil)
        }
        if let page = pages.values.first(where: { $0.next != nil }) {
            throw ServiceError.malformed("what changed of all entities goes on at '\(page.next ?? "")'")
        }
        for entity in entities where pages[entity]?.isListing == true {
            try await store.beginListing(of: entity, lease)
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
        record(outcome)
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
