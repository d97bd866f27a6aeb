import GRDB
import SyncStore

/// The columns of each unique index of a table, except the index of its key and indexes with expressions.
struct UniqueColumns {
    let indexes: [[String]]

    init(_ table: TableLayout, _ db: Database) throws {
        let names = try String.fetchAll(
            db, sql: "SELECT name FROM pragma_index_list(?) WHERE \"unique\"", arguments: [table.name])
        indexes = try names.map { index in
            try Row.fetchAll(db, sql: "SELECT name FROM pragma_index_info(?) ORDER BY seqno", arguments: [index])
                .map { String.fromDatabaseValue($0[0]) }
        }
        .filter { !$0.isEmpty && !$0.contains(nil) }
        .map { $0.compactMap(\.self) }
        .filter { $0 != [table.keyColumn] }
    }
}
