import SyncCore
import SyncStore

/// The table of a many-to-many link.
enum JoinTableSQL {
    /// Nothing for a link that is a foreign key.
    static func statements(_ id: LinkID, _ layout: StoreLayout) -> [String] {
        guard case .joinTable(let name, let first, let second, let firstOrder, let secondOrder) = layout[id]
        else { return [] }
        let link = layout.model[id]
        let orders = [firstOrder, secondOrder].compactMap(\.self).map { "\(SchemaSQL.quoted($0)) INTEGER" }
        let parts =
            [key(first, link.first.table, layout), key(second, link.second.table, layout)] + orders
            + ["PRIMARY KEY (\(SchemaSQL.quoted(first)), \(SchemaSQL.quoted(second)))"]
        let table = SchemaSQL.quoted(name)
        return [
            "CREATE TABLE \(table) (\n  \(parts.joined(separator: ",\n  "))\n) STRICT",
            "CREATE INDEX \(SchemaSQL.quoted(layout.indexNames[id.index])) ON \(table) "
                + "(\(SchemaSQL.quoted(second)), \(SchemaSQL.quoted(first)))",
        ]
    }

    private static func key(_ column: String, _ table: TableID, _ layout: StoreLayout) -> String {
        let target = layout[table]
        return "\(SchemaSQL.quoted(column)) \(SchemaSQL.keyType(layout.model[table])) NOT NULL "
            + "REFERENCES \(SchemaSQL.quoted(target.name)) (\(SchemaSQL.quoted(target.keyColumn))) "
            + "ON UPDATE CASCADE ON DELETE CASCADE DEFERRABLE INITIALLY DEFERRED"
    }
}
