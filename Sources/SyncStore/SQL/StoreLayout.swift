package import SyncCore

/// The names of tables and columns: the layout of a model in a database. All code that writes SQL uses it.
package struct StoreLayout: Sendable {
    package let model: CompiledModel
    package let tables: [TableLayout]
    package let links: [LinkLayout]
    /// The name of the index of each association. All index names of a database must be distinct.
    package let indexNames: [String]
    /// Whether the store uses existing tables, which the app declared.
    package let hasExistingTables: Bool

    /// Creates the layout of a model.
    ///
    /// The surrogate key of existing tables is the rowid.
    package init(_ model: CompiledModel, hasExistingTables: Bool = false) {
        self.model = model
        self.hasExistingTables = hasExistingTables
        tables = model.hierarchies.map {
            TableLayout($0, model, surrogateKey: hasExistingTables ? "rowid" : TableLayout.surrogateKeyColumn)
        }
        let taken = model.hierarchies.map { ReservedColumnNames($0, model) }
        links = model.links.map { LinkLayout($0, model, taken[$0.first.table.index]) }
        indexNames = Self.distinct(links.map(\.indexName))
    }

    package subscript(_ id: TableID) -> TableLayout { tables[id.index] }

    package subscript(_ id: AssociationID) -> LinkLayout { links[id.index] }

    /// Returns the foreign key columns of a table, each with the column of its positions if it has one.
    package func foreignKeyColumns(of hierarchy: EntityHierarchy) -> [(column: String, order: String?)] {
        hierarchy.foreignKeys.compactMap { link in
            guard case .foreignKey(_, let column, let order) = self[link] else { return nil }
            return (column, order)
        }
    }

    /// Makes names distinct for a database, which ignores case. Appends a number to each name that equals an earlier
    /// one.
    private static func distinct(_ names: [String]) -> [String] {
        var taken: Set<String> = []
        return names.map { name in
            var free = name
            var number = 2
            while !taken.insert(free.lowercased()).inserted {
                free = "\(name)_\(number)"
                number += 1
            }
            return free
        }
    }
}

/// The layout of one table, which stores an inheritance hierarchy.
package struct TableLayout: Sendable {
    /// The column with the name of a row's entity, in a table of several entities.
    package static let entityColumn = "sync_entity"
    /// The surrogate key column of a table whose entities do not share one primary key attribute.
    package static let surrogateKeyColumn = "sync_id"

    /// The name of the root entity, or the table name that the model gives.
    package let name: String
    package let keyColumn: String
    package let hasSurrogateKey: Bool
    package let hasEntityColumn: Bool
    /// The column of each slot of the hierarchy.
    package let columns: [String]

    init(_ hierarchy: EntityHierarchy, _ model: CompiledModel, surrogateKey: String) {
        name = model.declarations[hierarchy.root].table ?? model.entities[hierarchy.root].name
        columns = hierarchy.attributes.map(\.columnName)
        hasSurrogateKey = hierarchy.keySlot == nil
        keyColumn = hierarchy.keySlot.map { hierarchy.attributes[$0].columnName } ?? surrogateKey
        hasEntityColumn = hierarchy.hasSubEntities
    }
}

/// The table and columns of an association. The columns hold the row keys (``RowKey``) of the rows at its ends.
package enum LinkLayout: Sendable, Equatable {
    /// A column in the table of the first end. `order` is the column of the position in the list of the referenced row;
    /// nil if the list is not ordered.
    case foreignKey(table: String, column: String, order: String?)
    /// A join table. `firstOrder` is the column of a link's position in the list of its first row, and `secondOrder` in
    /// the list of its second row. Each is nil if the list is not ordered. `secondOrder` is also nil in a symmetric
    /// association.
    case joinTable(name: String, first: String, second: String, firstOrder: String?, secondOrder: String?)

    init(_ link: CompiledAssociation, _ model: CompiledModel, _ taken: ReservedColumnNames) {
        switch link.storage {
        case .foreignKey:
            let hierarchy = model[link.first.table]
            let relationship = link.first.relationship?.name ?? ""
            self = .foreignKey(
                table: model.declarations[hierarchy.root].table ?? model.entities[hierarchy.root].name,
                column: link.first.relationship?.column ?? Self.column(for: link, relationship, taken, model),
                order: link.second.isOrdered ? "sync_\(relationship)_order" : nil)
        case .joinTable:
            let entity = model.entities[link.first.entity].name
            let relationship = link.first.relationship?.name ?? ""
            let (here, there) = (link.first.relationship, link.second.relationship)
            let givenSecond = here?.column ?? there?.inverseColumn
            var first = here?.inverseColumn ?? there?.column ?? Self.lowerCamel(entity) + "ID"
            if first.lowercased() == givenSecond?.lowercased() { first = "other_" + first }
            var second = givenSecond ?? Self.lowerCamel(model.entities[link.second.entity].name) + "ID"
            if second.lowercased() == first.lowercased() { second = relationship + "ID" }
            if second.lowercased() == first.lowercased() { second = "other_" + second }
            self = .joinTable(
                name: link.joinTableName(in: model), first: first, second: second,
                firstOrder: link.first.isOrdered ? "sync_order" : nil,
                secondOrder: link.second.isOrdered && !link.isSymmetric ? "sync_inverse_order" : nil)
        }
    }

    var indexName: String {
        switch self {
        case .foreignKey(let table, let column, _): "sync_index_\(table)_\(column)"
        case .joinTable(let name, _, _, _, _): "sync_index_\(name)"
        }
    }

    /// Returns `<name>ID`, or `<name>_ref` if another column has that name. The name is prefixed by the entity if
    /// another entity of the table has a relationship with the same name.
    private static func column(
        for link: CompiledAssociation, _ relationship: String, _ taken: ReservedColumnNames, _ model: CompiledModel
    ) -> String {
        let isShared = taken.relationships[relationship, default: 0] > 1
        let base = isShared ? "\(model.entities[link.first.entity].name)_\(relationship)" : relationship
        return taken.columns.contains("\(base)ID".lowercased()) ? "\(base)_ref" : "\(base)ID"
    }

    private static func lowerCamel(_ name: String) -> String {
        name.prefix(1).lowercased() + name.dropFirst()
    }
}

/// The names that foreign key columns of a table must not collide with.
struct ReservedColumnNames {
    /// The columns that the model names, in lower case.
    let columns: Set<String>
    /// Relationship name → the number of the table's foreign keys for relationships of that name.
    let relationships: [String: Int]

    init(_ hierarchy: EntityHierarchy, _ model: CompiledModel) {
        let given = hierarchy.foreignKeys.compactMap { model[$0].first.relationship?.column }
        columns = Set((hierarchy.attributes.map(\.columnName) + given).map { $0.lowercased() })
        let names = hierarchy.foreignKeys.compactMap { model[$0].first.relationship?.name }
        relationships = Dictionary(names.map { ($0, 1) }, uniquingKeysWith: +)
    }
}
