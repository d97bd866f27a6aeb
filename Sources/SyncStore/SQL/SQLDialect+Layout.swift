import SyncCore

extension SQLDialect {
    /// A column of a table by its alias.
    package func column(_ name: String, of alias: String) -> String { "\(quoted(alias)).\(quoted(name))" }

    /// The condition that a row is of one of these entities, for tables of several: `"sync_entity" IN ('A', 'B')`.
    package func entityCondition(_ entities: [Int], _ layout: StoreLayout, alias: String? = nil) -> String {
        let name = TableLayout.entityColumn
        let names = entities.map { literal(layout.model.entities[$0].name) }
        return "\(alias.map { column(name, of: $0) } ?? quoted(name)) IN (\(names.joined(separator: ", ")))"
    }
}
