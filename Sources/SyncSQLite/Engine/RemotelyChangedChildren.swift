import GRDB
import SyncCore
import SyncStore

/// Finds rows that belong to a deleted row and that the service changed after the deletion. The service still has such
/// rows.
///
/// The cascade deletes these rows locally. Therefore all rows of their entities must be pulled again.
struct RemotelyChangedChildren {
    private let engine: SQLiteEngineStore
    private let db: Database
    private let owned: [(table: TrackedTable, names: LinkTable)]

    /// - Parameter table: The table of the deleted rows.
    init(_ engine: SQLiteEngineStore, _ table: TrackedTable, _ db: Database) {
        (self.engine, self.db) = (engine, db)
        owned = Self.owned(by: table, engine)
    }

    /// Returns the tables that have such rows, and the tables to which the deletion of these rows cascades. Call this
    /// method before the rows are deleted locally.
    func tables(below rows: ArraySlice<(row: RemoteRecord, standing: LocalRowState)>) throws -> [TrackedTable] {
        var found: Set<Int> = []
        for (child, names) in owned where try rows.contains(where: { try isLater(child, names, than: $0) }) {
            add(child, to: &found)
        }
        return engine.tables.filter { found.contains($0.number) }
    }

    private func isLater(
        _ child: TrackedTable, _ names: LinkTable, than deleted: (row: RemoteRecord, standing: LocalRowState)
    ) throws -> Bool {
        guard let time = deleted.row.time else { return false }
        return try EngineLedger(db).isChanged(child, names, of: deleted.standing.key, after: time)
    }

    private func add(_ table: TrackedTable, to found: inout Set<Int>) {
        guard found.insert(table.number).inserted else { return }
        for (child, _) in Self.owned(by: table, engine) { add(child, to: &found) }
    }

    /// Returns the tables to which a deletion cascades, because their rows reference the deleted row.
    private static func owned(
        by table: TrackedTable, _ engine: SQLiteEngineStore
    ) -> [(table: TrackedTable, names: LinkTable)] {
        engine.references(to: table).filter { link, _ in
            link.storage == .foreignKey && link.second.relationship?.deleteRule == .cascade
        }.flatMap { link, names in
            engine.tables.filter { $0.entity.table == link.first.table }.map { ($0, names) }
        }
    }
}
