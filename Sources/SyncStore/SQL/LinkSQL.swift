package import SyncCore

/// The table that stores the links of an association, as seen from one of its ends. The names are quoted.
package struct LinkTable: Sendable {
    package let table: String
    /// The columns with the keys of the linked rows: `mine` for this end, `other` for the other end.
    package let mine: String
    package let other: String
    /// The columns with the positions of a link in the lists of its two rows; nil for a list that is not ordered.
    package let position: String?
    package let otherPosition: String?

    package init(
        _ link: CompiledAssociation, _ end: CompiledAssociation.End, _ layout: StoreLayout, _ dialect: any SQLDialect
    ) {
        switch layout[link.id] {
        case .foreignKey(let table, let column, let position):
            let key = dialect.quoted(layout[link.first.table].keyColumn)
            let (column, position) = (dialect.quoted(column), position.map(dialect.quoted))
            self.table = dialect.quoted(table)
            (mine, other) = end == .first ? (key, column) : (column, key)
            (self.position, otherPosition) = end == .first ? (nil, position) : (position, nil)
        case .joinTable(let name, let first, let second, let firstPlace, let secondPlace):
            table = dialect.quoted(name)
            let columns = (dialect.quoted(first), dialect.quoted(second))
            let positions = (firstPlace.map(dialect.quoted), secondPlace.map(dialect.quoted))
            (mine, other) = end == .first ? columns : (columns.1, columns.0)
            (position, otherPosition) = end == .first ? positions : (positions.1, positions.0)
        }
    }
}

/// The statements about the links of an association, as seen from one of its ends.
package struct LinkSQL: Sendable {
    private let names: LinkTable
    private let association: CompiledAssociation
    private let end: CompiledAssociation.End
    private let layout: StoreLayout
    private let dialect: any SQLDialect

    package init(
        _ association: CompiledAssociation, _ end: CompiledAssociation.End, _ layout: StoreLayout,
        _ dialect: any SQLDialect
    ) {
        self.association = association
        self.end = end
        self.layout = layout
        self.dialect = dialect
        names = LinkTable(association, end, layout, dialect)
    }

    // MARK: Reading

    /// A query for the links of a row to stored rows, in the order of the relationship. The parameter is the key of the
    /// row. The columns are the key of the linked row, the position, and the position in the list of the linked row.
    package var links: String {
        let select =
            "SELECT \(names.other), \(names.position ?? "NULL"), \(names.otherPosition ?? "NULL") FROM \(names.table)"
        let key = dialect.orderTerm(names.other, as: nil, isAscending: true, nulls: .never)
        let order = " ORDER BY \(dialect.linkOrder(position: names.position, key: key))"
        let isForeignKey = association.storage == .foreignKey
        // The rows with the foreign key are stored, but the rows that it references may be missing.
        if isForeignKey, end == .second { return "\(select) WHERE \(isMine(1))\(order)" }
        let target = layout[association.side(end.other).table]
        let isStored =
            "EXISTS (SELECT 1 FROM \(dialect.quoted(target.name)) AS target "
            + "WHERE target.\(dialect.quoted(target.keyColumn)) = \(names.table).\(names.other))"
        return "\(select) WHERE \(isMine(1)) AND \(isStored)\(isForeignKey ? "" : order)"
    }

    /// A query that finds one link. The parameters are the keys of the rows at this end and at the other end.
    package var link: String { "SELECT 1 FROM \(names.table) WHERE \(isMine(1)) AND \(isOther(2))" }

    // MARK: Positions

    /// A query for the next position in the ordered list of a row; nil if this end of the association is not ordered.
    ///
    /// The position follows those of linked rows and those that are reserved for pending references. The parameter is
    /// the key of the row.
    package var nextPosition: String? {
        let side = association.side(end)
        guard let position = names.position, let relationship = side.relationship else { return nil }
        let key = dialect.parameter(1, as: keyType(end), isRepeated: true)
        let linked =
            "(SELECT \(dialect.nextPosition(position)) FROM \(names.table) WHERE \(names.mine) = \(key))"
        let reserved = """
            (SELECT \(dialect.nextPosition("position")) FROM sync_pending
               WHERE owner_entity IN (\(dialect.entityNames(of: [side.table], layout))) \
            AND owner_key = \(dialect.anyKey(key, of: keyType(end)))
               AND relationship = \(dialect.literal(relationship.name)))
            """
        return "SELECT \(dialect.largest([linked, reserved]))"
    }

    /// An update of the position of a link; nil if this end of the association is not ordered. The parameters are the
    /// position, and the keys of the rows at this end and at the other end.
    package var positionUpdate: String? {
        names.position.map { position in
            let value = dialect.parameter(1, as: .integer, isRepeated: false)
            return "UPDATE \(names.table) SET \(position) = \(value) WHERE \(isMine(2)) AND \(isOther(3))"
        }
    }

    // MARK: Conditions

    private func isMine(_ parameter: Int) -> String {
        "\(names.mine) = \(dialect.parameter(parameter, as: keyType(end), isRepeated: false))"
    }

    private func isOther(_ parameter: Int) -> String {
        "\(names.other) = \(dialect.parameter(parameter, as: keyType(end.other), isRepeated: false))"
    }

    private func keyType(_ end: CompiledAssociation.End) -> AttributeType {
        layout.model[association.side(end).table].rowKeyType
    }
}

/// The statements that read and write the join table of an association. All names are quoted.
///
/// Statements that read return four columns: the keys of the first and the second row, and the positions of the link in
/// their lists.
package struct JoinRowSQL: Sendable {
    /// The name of the table, without quotes.
    package let name: String
    package let table: String
    private let first: String
    private let second: String
    private let firstOrder: String?
    private let secondOrder: String?
    private let isOneRow: String
    private let isRowAtEnd: (first: String, second: String)

    /// Returns nil for an association that is stored as a foreign key.
    package init?(_ link: AssociationID, _ layout: StoreLayout, _ dialect: any SQLDialect) {
        guard case .joinTable(let name, let first, let second, let firstOrder, let secondOrder) = layout[link]
        else { return nil }
        self.name = name
        table = dialect.quoted(name)
        self.first = dialect.quoted(first)
        self.second = dialect.quoted(second)
        self.firstOrder = firstOrder.map(dialect.quoted)
        self.secondOrder = secondOrder.map(dialect.quoted)
        let (firstTable, secondTable) = (layout.model[link].first.table, layout.model[link].second.table)
        func equals(_ column: String, _ table: TableID, _ number: Int) -> String {
            let type = layout.model[table].rowKeyType
            return "\(dialect.quoted(column)) = \(dialect.parameter(number, as: type, isRepeated: false))"
        }
        isRowAtEnd = (equals(first, firstTable, 1), equals(second, secondTable, 1))
        isOneRow = "\(equals(first, firstTable, 1)) AND \(equals(second, secondTable, 2))"
    }

    package func column(_ end: CompiledAssociation.End) -> String { end == .first ? first : second }

    package func order(_ end: CompiledAssociation.End) -> String? { end == .first ? firstOrder : secondOrder }

    /// The columns that an insertion writes: the keys, and the position at each ordered end.
    package var columns: [String] { [first, second] + [firstOrder, secondOrder].compactMap(\.self) }

    /// A query for all join rows.
    package var all: String {
        "SELECT \(first), \(second), \(firstOrder ?? "NULL"), \(secondOrder ?? "NULL") FROM \(table)"
    }

    /// Returns a query for the join rows of one row. The parameter is its key.
    package func joinRows(ofRowAt end: CompiledAssociation.End) -> String {
        "\(all) WHERE \(end == .first ? isRowAtEnd.first : isRowAtEnd.second)"
    }

    /// A query for one join row. The parameters are its two keys.
    package var one: String { "\(all) WHERE \(isOneRow)" }

    /// A deletion of one join row. The parameters are its two keys.
    package var removal: String { "DELETE FROM \(table) WHERE \(isOneRow)" }
}

extension SQLDialect {
    /// Returns the terms of an order of related rows: by position, then by key. Rows without a position come last.
    ///
    /// - Parameters:
    ///   - position: The column of positions; nil if the relationship is not ordered.
    ///   - key: The terms that order rows with the same position.
    package func linkOrder(position: String?, key: String) -> String {
        guard let position else { return key }
        return "\(orderTerm(position, as: .integer, isAscending: true, nulls: .last)), \(key)"
    }
}
