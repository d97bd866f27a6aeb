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

    /// Returns statements that replace the key of the owner in join edits of this table's lists. See
    /// ``EntryMove/statements(from:to:if:)``.
    func owners(from old: String, to new: String, if condition: String = "true") -> [String] {
        move("owner", identifiedWith: "other", of: table.joinTables.map(\.name), old, new, condition)
    }

    /// Returns statements that replace the key of the linked row in join edits of lists that contain rows of this
    /// table. See ``EntryMove/statements(from:to:if:)``.
    func others(from old: String, to new: String, if condition: String = "true") -> [String] {
        move("other", identifiedWith: "owner", of: pointing.map(\.joinTable.name), old, new, condition)
    }

    /// Returns statements that delete the join edits whose linked row the engine deletes.
    func deletions(of key: String) -> [String] {
        guard table.key.isSurrogate else { return [] }
        return pointing.map {
            "DELETE FROM \"sync_link\" WHERE \"link\" = \($0.joinTable.name.literal) AND \"other\" = +\(key)"
        }
    }

    private func move(
        _ column: String, identifiedWith other: String, of links: [String], _ old: String, _ new: String,
        _ condition: String
    ) -> [String] {
        guard table.key.isSurrogate else { return [] }
        return links.flatMap { link in
            EntryMove(table: "sync_link", column: column, scope: "\"link\" = \(link.literal)", identity: [other])
                .statements(from: old, to: new, if: condition)
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
