import GRDB
import SyncCore
import SyncStore

/// Selects the rows a relationship leads to, in its order; the argument is the row key of the owner.
struct TargetSQL {
    let select: RecordSQL
    private let relationship: CompiledRelationship
    private let ownerKeyColumn: String
    private let link: LinkLayout

    init(_ relationship: CompiledRelationship, of owner: CompiledEntity, _ layout: StoreLayout) {
        self.relationship = relationship
        select = RecordSQL(layout.model.entities[relationship.destination], layout)
        ownerKeyColumn = layout[owner.table].keyColumn
        link = layout[relationship.link]
    }

    /// What follows the columns.
    var rest: String {
        get throws {
            let byKey = try select.order(.byKey)
            let condition: String
            let order: String
            switch (link, relationship.end) {
            case (.foreignKey(let table, let column, _), .first):
                let target = "SELECT \(SchemaSQL.quoted(column)) FROM \(SchemaSQL.quoted(table)) "
                condition = "WHERE \(select.rowKey) = (\(target)WHERE \(SchemaSQL.quoted(ownerKeyColumn)) = ?)"
                order = byKey
            case (.foreignKey(_, let column, let position), .second):
                condition = "WHERE \(select.column(column)) = ?"
                order = LinkOrderSQL.terms(place: position.map { select.column($0) }, key: byKey)
            case (.joinTable(let name, let first, let second, let firstOrder, let secondOrder), let end):
                let (here, there) = end == .first ? (first, second) : (second, first)
                condition =
                    "JOIN \(SchemaSQL.quoted(name)) AS \"j\" ON \"j\".\(SchemaSQL.quoted(there)) = \(select.rowKey) "
                    + "WHERE \"j\".\(SchemaSQL.quoted(here)) = ?"
                let position = end == .first ? firstOrder : secondOrder
                order = LinkOrderSQL.terms(place: position.map { "\"j\".\(SchemaSQL.quoted($0))" }, key: byKey)
            }
            return "FROM \(select.from) \(condition) ORDER BY \(order)"
        }
    }
}
