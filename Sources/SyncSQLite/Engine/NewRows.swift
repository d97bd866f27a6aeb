import GRDB
import SyncCore
import SyncStore

/// The new rows of a table, by creation ID and by natural key. A run reads them once, unless the cache is discarded.
///
/// Rows that are no longer new stay in the index. ``CreationIDIndex`` and ``NaturalKeyMatcher`` therefore check each
/// row that they find.
final class NewRows {
    /// The keys of the rows by creation ID, or by the remote ID that is made of it; nil until they are read.
    var byCreationID: [String: DatabaseValue]?
    /// The keys of the rows by the values of the natural key; nil until they are read.
    var byNaturalKey: [[BinaryComparedValue]: [DatabaseValue]]?
}

extension SQLiteEngineStore {
    /// Adds a row to the index: a known row that is to be created again, or a new row whose key changed.
    func insertNew(_ key: DatabaseValue, _ table: TrackedTable, in db: Database) throws {
        let rows = memory.newRows(of: table.number)
        if rows.byCreationID != nil { try CreationIDIndex.read(into: rows, self, table, key, db) }
        if rows.byNaturalKey != nil { try NaturalKeyMatcher.read(into: rows, self, table, key, db) }
    }
}
