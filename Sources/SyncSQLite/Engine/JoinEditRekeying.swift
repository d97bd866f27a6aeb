import GRDB
import SyncCore
import SyncStore

/// Generates the SQL that replaces keys in `sync_link` when a row with a surrogate key is inserted or deleted, or its
/// surrogate key changes. SQLite may reuse surrogate keys.
struct JoinEditRekeying {
    private let table: TrackedTable
    /// The lists of registered tables that contain rows of this table.
    private let pointing: [(table: TrackedTable, joinTable: TrackedTable.JoinTable)]
    private let tables: [TrackedTable]

    init(_ table: TrackedTable, among tables: [TrackedTable]) {
        self.table = table
        self.tables = tables
        pointing = tables.flatMap { other in
            other.joinTables.filter { $0.destination == table.entity.table }.map { (other, $0) }
        }
    }

    /// Returns statements that replace the key of the owner in join edits of this table's lists.
    func owners(to key: String, where condition: (String) -> String) -> [String] {
        move("\"owner\"", of: table.joinTables.map(\.name), to: key, condition)
    }

    /// Returns statements that replace the key of the linked row in join edits of lists that contain rows of this
    /// table.
    func others(to key: String, where condition: (String) -> String) -> [String] {
        move("\"other\"", of: pointing.map(\.joinTable.name), to: key, condition)
    }

    /// Returns statements that delete the join edits whose linked row the engine deletes.
    func deletions(of key: String) -> [String] {
        guard table.key.isSurrogate else { return [] }
        return pointing.map {
            "DELETE FROM \"sync_link\" WHERE \"link\" = \($0.joinTable.name.literal) AND \"other\" = +\(key)"
        }
    }

    private func move(_ column: String, of links: [String], to key: String, _ condition: (String) -> String) -> [String]
    {
        guard table.key.isSurrogate else { return [] }
        return links.map {
            "UPDATE OR REPLACE \"sync_link\" SET \(column) = \(key) WHERE \"link\" = \($0.literal) AND \(condition(column))"
        }
    }

    /// Returns the SQL condition that an update of a join row is an edit, beginning with `AND`; empty without surrogate
    /// keys. An update that only follows a new surrogate key is not an edit.
    func isNoRenumbering(of joinTable: TrackedTable.JoinTable) -> String {
        let ends =
            [(joinTable.table.mine, table)]
            + tables.filter { $0.entity.table == joinTable.destination }.map { (joinTable.table.other, $0) }
        return ends.filter { $0.1.key.isSurrogate }.map { column, end in
            """
             AND (OLD.\(column) IS NEW.\(column) OR EXISTS (
              SELECT 1 FROM \(end.table.name.quoted) AS r WHERE r.\(end.table.keyColumn.quoted) = OLD.\(column)))
            """
        }.joined()
    }
}
