import Foundation
import GRDB
import Sync
import SyncCore
import SyncSQLite
import SyncTesting

/// A store in a file, and a connection to it without foreign keys.
struct DamagedStore {
    let name: String
    let stack: DataStack
    private let other: DatabaseQueue

    init(_ name: String, _ model: SyncModel, in folder: URL) throws {
        self.name = name
        let url = folder.appendingPathComponent(name)
        stack = try DataStack(model: model, at: url)
        other = try LinkDamage.connection(to: url)
    }

    @discardableResult
    func sync(_ records: Data, _ entity: String, isDelta: Bool = false) async throws -> SyncResult {
        let options = SyncOptions(payloadKind: isDelta ? .delta : .snapshot)
        return try await Sync.changes(records, inEntity: entity, stack: stack, options: options)
    }

    func write(_ body: (Database) throws -> Void) throws { try other.write(body) }

    /// Damages the store with a number of statements, and returns these.
    func damage(_ count: Int, _ damage: LinkDamage, _ random: inout SplitMix64) throws -> [String] {
        var statements: [String] = []
        try write { db in
            for _ in 0..<count {
                guard let sql = try damage.statement(&random, in: db) else { continue }
                try db.execute(sql: sql)
                statements.append(sql)
            }
        }
        return statements
    }

    /// Returns the contents of the store after a sync, without links to rows that are not stored. The sync may leave
    /// such links if no row of the payload has them.
    ///
    /// - Parameter isSettled: Whether the second sync must not write.
    func outcome(
        _ records: Data, _ entity: String, isDelta: Bool, isSettled: Bool, _ damage: LinkDamage
    ) async -> String {
        do {
            try await sync(records, entity, isDelta: isDelta)
            let changes = try await stack.totalChanges()
            try await sync(records, entity, isDelta: isDelta)
            guard try await stack.totalChanges() == changes || !isSettled else {
                return "unexpected: the second time something was written"
            }
            try write { try damage.repair($0) }
            let tables = try await stack.contents().tables.filter { name, _ in
                !name.hasPrefix("sync_") || name == "sync_pending"
            }
            return tables.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }.joined(separator: "\n")
        } catch let error as SyncError where [.deletionDenied, .noRecords].contains(error.code) {
            return "\(error)"
        } catch {
            return "unexpected: \(error)"
        }
    }
}
