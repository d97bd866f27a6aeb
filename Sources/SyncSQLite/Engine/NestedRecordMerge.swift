import GRDB
import SyncCore
import SyncStore

/// Rows that records of a page contain: the server has them, and what was edited of them here is merged as that of any pulled row.
/// The record does not say which version of the row it contains.
///
/// Those of entities that another engine of the database keeps in step are recorded too. To that engine they would be rows made here.
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

    /// Before they are written.
    func takeOff(_ edits: inout EditRebase) throws {
        for (table, _, row) in rows {
            switch row.state {
            case .created where !engine.registration.makesIDs && !table.key.hasParts:
                // An app gave its new row a key that the server gave another one.
                try KeyReplacement(engine, table, db).giveLocalKey(to: row.key)
            case .absent, .deleted: break
            case .clean where !row.isAudited: break
            case .created, .updated, .clean:
                try edits.takeOff(
                    row.key, of: table, changed: nil, known: row.time, isCurrent: false, isAudited: row.isAudited)
            }
        }
    }

    /// Before they are written, too.
    func insertPreexisting(in presumed: inout PreexistingRows) throws {
        for (table, _, row) in rows { try presumed.insert(row, of: table) }
    }

    /// After they are written: they are known. What was deleted here stays so.
    func record() throws {
        for (table, own, row) in rows {
            // A hidden key is given when the row is stored.
            guard let key = try table.key.k(of: own, in: db), try table.isStored(key, in: db) else { continue }
            if row.state == .deleted {
                try remove(key, table)
                continue
            }
            // Presumed of another record, and not of rows that were there before the engine.
            try db.cachedStatement(
                sql: """
                    INSERT INTO sync_known (e, k, whole, seq) VALUES (?, ?, 3, (SELECT seq FROM sync_engine))
                    ON CONFLICT DO UPDATE SET whole = 3 WHERE whole = 4
                    """
            ).execute(arguments: [table.number, key])
            try table.key.insertName(key, table.number, in: db)
            // A listing that does not have it is no word against the record that does.
            try db.cachedStatement(sql: "INSERT INTO sync_seen (e, k) VALUES (?, ?) ON CONFLICT DO NOTHING")
                .execute(arguments: [table.number, key])
        }
    }

    /// What points to the row would go along by SQLite's own rules.
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
