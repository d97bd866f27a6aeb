import GRDB
import SyncCore
import SyncStore

/// The locally edited links that nested lists of a page affect. A nested list is complete: rows that it omits are
/// unlinked from its owner.
///
/// Only rows in a nested list, and rows that are or were linked to the owner of a nested list, are examined.
struct NestedListLinks {
    /// The nested lists of a payload graph for one association.
    private struct Lists {
        /// The keys of the rows that the lists contain.
        var named: [DatabaseValue] = []
        /// The keys of the rows that the lists belong to.
        var owners: [DatabaseValue] = []

        var isEmpty: Bool { named.isEmpty && owners.isEmpty }
    }

    private let engine: SQLiteEngineStore
    private let db: Database
    private var editedRows: [(table: TrackedTable, key: DatabaseValue)] = []
    /// The foreign keys of new rows. A nested list of the service does not apply to new rows.
    private var columns:
        [(table: TrackedTable, column: TrackedTable.Column, key: DatabaseValue, value: DatabaseValue)] = []
    private var joinRows:
        [(table: TrackedTable, joinTable: TrackedTable.JoinTable, key: DatabaseValue, other: DatabaseValue)] = []
    /// The ordered lists of new rows.
    private var lists: [(joinTable: TrackedTable.JoinTable, key: DatabaseValue, others: [DatabaseValue])] = []
    private var ledger: EngineLedger { EngineLedger(db) }

    init(_ graph: PayloadGraph, _ engine: SQLiteEngineStore, _ db: Database) throws {
        (self.engine, self.db) = (engine, db)
        for table in engine.tables {
            guard try ledger.hasChanges(of: table) else { continue }
            for column in table.columns {
                guard case .toOne(let link) = column.field else { continue }
                let lists = try nestedLists(of: link, at: .second, in: graph)
                if !lists.owners.isEmpty { try find(column, of: table, lists) }
            }
            for joinTable in table.joinTables where !graph[joinTable.link].isEmpty {
                let lists = try nestedLists(of: joinTable.link, at: joinTable.end.other, in: graph)
                if !lists.isEmpty { try find(joinTable, of: table, lists) }
            }
        }
    }

    /// Returns the nested lists of one association. `end` is the end of the rows that own the lists. Links in the
    /// records of rows at the other end are not included: ``EditRebase`` merges them.
    private func nestedLists(
        of id: AssociationID, at end: CompiledAssociation.End, in graph: PayloadGraph
    ) throws -> Lists {
        let link = engine.model.compiled[id]
        var (named, owners): (Set<NodeID>, Set<NodeID>) = ([], [])
        for assertion in graph[id].assertions where assertion.assertedBy == end || link.isSymmetric {
            named.insert(end == .first ? assertion.second : assertion.first)
            if link.isSymmetric { named.formUnion([assertion.first, assertion.second]) }
        }
        for replacement in graph[id].replacements where replacement.end == end || link.isSymmetric {
            owners.insert(replacement.node)
        }
        return Lists(
            named: try engine.keys(of: named, graph, link.side(end.other).table, in: db),
            owners: try engine.keys(of: owners, graph, link.side(end).table, in: db))
    }

    private mutating func find(_ column: TrackedTable.Column, of table: TrackedTable, _ lists: Lists) throws {
        for key in lists.named where try ledger.isEdited(column, of: key, table) { editedRows.append((table, key)) }
        for owner in lists.owners {
            editedRows += try ledger.rowsEdited(in: column, of: table, referencing: owner).map { (table, $0) }
            columns += try ledger.newRows(of: table, referencing: owner, in: column)
                .map { (table, column, $0, owner) }
        }
    }

    private mutating func find(_ joinTable: TrackedTable.JoinTable, of table: TrackedTable, _ lists: Lists) throws {
        for key in lists.named where try ledger.isEdited(joinTable, of: key, table) { editedRows.append((table, key)) }
        var new: [(key: DatabaseValue, other: DatabaseValue)] = []
        for other in lists.owners {
            editedRows += try ledger.rowsEdited(in: joinTable, of: table, with: other).map { (table, $0) }
            new += try ledger.newRows(of: table, with: other, in: joinTable).map { ($0, other) }
        }
        self.joinRows += new.map { (table, joinTable, $0.key, $0.other) }
        guard joinTable.isOrdered else { return }
        self.lists += try Set(new.map(\.key)).map {
            (joinTable, $0, try LinkedRowList(joinTable).others(of: $0, in: db))
        }
    }

    func revertEdits(_ edits: inout EditRebase) throws {
        for (table, key) in editedRows { try edits.revert(key, of: table) }
    }

    /// Restores the links of the new rows that are still new after the page.
    func reapply() throws {
        for (table, column, key, value) in columns where try isNew(key, table) {
            let name = column.sql
            try db.run(
                "UPDATE OR IGNORE \(table.sql) SET \(name) = ? WHERE \(table.keySQL) = ? AND \(name) IS NULL", value,
                key)
        }
        for (table, joinTable, key, other) in joinRows where try isNew(key, table) {
            try engine.setLinked(true, key, to: other, joinTable, in: db)
        }
        for (joinTable, key, others) in lists {
            let stored = try LinkedRowList(joinTable).others(of: key, in: db)
            try LinkedRowList(joinTable).order(
                ListOrderMerge.merged(leader: others, follower: stored, of: stored), of: key, in: db)
        }
    }

    private func isNew(_ key: DatabaseValue, _ table: TrackedTable) throws -> Bool {
        try ledger.change(of: key, table)?.kind == .create
    }
}

/// A many-to-many list of a row: the keys of the linked rows, ordered by position, or by key if they have no positions.
struct LinkedRowList {
    private let sql: String
    private let positionSQL: String?

    init(_ joinTable: TrackedTable.JoinTable) {
        let names = joinTable.table
        sql = joinTable.listSQL("?")
        positionSQL = names.position.map {
            "UPDATE \(names.table) SET \($0) = ? WHERE \(names.mine) = ? AND \(names.other) = ?"
        }
    }

    func others(of key: DatabaseValue, in db: Database) throws -> [DatabaseValue] { try db.values(sql, key) }

    /// Sets the order of an ordered list. Rows that are not in `others` come last. Writes nothing if the list is not
    /// ordered, or if `others` contains all its rows in their stored order.
    func order(_ others: [DatabaseValue], of key: DatabaseValue, in db: Database) throws {
        guard let positionSQL else { return }
        let stored = try self.others(of: key, in: db)
        let all = Set(stored)
        let list = others.filter(all.contains)
        guard list != stored else { return }
        for (position, other) in (list + stored.filter { !others.contains($0) }).enumerated() {
            try db.run(positionSQL, position, key, other)
        }
    }

    /// Returns keys as the JSON array that the engine's tables store for a list.
    static func text(_ keys: [DatabaseValue]) -> DatabaseValue {
        JSONValue.array(
            keys.map { key in
                switch key.storage {
                case .int64(let value): JSONValue(value)
                case .double(let value): JSONValue(floatLiteral: value)
                case .string(let text): .string(text)
                case .null, .blob: .null
                }
            }
        ).text.databaseValue
    }

    static func keys(_ text: DatabaseValue) throws -> [DatabaseValue] {
        guard let text = String.fromDatabaseValue(text) else { return [] }
        return keys(try EngineTableCheck.json(text))
    }

    static func keys(_ json: JSONValue) -> [DatabaseValue] {
        guard case .array(let elements) = json else { return [] }
        return elements.map { element in
            switch element {
            case .number(let text): Int64(text)?.databaseValue ?? Double(text)?.databaseValue ?? .null
            case .string(let text): text.databaseValue
            default: .null
            }
        }
    }
}

extension SQLiteEngineStore {
    /// Returns the keys of nodes in the engine's tables. Ignores nodes without a key.
    func keys(of nodes: Set<NodeID>, _ graph: PayloadGraph, _ id: TableID, in db: Database) throws -> [DatabaseValue] {
        let own = graph.withTexts { texts in nodes.sorted().compactMap { RowKey(graph[id].nodes[$0.index].key, texts) }
        }
        guard let key = tables.first(where: { $0.entity.table == id })?.key else { return own.map(\.databaseValue) }
        return try own.compactMap { try key.engineKey(of: $0, in: db) }
    }

    /// Adds a row to a list if it is stored, or removes it from the list. `key` is the key of the row that has the list.
    func setLinked(
        _ isLinked: Bool, _ key: DatabaseValue, to other: DatabaseValue, _ joinTable: TrackedTable.JoinTable,
        in db: Database
    ) throws {
        let (names, destination) = (joinTable.table, stack.layout[joinTable.destination])
        guard isLinked else {
            return try db.run("DELETE FROM \(names.table) WHERE \(names.mine) = ? AND \(names.other) = ?", key, other)
        }
        try db.run(
            """
            INSERT OR IGNORE INTO \(names.table) (\(names.mine), \(names.other)) SELECT ?, ?
            WHERE EXISTS (SELECT 1 FROM \(destination.sql) WHERE \(destination.keySQL) = ?)
            """, key, other, other)
    }
}

extension TrackedTable.JoinTable {
    var field: String { "\(name) \(end)" }

    /// Whether the list has positions, so that its order is sent and merged.
    var isOrdered: Bool { table.position != nil }

    /// Returns the query for the keys of the rows that are linked to a row, in list order. Its column is named `k`.
    /// `owner` is the SQL of the key of the row.
    func listSQL(_ owner: String) -> String {
        """
        SELECT \(table.other) AS k FROM \(table.table) WHERE \(table.mine) = \(owner)
        ORDER BY \(SQLiteDialect().linkOrder(position: table.position, key: table.other))
        """
    }

    /// Returns the SQL of a JSON array of the column `k` of a query. The array has the format of
    /// ``LinkedRowList/text(_:)``.
    static func arraySQL(of rows: String) -> String {
        "(SELECT json_group_array(CASE typeof(k) WHEN 'blob' THEN NULL ELSE k END) FROM (\(rows)))"
    }
}
