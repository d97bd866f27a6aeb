import GRDB
import SyncCore
import SyncStore

/// Known rows that the service has returned only inside other records.
///
/// Such a row may be absent from listings. It does not count as missing if the record of a linked stored row may
/// contain it. The engine does not read unchanged records again. When a record no longer contains the row, the merge
/// removes the link.
struct NestedOnlyRows {
    /// The SQL condition of such a row in `sync_known`. The value 4 also means that edits of the row may not have been
    /// captured.
    static let condition = "\"whole\" IN (3, 4)"
    /// The SQL condition that a row `n` of `sync_known` is not in ``held()``.
    static let isNotRetained = "(NOT n.\(condition) OR n.k NOT IN (SELECT held.k FROM held WHERE held.e = n.e))"

    /// A relationship through which records may contain nested rows.
    private struct Way {
        let names: LinkTable
        let outer: TableLayout
        /// The numbers of the synced entities of the outer table, as SQL.
        let outerNumbers: String
        let inner: TrackedTable
    }

    private let engine: SQLiteEngineStore
    private let db: Database

    init(_ engine: SQLiteEngineStore, _ db: Database) { (self.engine, self.db) = (engine, db) }

    /// Returns whether the table has a row that is known only from inside other records and that the listing lacks.
    func isAnyUnlisted(of table: TrackedTable) throws -> Bool {
        try db.finds(
            sql: """
                SELECT 1 FROM sync_known AS n WHERE e = ? AND \(Self.condition)
                  AND NOT EXISTS (SELECT 1 FROM sync_seen AS s WHERE s.e = n.e AND s.k = n.k)
                """, arguments: [table.number])
    }

    /// Returns the common table expression `held`: the rows known only from inside other records that are linked to a
    /// stored row.
    ///
    /// The stored row itself is not known only from inside other records. The link may lead through other rows of
    /// `held`.
    func held() throws -> String {
        let ways = try self.ways()
        let first = ways.map { way in
            """
            SELECT n.e, n.k FROM sync_known AS n JOIN \(way.names.table) AS l ON l.\(way.names.other) = +n.k
              JOIN \(way.outer.name.quoted) AS r ON r.\(way.outer.keyColumn.quoted) = l.\(way.names.mine)
            WHERE n.e = \(way.inner.number) AND n.\(Self.condition) AND NOT EXISTS (
              SELECT 1 FROM sync_known AS o
              WHERE o.e IN (\(way.outerNumbers)) AND o.k = +l.\(way.names.mine) AND o.\(Self.condition))
            """
        }
        let next = ways.map { way in
            """
            SELECT n.e, n.k FROM held AS h JOIN \(way.names.table) AS l ON l.\(way.names.mine) = +h.k
              JOIN sync_known AS n ON n.e = \(way.inner.number) AND n.k = +l.\(way.names.other) AND n.\(Self.condition)
            WHERE h.e IN (\(way.outerNumbers))
            """
        }
        let all = ["SELECT NULL, NULL WHERE 0"] + first + next
        return "WITH RECURSIVE held(e, k) AS (\(all.joined(separator: "\nUNION\n")))"
    }

    private func ways() throws -> [Way] {
        let numbers = try Set(
            Int.fetchAll(db, sql: "SELECT DISTINCT e FROM sync_known WHERE \(Self.condition)"))
        let tables = Dictionary(grouping: engine.tables, by: \.entity.table)
        return engine.model.compiled.links.flatMap { link in
            [CompiledAssociation.End.first, .second].flatMap { end -> [Way] in
                // A record contains rows through its own relationships only.
                guard link.side(end).relationship != nil else { return [] }
                let names = LinkTable(link, end, engine.stack.layout)
                let outer = link.side(end).table
                let outerNumbers = (tables[outer] ?? []).map { "\($0.number)" }.joined(separator: ", ")
                return (tables[link.side(end.other).table] ?? []).filter { numbers.contains($0.number) }.map {
                    Way(names: names, outer: engine.stack.layout[outer], outerNumbers: outerNumbers, inner: $0)
                }
            }
        }
    }
}
