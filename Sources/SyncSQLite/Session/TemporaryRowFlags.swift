import GRDB
import SyncCore

/// Row flags in a private temporary database. SQLite deletes the database when it is closed.
final class TemporaryRowFlags: RowFlagStore {
    private let database: DatabaseQueue

    /// Creates the database.
    ///
    /// - Throws: ``SyncError`` `databaseError`.
    init() throws {
        database = try DatabaseErrorMapper.mapped(.databaseError, "cannot create a temporary database") {
            // SQLite opens a temporary database for an empty path: https://www.sqlite.org/inmemorydb.html
            let database = try DatabaseQueue(path: "")
            // The column type `ANY` keeps keys unconverted.
            try database.inDatabase { db in
                try db.execute(
                    sql: """
                        CREATE TABLE flags (
                          tableIndex INTEGER NOT NULL, key ANY NOT NULL, flags INTEGER NOT NULL,
                          PRIMARY KEY (tableIndex, key)
                        ) STRICT, WITHOUT ROWID
                        """)
            }
            return database
        }
    }

    func add(_ flags: RowFlagTable) throws {
        try DatabaseErrorMapper.mapped(.databaseError, "cannot write to the temporary database") {
            try database.write { db in
                let statement = try RawStatement(
                    db,
                    """
                    INSERT INTO flags (tableIndex, key, flags) VALUES (?, ?, ?)
                    ON CONFLICT DO UPDATE SET flags = flags | excluded.flags
                    """)
                try flags.forEach { row, flags in
                    statement.bind(Int64(row.table.index), at: 1)
                    statement.bind(row.key, at: 2)
                    statement.bind(Int64(flags.rawValue), at: 3)
                    try statement.execute()
                }
            }
        }
    }

    func flags(of row: StoredRow) throws -> RowFlags {
        try DatabaseErrorMapper.mapped(.databaseError, "cannot read the temporary database") {
            try database.inDatabase { db in
                let statement = try RawStatement(
                    cachedIn: db, "SELECT flags FROM flags WHERE tableIndex = ? AND key = ?")
                statement.bind(Int64(row.table.index), at: 1)
                statement.bind(row.key, at: 2)
                return try statement.step() ? RowFlags(rawValue: UInt8(truncatingIfNeeded: statement.integer(0))) : []
            }
        }
    }
}
