package import SyncCore

/// The names of tables and columns: how a model is laid out in a database. Pure; shared by all that write SQL.
package struct StoreLayout: Sendable {
    package let model: CompiledModel
    package let tables: [TableLayout]
    package let links: [LinkLayout]
    /// The name of each link's index. Those of a database are in one namespace, whatever table they are of.
    package let indexNames: [String]

    /// - Parameter isAdopted: Whether the tables are an app's, whose rows have their rowid for a hidden key.
    package init(_ model: CompiledModel, isAdopted: Bool = false) {
        self.model = model
        tables = model.trees.map {
            TableLayout($0, model, hiddenKey: isAdopted ? "rowid" : TableLayout.hiddenKeyColumn)
        }
        let taken = model.trees.map { ReservedColumnNames($0, model) }
        links = model.links.map { LinkLayout($0, model, taken[$0.first.table.index]) }
        indexNames = Self.distinct(links.map(\.indexName))
    }

    package subscript(_ id: TableID) -> TableLayout { tables[id.index] }

    package subscript(_ id: AssociationID) -> LinkLayout { links[id.index] }

    /// The columns of a table's foreign keys, with those of the places of its rows among the rows of the same target.
    package func foreignKeyColumns(of tree: EntityHierarchy) -> [(column: String, order: String?)] {
        tree.foreignKeys.compactMap { link in
            guard case .foreignKey(_, let column, let order) = self[link] else { return nil }
            return (column, order)
        }
    }

    /// Numbers the later of names that a database may take for the same.
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

/// One table: an inheritance tree.
package struct TableLayout: Sendable {
    /// The column that says which entity a row is of, in tables of several entities.
    package static let entityColumn = "sync_entity"
    /// The hidden primary key of tables whose rows have no common key.
    package static let hiddenKeyColumn = "sync_id"

    /// The root entity's name, or what it calls its table.
    package let name: String
    package let keyColumn: String
    package let hasHiddenKey: Bool
    package let hasEntityColumn: Bool
    /// One per slot of the tree.
    package let columns: [String]

    init(_ tree: EntityHierarchy, _ model: CompiledModel, hiddenKey: String) {
        name = model.declarations[tree.root].table ?? model.entities[tree.root].name
        columns = tree.attributes.map(\.columnName)
        hasHiddenKey = tree.keySlot == nil
        keyColumn = tree.keySlot.map { tree.attributes[$0].columnName } ?? hiddenKey
        hasEntityColumn = tree.hasSubEntities
    }
}

/// How a link is stored. Columns hold row keys: the primary key of the table referred to.
package enum LinkLayout: Sendable {
    /// A column of the first side's table; `order` is the position among the rows that point to the same target,
    /// if the second side is ordered.
    case foreignKey(table: String, column: String, order: String?)
    /// `firstOrder` is the position of a link among those of its first row, `secondOrder` of its second.
    case joinTable(name: String, first: String, second: String, firstOrder: String?, secondOrder: String?)

    init(_ link: CompiledAssociation, _ model: CompiledModel, _ taken: ReservedColumnNames) {
        switch link.storage {
        case .foreignKey:
            let tree = model[link.first.table]
            let relationship = link.first.relationship?.name ?? ""
            self = .foreignKey(
                table: model.declarations[tree.root].table ?? model.entities[tree.root].name,
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

    /// `<name>ID`, or `<name>_ref` if the model gives that name to another column; prefixed by the entity if a sibling
    /// entity of the same table has a relationship of this name too.
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

/// What the foreign key columns of a table must be told from.
struct ReservedColumnNames {
    /// The columns that the model names, without regard to case.
    let columns: Set<String>
    /// Relationship name → how many of its foreign keys are for one of this name.
    let relationships: [String: Int]

    init(_ tree: EntityHierarchy, _ model: CompiledModel) {
        let given = tree.foreignKeys.compactMap { model[$0].first.relationship?.column }
        columns = Set((tree.attributes.map(\.columnName) + given).map { $0.lowercased() })
        let names = tree.foreignKeys.compactMap { model[$0].first.relationship?.name }
        relationships = Dictionary(names.map { ($0, 1) }, uniquingKeysWith: +)
    }
}
