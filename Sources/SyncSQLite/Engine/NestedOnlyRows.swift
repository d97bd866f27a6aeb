import GRDB
import SyncCore
import SyncStore

/// Known rows that the service has returned only inside other records.
///
/// Such a row may be absent from listings. It does not count as missing if the record of a linked stored row may
/// contain it. The engine does not read unchanged records again. When a record no longer contains the row, the merge
/// removes the link.
struct NestedOnlyRows {
    /// A relationship through which records may contain nested rows.
    struct Way {
        let names: LinkTable
        let outer: TableLayout
        /// The numbers of the synced entities of the outer table, as SQL.
        let outerNumbers: String
        let inner: TrackedTable
    }

    private let engine: SQLiteEngineStore
    private let db: Database

    init(_ engine: SQLiteEngineStore, _ db: Database) { (self.engine, self.db) = (engine, db) }

    /// Returns the keys of the known rows that the current listing lacks, except new rows and rows that stay because a
    /// record may contain them.
    func missingKeys(of table: TrackedTable) throws -> [DatabaseValue] {
        let ledger = EngineLedger(db)
        return try ledger.missingKeys(of: table, ledger.isNestedOnlyRowUnlisted(of: table) ? ways() : nil)
    }

    private func ways() throws -> [Way] {
        let numbers = try EngineLedger(db).entitiesWithNestedOnlyRows()
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
