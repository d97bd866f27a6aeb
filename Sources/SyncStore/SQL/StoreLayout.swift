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
        let taken = model.trees.map { TakenNames($0, model) }
        links = model.links.map { LinkLayout($0, model, taken[$0.first.table.index]) }
        indexNames = Self.distinct(links.map(\.indexName))
    }

    package subscript(_ id: TableID) -> TableLayout { tables[id.index] }

    package subscript(_ id: LinkID) -> LinkLayout { links[id.index] }

    /// The columns of a table's foreign keys, with those of the places of its rows among the rows of the same target.
    package func foreignKeyColumns(of tree: EntityTree) -> [(column: String, order: String?)] {
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
