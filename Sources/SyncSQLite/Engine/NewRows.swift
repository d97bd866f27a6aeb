import GRDB
import SyncCore
import SyncStore

/// The rows of a table that are new, indexed by what a pulled row has in common with one of them. They are read once
/// per run.
///
/// Rows that are no longer new stay in the index. ``CreationIDs`` and ``NaturalKeyMatcher`` check each row that they
/// find.
final class NewRows {
    /// Keys by creation ID, or by the ID made of it; nil until they are read.
    var byCreationID: [String: DatabaseValue]?
    /// Keys by the values of the natural key; nil until they are read.
    var byNaturalKey: [[BinaryComparedValue]: [DatabaseValue]]?
}

extension SQLiteEngineStore {
    /// Adds a row that became new to the service, or whose key changed while it is new.
    func insertNew(_ key: DatabaseValue, _ table: TrackedTable, in db: Database) throws {
        let rows = memory.newRows(of: table.number)
        if rows.byCreationID != nil { try CreationIDs.read(into: rows, self, table, key, db) }
        if rows.byNaturalKey != nil { try NaturalKeyMatcher.read(into: rows, self, table, key, db) }
    }
}
