import SyncCore
import SyncStore

/// The columns of the primary key of an entity. If a part is a foreign key to a table with surrogate keys, the key
/// columns of the referenced row take its place.
struct KeyColumns: Sendable {
    /// A part of a key.
    indirect enum Part: Sendable {
        /// A column of the row.
        case column(String, AttributeType)
        /// The key of the row that a foreign key references, in a table with surrogate keys.
        case target(column: String, KeyColumns)
    }

    /// The table of the rows.
    let table: TableLayout
    let type: KeyType
    let parts: [Part]
    /// The types of the leaves: the values of the key. For a foreign key to a table with surrogate keys, the leaves are
    /// the key values of the referenced row.
    let leaves: [AttributeType]
    /// The parts without their names, as rows are read.
    let values: CompositeKeyColumns
    /// The condition that the entity of a row has the same ``CompiledEntity/keyOwner``; nil if this holds for all rows
    /// of the table.
    private let sharing: @Sendable (_ alias: String?) -> String?

    /// Returns nil for a keyless entity.
    init?(_ entity: CompiledEntity, _ layout: StoreLayout) {
        guard let type = layout.model.keyType(of: entity.id), let owner = entity.keyOwner else { return nil }
        let hierarchy = layout.model[entity.table]
        table = layout[entity.table]
        self.type = type
        func attribute(_ slot: Int) -> Part {
            .column(layout[entity.table].columns[slot], hierarchy.attributes[slot].type)
        }
        if let slot = entity.keySlot {
            parts = [attribute(slot)]
        } else {
            parts = (entity.compositeKey?.parts ?? []).compactMap { part in
                switch part {
                case .attribute(let slot): attribute(slot)
                case .relationship(let index): Self.target(entity.relationships[index], layout)
                }
            }
        }
        leaves = parts.flatMap(\.leaves)
        values = CompositeKeyColumns(parts.map(\.columns))
        sharing = { SchemaSQL.sharedKeyCondition(owner, layout, alias: $0) }
    }

    private static func target(_ relationship: CompiledRelationship, _ layout: StoreLayout) -> Part? {
        guard case .foreignKey(_, let column, _) = layout[relationship.link],
            let key = KeyColumns(layout.model.entities[relationship.destination], layout)
        else { return nil }
        if !key.table.hasSurrogateKey, let type = key.leaves.first { return .column(column, type) }
        return .target(column: column, key)
    }

    var isComposite: Bool {
        if case .composite = type { return true }
        return false
    }

    /// The column of each part.
    var columns: [String] {
        parts.map { part in
            switch part {
            case .column(let name, _), .target(let name, _): name
            }
        }
    }

    // MARK: SQL

    /// Returns an SQL expression for each leaf of the row with this alias.
    func expressions(of row: String) -> [String] {
        parts.flatMap { part -> [String] in
            switch part {
            case .column(let name, _): return ["\(row.quoted).\(name.quoted)"]
            case .target(let column, let key):
                let alias = "\(row)_\(column)"
                return key.expressions(of: alias).map { leaf in
                    "(SELECT \(leaf) FROM \(key.table.name.quoted) AS \(alias.quoted) "
                        + "WHERE \(alias.quoted).\(key.table.keyColumn.quoted) = \(row.quoted).\(column.quoted))"
                }
            }
        }
    }

    /// Returns the condition that a row has a key, and that its entity has the same ``CompiledEntity/keyOwner``.
    ///
    /// - Parameter values: An SQL expression for each leaf; nil to use parameters.
    func condition(of row: String, equals values: [String]? = nil) -> String {
        var values = (values ?? leaves.map { _ in "?" })[...]
        let conditions = [condition(of: row, &values), sharing(row)]
        return conditions.compactMap(\.self).joined(separator: " AND ")
    }

    private func condition(of row: String, _ values: inout ArraySlice<String>) -> String {
        parts.map { part in
            switch part {
            case .column(let name, _): return "\(row.quoted).\(name.quoted) = \(values.popFirst() ?? "NULL")"
            case .target(let column, let key):
                let alias = "\(row)_\(column)"
                let found = [key.condition(of: alias, &values), key.sharing(alias)].compactMap(\.self)
                return "\(row.quoted).\(column.quoted) = (SELECT \(alias.quoted).\(key.table.keyColumn.quoted) "
                    + "FROM \(key.table.name.quoted) AS \(alias.quoted) WHERE \(found.joined(separator: " AND ")))"
            }
        }.joined(separator: " AND ")
    }

    /// Returns SQL expressions for the leaves of the key that an SQL expression returns.
    func leaves(ofKey expression: String) -> [String] {
        guard isComposite else { return [expression] }
        return paths.map { "json_extract(\(expression), '$\($0)')" }
    }

    private var paths: [String] {
        parts.enumerated().flatMap { index, part -> [String] in
            guard case .target(_, let key) = part, key.isComposite else { return ["[\(index)]"] }
            return key.paths.map { "[\(index)]\($0)" }
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
