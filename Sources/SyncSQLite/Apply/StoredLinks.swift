import GRDB
import SyncCore

/// The links as they are stored, of single rows: as a foreign key column or as pairs in a join table, each with columns for
/// places in ordered lists. Nothing else in a sync knows which, but for ``StoredPairs``, which reads and writes them by the
/// thousand.
struct StoredLinks {
    private let db: Database
    private let layout: StoreLayout
    private let columns: [RowColumns]
    private let statements: StatementCache

    init(_ db: Database, _ layout: StoreLayout, _ columns: [RowColumns], _ statements: StatementCache) {
        self.db = db
        self.layout = layout
        self.columns = columns
        self.statements = statements
    }

    private func link(_ id: Int) -> Link { layout.model.links[id] }

    // MARK: Reading

    /// The row keys at the other end of a row's links, in order. A link to a row that is not stored is none.
    func targets(of row: StoredRow, _ id: Int, from end: Link.End) throws -> [RowKey] {
        try keys(targetsSQL(id, from: end), of: row.key)
    }

    /// Where a foreign key leads.
    func target(of row: StoredRow, _ id: Int) throws -> RowKey? { try targets(of: row, id, from: .first).first }

    private func targetsSQL(_ id: Int, from end: Link.End) -> String {
        let (table, mine, other, place) = names(id, end)
        if case .foreignKey = layout.links[id], end == .second {
            return
                "SELECT \(other) FROM \(table) WHERE \(mine) = ? ORDER BY \(LinkOrderSQL.terms(place: place, key: other))"
        }
        let target = columns[link(id).side(end.other).tree]
        let isStored =
            "EXISTS (SELECT 1 FROM \(target.table) AS target WHERE target.\(target.keyColumn) = \(table).\(other))"
        let order = link(id).storage == .foreignKey ? "" : " ORDER BY " + LinkOrderSQL.terms(place: place, key: other)
        return "SELECT \(other) FROM \(table) WHERE \(mine) = ? AND \(isStored)\(order)"
    }

    private func keys(_ sql: String, of key: RowKey) throws -> [RowKey] {
        let statement = try statements.statement(sql)
        statement.bind(key, at: 1)
        defer { statement.reset() }
        var keys: [RowKey] = []
        while try statement.step() {
            if let key = statement.key(0) { keys.append(key) }
        }
        return keys
    }

    /// Reads the rows of the first end of a foreign key that point to a row, with the names of their entities.
    func pointing(_ id: Int) throws -> RawStatement {
        let (table, mine, other, _) = names(id, .second)
        let entity = columns[link(id).first.tree].entity == nil ? "NULL" : TableLayout.entityColumn.quoted
        return try RawStatement(db, "SELECT \(other), \(entity) FROM \(table) WHERE \(mine) = ?")
    }

    // MARK: Linking

    /// Points a foreign key at a row, as the last of those that do.
    func setTarget(_ target: RowKey, of row: StoredRow, _ id: Int) throws {
        let place = try link(id).second.isOrdered ? freePlace(id, .second, target) : nil
        try write(target, place, of: row, id)
    }

    /// Takes its target from a foreign key.
    func clearTarget(of row: StoredRow, _ id: Int) throws { try write(nil, nil, of: row, id) }

    private func write(_ target: RowKey?, _ place: Int64?, of row: StoredRow, _ id: Int) throws {
        guard case .foreignKey(let table, let column, let order) = layout.links[id] else { return }
        let names = [column, order].compactMap { $0 }.map { "\($0.quoted) = ?" }.joined(separator: ", ")
        let statement = try statements.statement(
            "UPDATE \(table.quoted) SET \(names) WHERE \(columns[row.tree].keyColumn) = ?")
        if let target { statement.bind(target, at: 1) } else { statement.bindNull(at: 1) }
        if order != nil {
            if let place { statement.bind(place, at: 2) } else { statement.bindNull(at: 2) }
        }
        statement.bind(row.key, at: order == nil ? 2 : 3)
        try statement.execute()
    }

    /// Adds a pair that is the last one of both rows.
    ///
    /// - Returns: Whether it was not there.
    func addPair(_ first: RowKey, _ second: RowKey, _ id: Int) throws -> Bool {
        guard let table = JoinSQL(id, layout, db) else { return false }
        try table.add(first.databaseValue, second.databaseValue)
        return db.changesCount > 0
    }

    /// Removes a pair of a row, and the one at its other end.
    ///
    /// - Returns: Whether it was there.
    func removePair(of row: RowKey, _ id: Int, at end: Link.End, to other: RowKey) throws -> Bool {
        let names = names(id, end)
        let statement = try statements.statement(
            "DELETE FROM \(names.table) WHERE \(names.mine) = ? AND \(names.other) = ?")
        statement.bind(row, at: 1)
        statement.bind(other, at: 2)
        try statement.execute()
        return db.changesCount > 0
    }

    /// Removes all pairs of a row.
    func removePairs(of row: RowKey, _ id: Int, at end: Link.End) throws {
        let names = names(id, end)
        let statement = try statements.statement("DELETE FROM \(names.table) WHERE \(names.mine) = ?")
        statement.bind(row, at: 1)
        try statement.execute()
    }

    /// The join tables, by name.
    var pairTables: [String] {
        layout.links.compactMap { link in
            guard case .joinTable(let name, _, _, _, _) = link else { return nil }
            return name
        }
    }

    // MARK: Places

    /// The place after all others in the list of a row: after those that are linked, and those that it waits for.
    func freePlace(_ id: Int, _ end: Link.End, _ row: RowKey) throws -> Int64 {
        guard let query = FreePlaceSQL.query(id, end, layout) else { return 0 }
        let statement = try statements.statement(query)
        statement.bind(row, at: 1)
        defer { statement.reset() }
        return try statement.step() ? statement.integer(0) : 0
    }

    /// The list of a row, in order; nil if it is in none.
    func list(of owner: RowKey, _ id: Int, _ end: Link.End) throws -> [(row: RowKey, place: Int64?)]? {
        let names = names(id, end)
        guard let place = names.place else { return nil }
        let statement = try statements.statement(
            """
            SELECT \(names.other), \(place) FROM \(names.table) WHERE \(names.mine) = ?
            ORDER BY \(LinkOrderSQL.terms(place: place, key: names.other))
            """)
        statement.bind(owner, at: 1)
        defer { statement.reset() }
        var list: [(row: RowKey, place: Int64?)] = []
        while try statement.step() {
            guard let key = statement.key(0) else { continue }
            list.append((key, statement.isNull(1) ? nil : statement.integer(1)))
        }
        return list
    }

    /// Gives a row its place in the list of another, where they are linked.
    func setPlace(_ position: Int64, of row: RowKey, in owner: RowKey, _ id: Int, _ end: Link.End) throws {
        let names = names(id, end)
        guard let place = names.place else { return }
        let statement = try statements.statement(
            "UPDATE \(names.table) SET \(place) = ? WHERE \(names.mine) = ? AND \(names.other) = ?")
        statement.bind(position, at: 1)
        statement.bind(owner, at: 2)
        statement.bind(row, at: 3)
        try statement.execute()
    }

    /// Gives a row the place that a list has kept for it, where they are linked; what has that place by now moves away.
    func takePlace(_ position: Int64, of row: RowKey, in owner: RowKey, _ id: Int, _ end: Link.End) throws {
        let names = names(id, end)
        guard position >= 0, let place = names.place else { return }
        let known = try statements.statement(
            "SELECT \(place) FROM \(names.table) WHERE \(names.mine) = ? AND \(names.other) = ?")
        known.bind(owner, at: 1)
        known.bind(row, at: 2)
        let moves = try known.step() && (known.isNull(0) || known.integer(0) != position)
        known.reset()
        guard moves else { return }
        try makeRoom(in: owner, at: position, names.table, names.mine, place)
        try setPlace(position, of: row, in: owner, id, end)
    }

    private func makeRoom(
        in owner: RowKey, at position: Int64, _ table: String, _ mine: String, _ place: String
    ) throws {
        let statement = try statements.statement(
            """
            UPDATE \(table) SET \(place) = \(place) + 1 WHERE \(mine) = ?1 AND \(place) >= ?2
            AND EXISTS (SELECT 1 FROM \(table) WHERE \(mine) = ?1 AND \(place) = ?2)
            """)
        statement.bind(owner, at: 1)
        statement.bind(position, at: 2)
        try statement.execute()
    }

    // MARK: Names

    /// The table that has the links, and its columns for the row at one end, for the other, and for the place of the other
    /// in the list of the one; quoted.
    private func names(
        _ id: Int, _ end: Link.End
    ) -> (table: String, mine: String, other: String, place: String?) {
        switch layout.links[id] {
        case .foreignKey(let table, let column, let order):
            let key = columns[link(id).first.tree].keyColumn
            return end == .first
                ? (table.quoted, key, column.quoted, nil) : (table.quoted, column.quoted, key, order?.quoted)
        case .joinTable(let name, let first, let second, let firstOrder, let secondOrder):
            return end == .first
                ? (name.quoted, first.quoted, second.quoted, firstOrder?.quoted)
                : (name.quoted, second.quoted, first.quoted, secondOrder?.quoted)
        }
    }
}
