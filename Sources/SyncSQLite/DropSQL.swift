import SyncStore

/// The statements that delete every row.
struct DropSQL {
    let statements: [String]

    /// Links go first: a chain of cascades can be longer than SQLite follows.
    ///
    /// - Parameter isAdopted: Whether the tables are an app's, where a foreign key may have to lead somewhere.
    init(_ layout: StoreLayout, isAdopted: Bool = false) {
        var unlink: [String] = []
        for link in layout.links {
            switch link {
            case .joinTable(let name, _, _, _, _): unlink.append("DELETE FROM \(SchemaSQL.quoted(name))")
            case .foreignKey(let table, let column, _):
                if isAdopted { continue }
                let column = SchemaSQL.quoted(column)
                unlink.append("UPDATE \(SchemaSQL.quoted(table)) SET \(column) = NULL WHERE \(column) IS NOT NULL")
            }
        }
        statements =
            unlink + layout.tables.map { "DELETE FROM \(SchemaSQL.quoted($0.name))" }
            + ["DELETE FROM \"sync_pending\""]
    }
}
