import Foundation
import GRDB
import Sync

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// The server's database: its own table, and the issues of a service.
public struct IssueStore: Sendable {
    let stack: DataStack

    /// Opens the database, and makes what is missing.
    public init(at path: String) throws {
        let pool = try DatabasePool(path: path)
        try Delivery.migrator.migrate(pool)
        stack = try DataStack(model: SyncModel(Issue.self, Person.self), in: pool)
    }

    /// Takes a webhook: the issues that changed, and that it was delivered, in one transaction. Nil if it was before.
    func receive(_ body: Data, delivery id: String) async throws -> SyncResult? {
        try await stack.writer.write { db in
            if try Delivery.exists(db, key: id) { return nil }
            try Delivery(id: id, receivedAt: Date()).insert(db)
            return try Sync.changes(
                body, as: Issue.self, stack: stack, options: SyncOptions(payloadKind: .delta), in: db)
        }
    }

    /// Asks a feed for all issues there are: what it leaves out is deleted.
    public func poll(_ feed: URL) async throws -> SyncResult {
        let (body, response) = try await URLSession.shared.data(from: feed)
        guard (response as? HTTPURLResponse)?.statusCode == 200 else { throw URLError(.badServerResponse) }
        return try await Sync.changes(body, as: Issue.self, stack: stack)
    }
}
