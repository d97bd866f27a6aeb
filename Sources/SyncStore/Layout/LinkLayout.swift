import SyncCore

/// How a link is stored. Columns hold row keys: the primary key of the table referred to.
package enum LinkLayout: Sendable {
    /// A column of the first side's table; `order` is the position among the rows that point to the same target,
    /// if the second side is ordered.
    case foreignKey(table: String, column: String, order: String?)
    /// `firstOrder` is the position of a link among those of its first row, `secondOrder` of its second.
    case joinTable(name: String, first: String, second: String, firstOrder: String?, secondOrder: String?)

    init(_ link: Link, _ model: CompiledModel, _ taken: TakenNames) {
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
        for link: Link, _ relationship: String, _ taken: TakenNames, _ model: CompiledModel
    ) -> String {
        let isShared = taken.relationships[relationship, default: 0] > 1
        let base = isShared ? "\(model.entities[link.first.entity].name)_\(relationship)" : relationship
        return taken.columns.contains("\(base)ID".lowercased()) ? "\(base)_ref" : "\(base)ID"
    }

    private static func lowerCamel(_ name: String) -> String {
        name.prefix(1).lowercased() + name.dropFirst()
    }
}
