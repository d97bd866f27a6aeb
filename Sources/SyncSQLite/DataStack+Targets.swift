public import GRDB
import SyncCore

extension DataStack {
    /// The rows a relationship leads to: in their order if it is ordered, else by key.
    ///
    /// A to-one relationship leads to one row or none.
    /// - Throws: ``SyncError`` `unknownRelationship` or `storeFailure`.
    public func targets(of record: Record, _ relationship: String) throws -> [Record] {
        try reading { db in try self.targets(of: record, relationship, in: db) }
    }

    /// The rows a relationship leads to: in their order if it is ordered, else by key.
    public func targets(of record: Record, _ relationship: String) async throws -> [Record] {
        try await reading { db in try self.targets(of: record, relationship, in: db) }
    }

    /// The rows a relationship leads to, inside ``read(_:)-(_)`` or ``write(_:)-(_)``.
    public func targets(of record: Record, _ relationship: String, in db: Database) throws -> [Record] {
        guard let relationship = record.type.relationship(named: relationship) else {
            throw StoreFailure.unknownRelationship(relationship, of: record.type)
        }
        let select = RecordSQL(model.compiled.entities[relationship.destination], layout)
        let byKey = try select.order(.byKey)
        let from: String
        let order: String
        switch (layout.links[relationship.link], relationship.end) {
        case (.foreignKey(let table, let column, _), .first):
            let owner = layout.tables[record.type.tree].keyColumn
            let target = "SELECT \(SchemaSQL.quoted(column)) FROM \(SchemaSQL.quoted(table)) "
            from = "WHERE \(select.rowKey) = (\(target)WHERE \(SchemaSQL.quoted(owner)) = ?)"
            order = byKey
        case (.foreignKey(_, let column, let position), .second):
            from = "WHERE \(select.column(column)) = ?"
            order = position.map { "\(select.column($0)) NULLS LAST, \(byKey)" } ?? byKey
        case (.joinTable(let name, let first, let second, let firstOrder, let secondOrder), let end):
            let (here, there) = end == .first ? (first, second) : (second, first)
            from =
                "JOIN \(SchemaSQL.quoted(name)) AS \"j\" ON \"j\".\(SchemaSQL.quoted(there)) = \(select.rowKey) "
                + "WHERE \"j\".\(SchemaSQL.quoted(here)) = ?"
            let position = end == .first ? firstOrder : secondOrder
            order = position.map { "\"j\".\(SchemaSQL.quoted($0)) NULLS LAST, \(byKey)" } ?? byKey
        }
        return try select.fetch(
            db, "SELECT \(select.columns) FROM \(select.from) \(from) ORDER BY \(order)", [record.rowKey])
    }
}
