import GRDB
import SyncCore
import SyncStore

/// The rows of a table that were made here, by what tells that a row of the server is one of them. They are read once for a run.
///
/// Rows that are not new any more stay in it: ``Births`` and ``NaturalKeys`` ask again about the one they find.
final class NewRows {
    /// By birth, or the id made of it; nil until they are read.
    var births: [String: DatabaseValue]?
    /// By the values of the natural key; nil until they are read.
    var natural: [[ExactValue]: [DatabaseValue]]?
}

extension SQLiteEngine {
    /// A row is new to the server from now on, or has another key and is new still.
    func noteNew(_ key: DatabaseValue, _ table: EngineTable, in db: Database) throws {
        let rows = memory.newRows(of: table.number)
        if rows.births != nil { try Births.read(into: rows, self, table, key, db) }
        if rows.natural != nil { try NaturalKeys.read(into: rows, self, table, key, db) }
    }
}
