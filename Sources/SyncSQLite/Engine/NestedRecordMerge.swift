import GRDB
import SyncCore
import SyncStore

/// Merges rows that are nested in pulled records. The service has them, so edits of them are merged like those of
/// pulled rows. The version of a nested row is unknown.
///
/// Rows of entities that another engine syncs are recorded too. Otherwise that engine would take them for new rows.
struct NestedRecordMerge {
    private let engine: SQLiteEngineStore
    private let db: Database
    private var rows: [(table: TrackedTable, key: RowKey, standing: LocalRowState)] = []

    init(_ plan: PayloadGraph, _ engine: SQLiteEngineStore, _ db: Database) throws {
        self.engine = engine
        self.db = db
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

    /// Removes the edits of the rows, before they are written.
    func revertEdits(_ edits: inout EditRebase) throws {
        for (table, _, row) in rows {
            switch row.state {
            case .created where !engine.registration.makesIDs && !table.key.hasParts:
                // An app chose a key for its new row that the service assigned to another row.
                try KeyReplacement(engine, table, db).giveLocalKey(to: row.key)
            case .absent, .deleted: break
            case .clean where !row.isAudited: break
            case .created, .updated, .clean:
                try edits.revert(
                    row.key, of: table, changed: nil, known: row.time, isCurrent: false, isAudited: row.isAudited)
            }
        }
    }

    /// Records the values of preexisting rows, before they are written.
    func insertPreexisting(in presumed: inout PreexistingRows) throws {
        for (table, _, row) in rows { try presumed.insert(row, of: table) }
    }

    /// Records the rows as known, after they are written. Rows that were deleted here are deleted again.
    func record() throws {
        for (table, own, row) in rows {
            // A surrogate key exists once the row is stored.
            guard let key = try table.key.k(of: own, in: db), try table.isStored(key, in: db) else { continue }
            if row.state == .deleted {
                try remove(key, table)
                continue
            }
            // 3 marks a row that is known only from inside another record. 4 also says that edits may have been missed,
            // which the merge handles.
            try db.cachedStatement(
                sql: """
                    INSERT INTO sync_known (e, k, whole, seq) VALUES (?, ?, 3, (SELECT seq FROM sync_engine))
                    ON CONFLICT DO UPDATE SET whole = 3 WHERE whole = 4
                    """
            ).execute(arguments: [table.number, key])
            try table.key.insertName(key, table.number, in: db)
            // The record contains the row, so a listing that lacks the row does not make it missing.
            try db.cachedStatement(sql: "INSERT INTO sync_seen (e, k) VALUES (?, ?) ON CONFLICT DO NOTHING")
                .execute(arguments: [table.number, key])
        }
    }

    /// Deletes a row again. Clears optional references first, so that foreign key actions delete no referencing rows.
    private func remove(_ key: DatabaseValue, _ table: TrackedTable) throws {
        for other in engine.tables {
            for column in other.columns where column.destination == table.entity.table && column.isOptional {
                let name = column.name.quoted
                try db.executeCached(
                    sql: "UPDATE \(other.table.name.quoted) SET \(name) = NULL WHERE \(name) = ?", arguments: [key])
            }
        }
        try db.executeCached(
            sql: "DELETE FROM \(table.table.name.quoted) WHERE \(table.table.keyColumn.quoted) = ?", arguments: [key])
    }
}
