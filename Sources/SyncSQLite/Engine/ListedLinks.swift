import GRDB
import SyncCore
import SyncStore

/// Links that were edited here, and that the lists of other rows speak of: a list inside a record says of rows that it does
/// not have that they belong to another one, or to none.
struct ListedLinks {
    private let engine: SQLiteEngine
    private let db: Database
    private var edited: [(table: EngineTable, key: DatabaseValue)] = []
    /// Of rows that the server does not know a list says nothing: what they pointed to.
    private var columns: [(table: EngineTable, column: EngineTable.Column, key: DatabaseValue, value: DatabaseValue)] =
        []
    private var pairs: [(table: EngineTable, pairs: EngineTable.Pairs, key: DatabaseValue, other: DatabaseValue)] = []
    /// The order that they were in.
    private var lists: [(pairs: EngineTable.Pairs, key: DatabaseValue, others: [DatabaseValue])] = []

    init(_ plan: ChangePlan, _ engine: SQLiteEngine, _ db: Database) throws {
        self.engine = engine
        self.db = db
        for table in engine.tables {
            for column in table.columns {
                guard case .toOne(let link) = column.domain,
                    plan[link].replacements.contains(where: { $0.end == .second })
                else { continue }
                try find(column, of: table)
            }
            for pairs in table.pairs where !plan[pairs.link].isEmpty { try find(pairs, of: table) }
        }
    }

    private mutating func find(_ column: EngineTable.Column, of table: EngineTable) throws {
        let keys = try DatabaseValue.fetchAll(
            db,
            sql: """
                SELECT b.k FROM sync_base b JOIN sync_change c ON c.e = b.e AND c.k = b.k
                WHERE b.e = ? AND b.domain = ? AND c.kind = 'update'
                """, arguments: [table.number, column.name])
        edited += keys.map { (table, $0) }
        let name = column.name.quoted
        let new = try Row.fetchAll(
            db,
            sql: """
                SELECT c.k, r.\(name) FROM sync_change c
                JOIN \(table.table.name.quoted) r ON r.\(table.table.keyColumn.quoted) = c.k
                WHERE c.e = ? AND c.kind = 'create' AND r.\(name) IS NOT NULL
                """, arguments: [table.number])
        columns += new.map { (table, column, $0[0], $0[1]) }
    }

    private mutating func find(_ pairs: EngineTable.Pairs, of table: EngineTable) throws {
        let keys = try DatabaseValue.fetchAll(
            db,
            sql: """
                SELECT DISTINCT l.owner FROM sync_link l JOIN sync_change c ON c.k = l.owner
                WHERE l.link = ? AND c.e = ? AND c.kind = 'update'
                """, arguments: [pairs.name, table.number])
        edited += keys.map { (table, $0) }
        let new = try Row.fetchAll(
            db,
            sql: """
                SELECT c.k, p.\(pairs.table.other) FROM sync_change c
                JOIN \(pairs.table.table) p ON p.\(pairs.table.mine) = c.k WHERE c.e = ? AND c.kind = 'create'
                """, arguments: [table.number])
        self.pairs += new.map { (table, pairs, $0[0], $0[1]) }
        guard pairs.isOrdered else { return }
        let owners = Set(new.map { $0[0] as DatabaseValue })
        lists += try owners.map { (pairs, $0, try PairList(pairs).others(of: $0, in: db)) }
    }

    func takeOff(_ edits: inout LocalEdits) throws {
        for (table, key) in edited {
            try edits.takeOff(key, of: table, changed: nil, known: nil, isCurrent: false, isAudited: false)
        }
    }

    /// Links of rows that are still new.
    func putBack() throws {
        for (table, column, key, value) in columns {
            let name = column.name.quoted
            try db.executeCached(
                sql: """
                    UPDATE OR IGNORE \(table.table.name.quoted) SET \(name) = ? WHERE \(table.table.keyColumn.quoted) = ?
                      AND \(name) IS NULL
                      AND EXISTS (SELECT 1 FROM sync_change WHERE e = ? AND k = ? AND kind = 'create')
                    """, arguments: [value, key, table.number, key])
        }
        for (table, pairs, key, other) in pairs {
            let destination = engine.stack.layout[pairs.destination]
            try db.executeCached(
                sql: """
                    INSERT OR IGNORE INTO \(pairs.table.table) (\(pairs.table.mine), \(pairs.table.other)) SELECT ?, ?
                    WHERE EXISTS (SELECT 1 FROM \(destination.name.quoted) WHERE \(destination.keyColumn.quoted) = ?)
                      AND EXISTS (SELECT 1 FROM sync_change WHERE e = ? AND k = ? AND kind = 'create')
                    """, arguments: [key, other, other, table.number, key])
        }
        for (pairs, key, others) in lists {
            let stored = try PairList(pairs).others(of: key, in: db)
            try PairList(pairs).order(
                ListOrder.merged(leader: others, follower: stored, of: stored), of: key, in: db)
        }
    }
}
