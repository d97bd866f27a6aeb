import Foundation
import Sync
import SyncCore
import SyncTesting
import Testing

@testable import SyncService

/// The decision table of `Docs/SyncProtocol.md`, cell by cell, with a device and a service.
@Suite("The decision table")
struct DecisionTableTests {
    @Test("The page of the sync protocol shows the decision table of the code")
    func page() throws {
        let page = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().appendingPathComponent("Docs/SyncProtocol.md")
        let text = try String(contentsOf: page, encoding: .utf8)
        #expect(text.contains(DecisionTable.markdown), "put this there:\n\(DecisionTable.markdown)")
    }

    struct Cell: CustomTestStringConvertible {
        let remote: RemoteState
        let local: LocalState
        let deletions: DeleteConflictPolicy
        var testDescription: String { "\(remote), \(local), \(deletions)" }
    }

    /// The cells that can occur: the only remote change of an unknown row is its creation.
    static let cells = DeleteConflictPolicy.allCases.flatMap { deletions in
        RemoteState.allCases.flatMap { remote in
            LocalState.allCases.compactMap { local -> Cell? in
                let isNew = local == .created || local == .absent
                if remote == .created, !isNew { return nil }
                if remote == .updated, isNew { return nil }
                return Cell(remote: remote, local: local, deletions: deletions)
            }
        }
    }

    @Test("Each cell of the decision table has its outcome", arguments: cells)
    func cell(_ cell: Cell) async throws {
        let service = InMemoryService(
            ServiceCapabilities(
                idAssignment: .client, deletionDetection: cell.remote == .absent ? .listing : .tombstones,
                createIdempotency: .clientID,
                supportsPreconditions: true, providesModificationTimes: true, maxBatchSize: 5))
        let schema = """
            {"entities": {"Note": {"attributes": {"id": "string", "text": "string", "stars": "integer"}}}}
            """
        let entity = SyncedEntity("Note", deleteConflictPolicy: cell.deletions)
        let device = try Device(service, schema: schema, entities: [entity])
        try await arrange(cell, device, service)
        try await device.engine.sync()
        let here = try await device.rows("SELECT text, stars FROM Note WHERE id = 'x'").first
        let there = await service.contents(of: "Note")["x"]
        let expected = Self.outcome(cell)
        #expect(here == expected)
        #expect(Self.line(there) == expected)
        #expect(try await device.leftovers() == [])
        let isConflict: Bool =
            switch DecisionTable.action(remote: cell.remote, local: cell.local) {
            case .mergeDuplicate, .threeWay, .localDelete, .remoteDelete: true
            default: false
            }
        #expect(try await device.engine.conflicts().isEmpty != isConflict)
        #expect(try await device.engine.sync().isEmpty)
    }

    /// Returns the final values of both sides; nil for no row.
    private static func outcome(_ cell: Cell) -> String? {
        switch DecisionTable.action(remote: cell.remote, local: cell.local) {
        case .takeRemote, .insert: "there 1"
        // Both changed the text, and the client wins; only the server changed the stars.
        case .mergeDuplicate: "here 2"
        case .threeWay: "here 1"
        case .localDelete: cell.deletions == .deleteWins ? nil : "there 1"
        case .remoteDelete: cell.deletions == .deleteWins ? nil : "here 0"
        case .delete, .deleteWithinLimit, .clear: nil
        case .send:
            switch cell.local {
            case .created: "here 2"
            case .updated: "here 0"
            default: nil
            }
        case .nothing: cell.local == .absent ? nil : "base 0"
        }
    }

    private static func line(_ record: JSONValue?) -> String? {
        guard let record, case .string(let text)? = record["text"], case .number(let stars)? = record["stars"] else {
            return nil
        }
        return "\(text) \(stars)"
    }

    private func arrange(_ cell: Cell, _ device: Device, _ service: InMemoryService) async throws {
        // More rows, so that the deletion limit does not apply.
        for number in 1...3 { await service.set("Note", .string("other \(number)"), ["text": "other", "stars": 0]) }
        let wasKnown = cell.local != .created && cell.local != .absent
        if wasKnown { await service.set("Note", "x", ["text": "base", "stars": 0]) }
        try await device.engine.sync()
        switch cell.local {
        case .clean, .absent: break
        case .created: try await device.write("INSERT INTO Note (id, text, stars) VALUES ('x', 'here', 2)")
        case .updated: try await device.write("UPDATE Note SET text = 'here' WHERE id = 'x'")
        case .deleted: try await device.write("DELETE FROM Note WHERE id = 'x'")
        }
        switch cell.remote {
        case .created, .updated: await service.set("Note", "x", ["text": "there", "stars": 1])
        case .deleted, .absent:
            if !wasKnown { await service.set("Note", "x", ["text": "there", "stars": 1]) }
            await service.remove("Note", "x")
        case .unchanged: break
        }
    }
}

extension DecisionTable {
    /// The table as Markdown, which the test compares with the document.
    fileprivate static var markdown: String {
        let states = LocalState.allCases
        let head = "| remote \\ local | " + states.map(\.rawValue).joined(separator: " | ") + " |"
        let line = String(repeating: "|---", count: states.count + 1) + "|"
        let body = RemoteState.allCases.map { remote in
            "| "
                + ([remote.rawValue] + states.map { "`\(action(remote: remote, local: $0).rawValue)`" })
                .joined(separator: " | ") + " |"
        }
        return ([head, line] + body).joined(separator: "\n")
    }
}
