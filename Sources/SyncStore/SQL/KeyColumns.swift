package import SyncCore

/// The columns of the primary key of an entity. If a part is a foreign key to a table with surrogate keys, the key
/// columns of the referenced row take its place.
package struct KeyColumns: Sendable {
    /// A part of a key.
    package indirect enum Part: Sendable {
        /// A column of the row.
        case column(String, AttributeType)
        /// The key of the row that a foreign key references, in a table with surrogate keys.
        case target(column: String, KeyColumns)
    }

    /// The table of the rows.
    package let table: TableLayout
    package let type: KeyType
    package let parts: [Part]
    /// The types of the leaves: the values of the key. For a foreign key to a table with surrogate keys, the leaves are
    /// the key values of the referenced row.
    package let leaves: [AttributeType]
    /// The parts without their names, as rows are read.
    package let values: CompositeKeyColumns
    /// The condition that the entity of a row has the same ``CompiledEntity/keyOwner``; nil if this holds for all rows
    /// of the table.
    private let sharing: @Sendable (_ alias: String?) -> String?
    private let dialect: any SQLDialect

    /// Returns nil for a keyless entity.
    package init?(_ entity: CompiledEntity, _ layout: StoreLayout, _ dialect: any SQLDialect) {
        guard let type = layout.model.keyType(of: entity.id), let owner = entity.keyOwner else { return nil }
        let hierarchy = layout.model[entity.table]
        table = layout[entity.table]
        self.type = type
        self.dialect = dialect
        func attribute(_ slot: Int) -> Part {
            .column(layout[entity.table].columns[slot], hierarchy.attributes[slot].type)
        }
        if let slot = entity.keySlot {
            parts = [attribute(slot)]
        } else {
            parts = (entity.compositeKey?.parts ?? []).compactMap { part in
                switch part {
                case .attribute(let slot): attribute(slot)
                case .relationship(let index): Self.target(entity.relationships[index], layout, dialect)
                }
            }
        }
        leaves = parts.flatMap(\.leaves)
        values = CompositeKeyColumns(parts.map(\.columns))
        sharing = { dialect.sharedKeyCondition(owner, layout, alias: $0) }
    }

    /// Returns the composite key of each entity of a table that declares one.
    static func compositeKeys(
        of hierarchy: EntityHierarchy, _ layout: StoreLayout, _ dialect: any SQLDialect
    ) -> [(entity: Int, key: KeyColumns)] {
        hierarchy.entities.compactMap { id in
            let entity = layout.model.entities[id]
            guard entity.keyOwner == id, entity.compositeKey != nil else { return nil }
            return KeyColumns(entity, layout, dialect).map { (id, $0) }
        }
    }

    private static func target(
        _ relationship: CompiledRelationship, _ layout: StoreLayout, _ dialect: any SQLDialect
    ) -> Part? {
        guard case .foreignKey(_, let column, _) = layout[relationship.link],
            let key = KeyColumns(layout.model.entities[relationship.destination], layout, dialect)
        else { return nil }
        if !key.table.hasSurrogateKey, let type = key.leaves.first { return .column(column, type) }
        return .target(column: column, key)
    }

    package var isComposite: Bool {
        if case .composite = type { return true }
        return false
    }

    /// The column of each part.
    package var columns: [String] {
        parts.map { part in
            switch part {
            case .column(let name, _), .target(let name, _): name
            }
        }
    }

    // MARK: SQL

    /// Returns an SQL expression for each leaf of the row with this alias.
    package func expressions(of row: String) -> [String] {
        parts.flatMap { part -> [String] in
            switch part {
            case .column(let name, _): return [dialect.column(name, of: row)]
            case .target(let column, let key):
                let alias = "\(row)_\(column)"
                return key.expressions(of: alias).map { leaf in
                    "(SELECT \(leaf) FROM \(dialect.quoted(key.table.name)) AS \(dialect.quoted(alias)) "
                        + "WHERE \(dialect.column(key.table.keyColumn, of: alias)) = \(dialect.column(column, of: row)))"
                }
            }
        }
    }

    /// Returns the condition that a row has a key, and that its entity has the same ``CompiledEntity/keyOwner``.
    ///
    /// - Parameter values: An SQL expression for each leaf; nil to use the first parameters.
    package func condition(of row: String, equals values: [String]? = nil) -> String {
        var values = (values ?? parameters(from: 1))[...]
        let conditions = [condition(of: row, &values), sharing(row)]
        return conditions.compactMap(\.self).joined(separator: " AND ")
    }

    /// Returns a parameter for each leaf.
    ///
    /// - Parameter first: The number of the first one.
    package func parameters(from first: Int) -> [String] {
        leaves.enumerated().map { dialect.parameter(first + $0, as: $1, isRepeated: false) }
    }

    private func condition(of row: String, _ values: inout ArraySlice<String>) -> String {
        parts.map { part in
            switch part {
            case .column(let name, _): return "\(dialect.column(name, of: row)) = \(values.popFirst() ?? "NULL")"
            case .target(let column, let key):
                let alias = "\(row)_\(column)"
                let found = [key.condition(of: alias, &values), key.sharing(alias)].compactMap(\.self)
                return "\(dialect.column(column, of: row)) = "
                    + "(SELECT \(dialect.column(key.table.keyColumn, of: alias)) "
                    + "FROM \(dialect.quoted(key.table.name)) AS \(dialect.quoted(alias)) "
                    + "WHERE \(found.joined(separator: " AND ")))"
            }
        }.joined(separator: " AND ")
    }

    /// Returns SQL expressions for the leaves of a key.
    ///
    /// - Parameter expression: The value of a column for keys of any type.
    package func leaves(ofKey expression: String) -> [String] {
        guard isComposite else { return leaves.map { dialect.key(ofAny: expression, as: $0) } }
        let array = dialect.key(ofAny: expression, as: .string)
        return zip(paths, leaves).map { dialect.jsonElement($0, of: array, as: $1) }
    }

    /// The path of each leaf in the JSON array of a composite key.
    private var paths: [[Int]] {
        parts.enumerated().flatMap { index, part -> [[Int]] in
            guard case .target(_, let key) = part, key.isComposite else { return [[index]] }
            return key.paths.map { [index] + $0 }
        }
    }
}

extension KeyColumns.Part {
    fileprivate var leaves: [AttributeType] {
        switch self {
        case .column(_, let type): [type]
        case .target(_, let key): key.leaves
        }
    }

    /// The columns of the part, as rows are read.
    fileprivate var columns: CompositeKeyColumns.Part {
        switch self {
        case .column(_, let type): .value(type)
        case .target(_, let key): key.isComposite ? .compositeKey(key.values) : .rowKey
        }
    }
}
