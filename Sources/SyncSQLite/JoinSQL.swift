import GRDB

/// Writes the rows of a join table.
struct JoinSQL {
    let table: String
    let first: String
    let second: String
    let firstOrder: String?
    let secondOrder: String?
    let db: Database

    /// Adds a link at the end of both rows' links; nothing if it is there.
    func add(_ firstKey: DatabaseValue, _ secondKey: DatabaseValue) throws {
        var columns = [first, second]
        var values = ["?", "?"]
        var arguments = [firstKey, secondKey]
        for (order, owner, key) in [(firstOrder, first, firstKey), (secondOrder, second, secondKey)] {
            guard let order else { continue }
            columns.append(order)
            values.append(
                "(SELECT ifnull(max(\(SchemaSQL.quoted(order))), -1) + 1 FROM \(SchemaSQL.quoted(table)) "
                    + "WHERE \(SchemaSQL.quoted(owner)) = ?)")
            arguments.append(key)
        }
        try db.execute(
            sql: "INSERT INTO \(SchemaSQL.quoted(table)) "
                + "(\(columns.map(SchemaSQL.quoted).joined(separator: ", "))) "
                + "VALUES (\(values.joined(separator: ", "))) "
                + "ON CONFLICT (\(SchemaSQL.quoted(first)), \(SchemaSQL.quoted(second))) DO NOTHING",
            arguments: StatementArguments(arguments))
    }
}
