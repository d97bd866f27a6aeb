import GRDB

/// Writes the foreign key column of a link.
struct ForeignKeySQL {
    let table: String
    /// The table's own key.
    let key: String
    let column: String
    /// The column of positions among the rows with the same target.
    let order: String?
    /// Asks for a target's next position.
    let freePlace: String?
    let db: Database

    /// Points a row at a target, as the last of those that do.
    func set(_ row: DatabaseValue, to target: DatabaseValue) throws {
        let table = SchemaSQL.quoted(table)
        let column = SchemaSQL.quoted(column)
        let condition = "WHERE \(SchemaSQL.quoted(key)) = ?"
        guard let order = order.map(SchemaSQL.quoted), let freePlace else {
            try db.execute(sql: "UPDATE \(table) SET \(column) = ? \(condition)", arguments: [target, row])
            return
        }
        let place = try Int64.fetchOne(db, sql: freePlace, arguments: [target])
        try db.execute(
            sql: "UPDATE \(table) SET \(column) = ?, \(order) = ? \(condition)", arguments: [target, place, row])
    }

    /// Unlinks the rows that point at a target.
    func clear(pointingAt target: DatabaseValue) throws {
        let column = SchemaSQL.quoted(column)
        let position = order.map { ", \(SchemaSQL.quoted($0)) = NULL" } ?? ""
        try db.execute(
            sql: "UPDATE \(SchemaSQL.quoted(table)) SET \(column) = NULL\(position) WHERE \(column) = ?",
            arguments: [target])
    }
}
