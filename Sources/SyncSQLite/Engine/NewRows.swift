import GRDB
import SyncCore
import SyncStore

/// The rows of a table that were made here, by what tells that a row of the server is one of them. They are read once for a run.
///
/// Rows that are not new any more stay in it: ``CreationIDs`` and ``NaturalKeyMatcher`` ask again about the one they find.
final class NewRows {
    /// By birth, or the id made of it; nil until they are read.
    var births: [String: DatabaseValue]?
    /// By the values of the natural key; nil until they are read.
    var natural: [[BinaryComparedValue]: [DatabaseValue]]?
}

extension SQLiteEngineStore {
    /// A row is new to the server from now on, or has another key and is new still.
    func insertNew(_ key: DatabaseValue, _ table: TrackedTable, in db: Database) throws {
        let rows = memory.newRows(of: table.number)
        if rows.births != nil { try CreationIDs.read(into: rows, self, table, key, db) }
        if rows.natural != nil { try NaturalKeyMatcher.read(into: rows, self, table, key, db) }
    }
}
