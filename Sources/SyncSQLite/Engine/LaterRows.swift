import GRDB
import SyncCore
import SyncStore

/// Finds rows that belong to deleted rows and that the service changed after those deletions, so that it still has
/// them.
///
/// They are deleted here with the rows that they belong to. Therefore all rows of their entities must be pulled again.
struct LaterRows {
    private let engine: SQLiteEngineStore
    private let db: Database
    private let owned: [(table: TrackedTable, names: LinkTable)]

    /// - Parameter table: The table of the deleted rows.
    init(_ engine: SQLiteEngineStore, _ table: TrackedTable, _ db: Database) {
        (self.engine, self.db) = (engine, db)
        owned = Self.owned(by: table, engine)
    }

    /// Returns the tables of such rows, and the tables whose rows are deleted with theirs. Call it before the rows are
    /// deleted here.
    func tables(below rows: ArraySlice<(row: PulledPage.Record, standing: LocalRowState)>) throws -> [TrackedTable] {
        var found: Set<Int> = []
        for (child, names) in owned where try rows.contains(where: { try isLater(child, names, than: $0) }) {
            add(child, to: &found)
        }
        return engine.tables.filter { found.contains($0.number) }
    }

    private func isLater(
        _ child: TrackedTable, _ names: LinkTable, than deleted: (row: PulledPage.Record, standing: LocalRowState)
    ) throws -> Bool {
        guard let time = deleted.row.time else { return false }
        return try db.finds(
            sql: """
                SELECT 1 FROM \(names.table) AS r JOIN sync_known AS n ON n.e = ? AND n.k = r.\(names.other)
                WHERE r.\(names.mine) = ? AND n.time > ?
                """, arguments: [child.number, deleted.standing.key, time])
    }

    private func add(_ table: TrackedTable, to found: inout Set<Int>) {
        guard found.insert(table.number).inserted else { return }
        for (child, _) in Self.owned(by: table, engine) { add(child, to: &found) }
    }

    /// Returns the tables whose rows are deleted with the row that they reference.
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
