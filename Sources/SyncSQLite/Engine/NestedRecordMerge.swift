import GRDB
import SyncCore
import SyncStore

/// Merges rows that are nested in pulled records. Local edits of a nested row are merged like the edits of a pulled
/// row. The version of a nested row is not known.
///
/// Nested rows of entities that another engine syncs are recorded as known too. Otherwise that engine would send them
/// as new rows.
struct NestedRecordMerge {
    private let engine: SQLiteEngineStore
    private let db: Database
    private var rows: [(table: TrackedTable, key: RowKey, standing: LocalRowState)] = []

    init(_ plan: PayloadGraph, _ engine: SQLiteEngineStore, _ db: Database) throws {
        (self.engine, self.db) = (engine, db)
        for table in engine.tables + engine.otherTables {
            let batch = plan[table.entity.table]
            let family = Set(table.entity.family)
            let keys = plan.withTexts { texts in
                batch.nodes.filter { $0.isGiven && !$0.isRoot && family.contains(Int($0.entity)) }
                    .compactMap { RowKey($0.key, texts) }
            }
            for key in keys {
                guard let k = try table.key.k(of: key, in: db) else { continue }
                rows.append((table, key, try LocalRowState(of: k, table, db)))
            }
        }
    }

    /// Removes the edits of the nested rows. Call this method before the page is written.
    func revertEdits(_ edits: inout EditRebase) throws {
        for (table, _, row) in rows {
            switch row.state {
            case .created where !engine.registration.clientAssignsIDs && !table.key.hasParts:
                // The app chose this key for a new row, and the service assigned it to another row.
                try KeyReplacement(engine, table, db).giveLocalKey(to: row.key)
            case .absent, .deleted: break
            case .clean where !row.mayHaveUncapturedEdits: break
            case .created, .updated, .clean:
                try edits.revert(
                    row.key, of: table, changed: nil, known: row.time, isCurrent: false,
                    mayHaveUncapturedEdits: row.mayHaveUncapturedEdits)
            }
        }
    }

    /// Records the values of preexisting nested rows. Call this method before the page is written.
    func insertPreexisting(in presumed: inout PreexistingRows) throws {
        for (table, _, row) in rows { try presumed.insert(row, of: table) }
    }

    /// Records the nested rows as known, after the page is written. Deletes nested rows again if they were deleted
    /// locally.
    func record() throws {
        for (table, own, row) in rows {
            // A surrogate key exists once the row is stored.
            guard let key = try table.key.k(of: own, in: db), try table.isStored(key, in: db) else { continue }
            if row.state == .deleted {
                try remove(key, table)
                continue
            }
            try EngineLedger(db).insertNested(key, table)
        }
    }

    /// Deletes a row again. Clears optional references first, so that foreign key actions do not delete the rows that
    /// have them.
    private func remove(_ key: DatabaseValue, _ table: TrackedTable) throws {
        for other in engine.tables {
            for column in other.columns where column.destination == table.entity.table && column.isOptional {
                let name = column.sql
                try db.run("UPDATE \(other.sql) SET \(name) = NULL WHERE \(name) = ?", key)
            }
        }
        try db.run("DELETE FROM \(table.sql) WHERE \(table.keySQL) = ?", key)
    }
}

// Known rows that the service has returned only inside other records.
//
// Such a row may be absent from listings. It does not count as missing if the record of a linked stored row may
// contain it. The engine does not read unchanged records again. When a record no longer contains the row, the merge
// removes the link.
extension SQLiteEngineStore {
    /// A relationship through which records may contain nested rows.
    struct NestingWay {
        let names: LinkTable
        let outer: TableLayout
        /// The numbers of the synced entities of the outer table, as SQL.
        let outerNumbers: String
        let inner: TrackedTable
    }

    /// Returns the keys of the known rows that the current listing lacks, except new rows and rows that stay because a
    /// record may contain them.
    func missingKeys(of table: TrackedTable, in db: Database) throws -> [DatabaseValue] {
        let ledger = EngineLedger(db)
        return try ledger.missingKeys(of: table, ledger.isNestedOnlyRowUnlisted(of: table) ? nestingWays(in: db) : nil)
    }

    private func nestingWays(in db: Database) throws -> [NestingWay] {
        let numbers = try EngineLedger(db).entitiesWithNestedOnlyRows()
        let tables = Dictionary(grouping: tables, by: \.entity.table)
        return model.compiled.links.flatMap { link in
            [CompiledAssociation.End.first, .second].flatMap { end -> [NestingWay] in
                // A record contains rows through its own relationships only.
                guard link.side(end).relationship != nil else { return [] }
                let names = LinkTable(link, end, stack.layout)
                let outer = link.side(end).table
                let outerNumbers = (tables[outer] ?? []).map { "\($0.number)" }.joined(separator: ", ")
                return (tables[link.side(end.other).table] ?? []).filter { numbers.contains($0.number) }.map {
                    NestingWay(names: names, outer: stack.layout[outer], outerNumbers: outerNumbers, inner: $0)
                }
            }
        }
    }
}
