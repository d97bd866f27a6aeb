import GRDB

/// How many rows a table has, beside what a payload says of it.
enum TableSize {
    case empty
    /// No more than the limit asked for: worth reading whole.
    case small
    case large

    /// - Parameter table: The table's name, quoted.
    init(of table: String, limit: Int, in db: Database) throws {
        if try Bool.fetchOne(db, sql: "SELECT NOT EXISTS (SELECT 1 FROM \(table))") ?? true {
            self = .empty
        } else {
            // Passing rows by costs half of what counting them does.
            let isLarge = try Bool.fetchOne(
                db, sql: "SELECT EXISTS (SELECT 1 FROM \(table) LIMIT 1 OFFSET ?)", arguments: [limit])
            self = isLarge ?? false ? .large : .small
        }
    }
}
