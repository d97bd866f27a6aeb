import SyncCore

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

    init(_ tree: EntityTree, _ model: CompiledModel, hiddenKey: String) {
        name = model.declarations[tree.root].table ?? model.entities[tree.root].name
        columns = tree.attributes.map(\.columnName)
        hasHiddenKey = tree.keySlot == nil
        keyColumn = tree.keySlot.map { tree.attributes[$0].columnName } ?? hiddenKey
        hasEntityColumn = tree.hasSubEntities
    }
}
