import GRDB
import SyncCore
import SyncStore

/// Rows that are known only inside other records. A listing that lacks one says nothing as long as a stored row is linked with it that
/// may have it inside: records that did not change are not read again. A record that has it no more unlinks it.
struct InsideRows {
    /// What is known of one, as SQL: 4 says that edits of it may have been missed, too.
    static let condition = "\"whole\" IN (3, 4)"
    /// That a line `n` of `sync_known` is not one of ``held()``.
    static let isLoose = "(NOT n.\(condition) OR n.k NOT IN (SELECT held.k FROM held WHERE held.e = n.e))"

    /// A relationship by which records may have rows inside.
    private struct Way {
        let names: LinkTable
        let outer: TableLayout
        /// The entities of the outer table that are kept in step, as SQL.
        let outerNumbers: String
        let inner: TrackedTable
    }

    private let engine: SQLiteEngineStore
    private let db: Database

    init(_ engine: SQLiteEngineStore, _ db: Database) { (self.engine, self.db) = (engine, db) }

    /// Whether any row of a table is known only inside others, and no listing has it.
    func isAnyUnlisted(of table: TrackedTable) throws -> Bool {
        try db.finds(
            sql: """
                SELECT 1 FROM sync_known AS n WHERE e = ? AND \(Self.condition)
                  AND NOT EXISTS (SELECT 1 FROM sync_seen AS s WHERE s.e = n.e AND s.k = n.k)
                """, arguments: [table.number])
    }

    /// The rows inside others that are linked with a stored row which is not inside another one itself, and those that are linked
    /// with these: as a common table expression.
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
                // A record has others inside by its own relationships.
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
