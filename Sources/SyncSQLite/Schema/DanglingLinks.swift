import GRDB
import SyncCore
import SyncStore

/// Stored links to rows that are not stored, as a connection with foreign keys off leaves them behind. Such a link is
/// none: it is removed, so that it does not come to life when a row gets its key again.
struct DanglingLinks {
    let layout: StoreLayout
    let db: Database

    /// A removed link, by the row keys at its ends.
    struct Pair {
        let first: RowKey?
        let second: RowKey?
    }

    // MARK: All of a link

    /// The table a link is stored in, quoted.
    func table(_ link: AssociationID) -> String {
        switch layout[link] {
        case .foreignKey(let table, _, _): table.quoted
        case .joinTable(let name, _, _, _, _): name.quoted
        }
    }

    func exist(_ link: AssociationID) throws -> Bool {
        try Bool.fetchOne(db, sql: "SELECT EXISTS (SELECT 1 FROM \(table(link)) WHERE \(condition(link)))") ?? false
    }

    /// Whether links lead nowhere, of which all others are known to lead to stored rows.
    func exist(_ link: AssociationID, among ends: DoubtfulEnds) throws -> Bool {
        guard ends.areAll else { return try exist(link) }
        return try isMissing(ends.first, at: .first, of: link) || isMissing(ends.second, at: .second, of: link)
    }

    /// Whether one of some rows is not stored.
    private func isMissing(_ rows: Set<RowKey>, at end: CompiledAssociation.End, of link: AssociationID) throws -> Bool
    {
        if rows.isEmpty { return false }
        let table = layout[layout.model[link].side(end).table]
        let statement = try RawStatement(
            db, "SELECT 1 FROM \(table.name.quoted) WHERE \(table.keyColumn.quoted) = ?")
        return try rows.contains { row in
            statement.bind(row, at: 1)
            defer { statement.reset() }
            return try !statement.step()
        }
    }

    /// Whether the foreign key of some rows leads nowhere.
    func exist(_ link: AssociationID, of rows: [RowKey]) throws -> Bool {
        guard case .foreignKey = layout[link] else { return false }
        let key = layout[layout.model[link].first.table].keyColumn.quoted
        return try exist("SELECT 1 FROM \(table(link)) WHERE \(key) = ? AND \(condition(link))", rows)
    }

    /// Whether there are links to rows that are not stored.
    ///
    /// - Parameter rows: Keys of rows that are not stored, at this end of the link.
    func exist(_ link: AssociationID, to rows: [RowKey], at end: CompiledAssociation.End) throws -> Bool {
        guard let column = column(link, end) else { return false }
        return try exist("SELECT 1 FROM \(table(link)) WHERE \(column) = ?", rows)
    }

    private func exist(_ sql: String, _ keys: [RowKey]) throws -> Bool {
        let statement = try RawStatement(db, sql)
        return try keys.contains { key in
            statement.bind(key, at: 1)
            defer { statement.reset() }
            return try statement.step()
        }
    }

    func find(_ link: AssociationID) throws -> [Pair] {
        let keys =
            switch layout[link] {
            case .foreignKey(_, let column, _):
                [layout[layout.model[link].first.table].keyColumn, column]
            case .joinTable(_, let first, let second, _, _): [first, second]
            }
        let columns = keys.map(\.quoted).joined(separator: ", ")
        let statement = try RawStatement(db, "SELECT \(columns) FROM \(table(link)) WHERE \(condition(link))")
        var found: [Pair] = []
        while try statement.step() { found.append(Pair(first: statement.key(0), second: statement.key(1))) }
        return found
    }

    /// Rows stay where they are and lose the link, whatever the delete rule says: nobody said that they should go.
    func remove(_ link: AssociationID) throws { try remove(link, where: condition(link), []) }

    // MARK: All of a row

    /// Removes what is left of a row that had this key before: the links that others have to it, and what it waited for.
    func remove(linksTo key: DatabaseValue, in table: TableID) throws {
        for link in layout.model.links {
            for end in [CompiledAssociation.End.first, .second] where link.side(end).table == table {
                guard let column = column(link.id, end) else { continue }
                try remove(link.id, where: "\(column) = ?", [key])
            }
        }
        try deletePendingReferences(of: key, in: table)
    }

    func deletePendingReferences(of key: DatabaseValue, in table: TableID) throws {
        try db.execute(
            sql:
                "DELETE FROM sync_pending WHERE owner_entity IN (\(layout.entityNames(of: [table]))) AND owner_key = ?",
            arguments: [key])
    }

    /// Forgets what rows that are not stored any more were waiting for.
    func deletePendingReferences(ofMissingRowsIn id: TableID) throws {
        let table = layout[id]
        try db.execute(
            sql: """
                DELETE FROM sync_pending WHERE owner_entity IN (\(layout.entityNames(of: [id])))
                AND owner_key NOT IN (SELECT \(table.keyColumn.quoted) FROM \(table.name.quoted))
                """)
    }

    // MARK: SQL

    private func remove(_ link: AssociationID, where condition: String, _ arguments: StatementArguments) throws {
        let sql =
            switch layout[link] {
            case .foreignKey(_, let column, let order):
                "UPDATE \(table(link)) SET "
                    + [column, order].compactMap { $0 }.map { "\($0.quoted) = NULL" }.joined(separator: ", ")
            case .joinTable: "DELETE FROM \(table(link))"
            }
        try db.execute(sql: "\(sql) WHERE \(condition)", arguments: arguments)
    }

    /// The column that refers to the rows at one end; nil where those are the rows that have the column.
    private func column(_ link: AssociationID, _ end: CompiledAssociation.End) -> String? {
        switch layout[link] {
        case .foreignKey(_, let column, _): end == .second ? column.quoted : nil
        case .joinTable(_, let first, let second, _, _): (end == .first ? first : second).quoted
        }
    }

    private func condition(_ link: AssociationID) -> String {
        [CompiledAssociation.End.first, .second].compactMap { end in
            guard let column = column(link, end) else { return nil }
            let target = layout[layout.model[link].side(end).table]
            let rows = "SELECT \(target.keyColumn.quoted) FROM \(target.name.quoted)"
            return "\(column) IS NOT NULL AND \(column) NOT IN (\(rows))"
        }.joined(separator: " OR ")
    }
}

/// Rows at the ends of a link of which the payload does not speak: they may not be stored.
struct DoubtfulEnds {
    private(set) var first: Set<RowKey> = []
    private(set) var second: Set<RowKey> = []
    /// Whether these are all such rows that stored links lead to, so that there is no need to look through the links.
    private(set) var areAll: Bool

    init(areAll: Bool = true) { self.areAll = areAll }

    /// - Parameter row: Nil for a value that is no key.
    mutating func record(_ row: RowKey?, at end: CompiledAssociation.End) {
        guard let row else {
            areAll = false
            return
        }
        switch end {
        case .first: first.insert(row)
        case .second: second.insert(row)
        }
    }
}
