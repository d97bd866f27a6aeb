import SyncCore
import SyncStore

/// The SQL that reads the columns of a table in the order of its ``RowColumns``. All names are quoted.
final class RowSQL: Sendable {
    let columns: RowColumns
    let table: String
    let keyColumn: String
    /// All column names, for SELECT and INSERT.
    let names: [String]
    /// The composite key of each entity that declares one.
    let compositeKeys: [Int: KeyColumns]
    /// The column names, and the expressions of composite keys.
    private let selected: [String]

    init(_ hierarchy: EntityHierarchy, _ layout: StoreLayout) {
        let table = layout[hierarchy.id]
        self.table = table.name.quoted
        keyColumn = table.keyColumn.quoted
        var names = [table.keyColumn.quoted]
        if table.hasEntityColumn { names.append(TableLayout.entityColumn.quoted) }
        names += table.columns.map(\.quoted)
        let foreignKeyColumns = layout.foreignKeyColumns(of: hierarchy)
        names += foreignKeyColumns.map(\.column.quoted)
        names += foreignKeyColumns.compactMap { $0.order?.quoted }
        self.names = names
        let keys = hierarchy.entities.compactMap { id -> (entity: Int, key: KeyColumns)? in
            let entity = layout.model.entities[id]
            guard entity.keyOwner == id, entity.compositeKey != nil else { return nil }
            return KeyColumns(entity, layout).map { (id, $0) }
        }
        selected = names + keys.flatMap { $0.key.expressions(of: table.name) }
        compositeKeys = Dictionary(keys.map { ($0.entity, $0.key) }, uniquingKeysWith: { $1 })
        columns = RowColumns(
            hierarchy, layout, name: self.table, compositeKeys: keys.map { ($0.entity, $0.key.values) })
    }

    /// The indexes in `names` that an INSERT fills. A key that is also an attribute is twice in `names`, but only once
    /// here.
    var inserted: [Int] {
        var seen: Set<String> = []
        return names.indices.filter { seen.insert(names[$0]).inserted }
    }

    /// Returns the name of a column.
    func name(of column: TableColumn) -> String { names[columns.index(of: column)] }

    var select: String { "SELECT \(selected.joined(separator: ", ")) FROM \(table)" }
}

extension String {
    /// The string as an SQL identifier.
    var quoted: String { SchemaSQL.quoted(self) }

    /// The string as an SQL string literal.
    var literal: String { SchemaSQL.literal(self) }
}
