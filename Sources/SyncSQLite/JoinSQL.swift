import GRDB
import SyncCore
import SyncStore

/// Writes the rows of a join table.
struct JoinSQL {
    let table: String
    let first: String
    let second: String
    let firstOrder: String?
    let secondOrder: String?
    /// Ask for the next positions of a first and of a second row.
    private let freePlaces: [Link.End: String]
    private let db: Database

    /// Nil for a link that is a foreign key.
    init?(_ link: LinkID, _ layout: StoreLayout, _ db: Database) {
        guard case .joinTable(let name, let first, let second, let firstOrder, let secondOrder) = layout[link]
        else { return nil }
        (table, self.first, self.second) = (name, first, second)
        (self.firstOrder, self.secondOrder) = (firstOrder, secondOrder)
        freePlaces = [Link.End.first, .second].reduce(into: [:]) { $0[$1] = FreePlaceSQL.query(link, $1, layout) }
        self.db = db
    }

    /// Adds a link at the end of both rows' links; nothing if it is there.
    func add(_ firstKey: DatabaseValue, _ secondKey: DatabaseValue) throws {
        var columns = [first, second]
        var values = ["?", "?"]
        var arguments = [firstKey, secondKey]
        for (order, end, key) in [(firstOrder, Link.End.first, firstKey), (secondOrder, .second, secondKey)] {
            guard let order, let freePlace = freePlaces[end] else { continue }
            columns.append(order)
            values.append("?")
            arguments.append(try DatabaseValue.fetchOne(db, sql: freePlace, arguments: [key]) ?? .null)
        }
        try db.execute(
            sql: "INSERT INTO \(SchemaSQL.quoted(table)) "
                + "(\(columns.map(SchemaSQL.quoted).joined(separator: ", "))) "
                + "VALUES (\(values.joined(separator: ", "))) "
                + "ON CONFLICT (\(SchemaSQL.quoted(first)), \(SchemaSQL.quoted(second))) DO NOTHING",
            arguments: StatementArguments(arguments))
    }
}
