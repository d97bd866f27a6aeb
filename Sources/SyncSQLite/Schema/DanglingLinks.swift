import GRDB
import SyncCore
import SyncStore

/// Finds and removes dangling links, which a connection with foreign keys off can leave behind. A dangling link that
/// stays would reference a later row with the same key.
struct DanglingLinks {
    let layout: StoreLayout
    let db: Database

    /// A dangling link, as the row keys at its ends.
    struct JoinRow {
        let first: RowKey?
        let second: RowKey?
    }

    // MARK: Links of an association

    /// Returns the quoted name of the table that stores the links.
    func table(_ link: AssociationID) -> String {
        switch layout[link] {
        case .foreignKey(let table, _, _): table.quoted
        case .joinTable(let name, _, _, _, _): name.quoted
        }
    }

    func exist(_ link: AssociationID) throws -> Bool {
        try Bool.fetchOne(db, sql: "SELECT EXISTS (SELECT 1 FROM \(table(link)) WHERE \(condition(link)))") ?? false
    }

    /// Returns whether there are dangling links. If `ends` are all rows that can be missing, looks up only these rows.
    func exist(_ link: AssociationID, among ends: DanglingCandidates) throws -> Bool {
        guard ends.areAll else { return try exist(link) }
        return try isMissing(ends.first, at: .first, of: link) || isMissing(ends.second, at: .second, of: link)
    }

    /// Returns whether one of the rows is not stored.
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

    /// Returns whether the foreign key of one of the rows is dangling.
    func exist(_ link: AssociationID, of rows: [RowKey]) throws -> Bool {
        guard case .foreignKey = layout[link] else { return false }
        let key = layout[layout.model[link].first.table].keyColumn.quoted
        return try exist("SELECT 1 FROM \(table(link)) WHERE \(key) = ? AND \(condition(link))", rows)
    }

    /// Returns whether links reference these missing rows.
    ///
    /// - Parameter rows: The keys of missing rows at this end of the association.
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

    func find(_ link: AssociationID) throws -> [JoinRow] {
        let keys =
            switch layout[link] {
            case .foreignKey(_, let column, _):
                [layout[layout.model[link].first.table].keyColumn, column]
            case .joinTable(_, let first, let second, _, _): [first, second]
            }
        let columns = keys.map(\.quoted).joined(separator: ", ")
        let statement = try RawStatement(db, "SELECT \(columns) FROM \(table(link)) WHERE \(condition(link))")
        var found: [JoinRow] = []
        while try statement.step() { found.append(JoinRow(first: statement.key(0), second: statement.key(1))) }
        return found
    }

    /// Removes the dangling links of an association. Referencing rows lose the link but stay, regardless of delete
    /// rules, because no payload omitted them.
    func remove(_ link: AssociationID) throws { try remove(link, where: condition(link), []) }

    // MARK: Links of a row

    /// Removes the links to an earlier row with this key, and the pending references of that row.
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
        try db.run(
            "DELETE FROM sync_pending WHERE owner_entity IN (\(layout.entityNames(of: [table]))) AND owner_key = ?", key
        )
    }

    /// Deletes the pending references of rows that are no longer stored.
    func deletePendingReferences(ofMissingRowsIn id: TableID) throws {
        let table = layout[id]
        try db.execute(
            sql: """
                DELETE FROM sync_pending WHERE owner_entity IN (\(layout.entityNames(of: [id])))
                AND owner_key NOT IN (SELECT \(table.keyColumn.quoted) FROM \(table.name.quoted))
                """)
    }

    // MARK: SQL

    private func remove(_ link: AssociationID, where condition: String, _ arguments: [DatabaseValue] = []) throws {
        let sql =
            switch layout[link] {
            case .foreignKey(_, let column, let order):
                "UPDATE \(table(link)) SET "
                    + [column, order].compactMap { $0 }.map { "\($0.quoted) = NULL" }.joined(separator: ", ")
            case .joinTable: "DELETE FROM \(table(link))"
            }
        try db.run("\(sql) WHERE \(condition)", list: arguments)
    }

    /// Returns the column that references the rows at one end; nil for the end with the foreign key column.
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
