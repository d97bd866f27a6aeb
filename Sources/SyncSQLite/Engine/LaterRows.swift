import GRDB
import SyncCore
import SyncStore

/// Rows that belong to a deleted row, and that the service changed after it deleted that one: it has them still. They are deleted
/// here with the row, so all rows of their entity are pulled again.
struct LaterRows {
    private let engine: SQLiteEngine
    private let db: Database
    private var found: Set<Int> = []

    init(_ engine: SQLiteEngine, _ db: Database) { (self.engine, self.db) = (engine, db) }

    /// Looks for such rows. Call it before the row is deleted here.
    ///
    /// - Parameter time: When the service deleted the row, in milliseconds since 1970.
    mutating func look(below key: DatabaseValue, of table: EngineTable, deletedAt time: Int64) throws {
        for (child, column) in owned(by: table) where !found.contains(child.number) {
            let isAnyLater = try db.finds(
                sql: """
                    SELECT 1 FROM \(child.table.name.quoted) AS r
                    JOIN sync_known AS n ON n.e = ? AND n.k = r.\(child.table.keyColumn.quoted)
                    WHERE r.\(column.name.quoted) = ? AND n.time > ?
                    """, arguments: [child.number, key, time])
            if isAnyLater { add(child) }
        }
    }

    /// Adds a table, and those whose rows are deleted with its rows.
    private mutating func add(_ table: EngineTable) {
        guard found.insert(table.number).inserted else { return }
        for (child, _) in owned(by: table) { add(child) }
    }

    /// The tables whose rows are deleted with the row of a table that a column of theirs points to.
    private func owned(by table: EngineTable) -> [(table: EngineTable, column: EngineTable.Column)] {
        engine.tables.flatMap { child in
            child.columns.filter { column in
                guard case .toOne(let id) = column.domain, column.destination == table.entity.table else {
                    return false
                }
                return engine.model.compiled[id].second.relationship?.deleteRule == .cascade
            }.map { (child, $0) }
        }
    }

    func pullAgain() throws {
        for table in engine.tables where found.contains(table.number) { try table.pullAll(in: db) }
    }
}
