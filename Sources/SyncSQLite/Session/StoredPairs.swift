import GRDB
import SyncCore
import SyncStore

/// The join table of a link, read and written by the thousand.
///
/// Of what it reads, the columns are the key of the first row, of the second, and the place of either in the other's list.
struct StoredPairs {
    let table: String
    /// Whether rows at either end have their links in an order.
    let isOrdered: Bool
    private let db: Database
    private let name: String
    private let first: String
    private let second: String
    private let firstOrder: String?
    private let secondOrder: String?

    /// Nil for a link that is a foreign key.
    init?(_ link: LinkID, _ layout: StoreLayout, _ db: Database) {
        guard case .joinTable(let name, let first, let second, let firstOrder, let secondOrder) = layout[link]
        else { return nil }
        self.db = db
        self.name = name
        table = name.quoted
        self.first = first.quoted
        self.second = second.quoted
        self.firstOrder = firstOrder?.quoted
        self.secondOrder = secondOrder?.quoted
        isOrdered = firstOrder != nil || secondOrder != nil
    }

    private func column(_ end: Link.End) -> String { end == .first ? first : second }
    func order(_ end: Link.End) -> String? { end == .first ? firstOrder : secondOrder }

    // MARK: Reading

    private var select: String {
        "SELECT \(first), \(second), \(firstOrder ?? "NULL"), \(secondOrder ?? "NULL") FROM \(table)"
    }

    /// Reads all pairs.
    func all() throws -> RawStatement { try RawStatement(db, select) }

    /// Reads the pairs of the rows at one end whose keys are in a range, in the order of their keys.
    func pairs(of rows: KeyRange, at end: Link.End) throws -> RawStatement {
        let column = column(end)
        let statement = try RawStatement(db, select + KeyRange.condition(column) + " ORDER BY \(column)")
        rows.bind(to: statement)
        return statement
    }

    /// Reads the pairs of one row, whose key is the parameter.
    func pairs(ofRowAt end: Link.End) throws -> RawStatement {
        try RawStatement(db, select + " WHERE \(column(end)) = ?")
    }

    /// Reads one pair; its keys are the parameters.
    func one() throws -> RawStatement { try RawStatement(db, select + " WHERE \(first) = ? AND \(second) = ?") }

    // MARK: Writing

    /// Removes one pair; its keys are the parameters.
    func removal() throws -> RawStatement {
        try RawStatement(db, "DELETE FROM \(table) WHERE \(first) = ? AND \(second) = ?")
    }

    /// Adds pairs; the parameters of each are its keys, and its place at either end that has an order.
    func insertion(of count: Int) throws -> BulkInsertion {
        let names = [first, second] + [firstOrder, secondOrder].compactMap { $0 }
        return try BulkInsertion(
            into: name, names: names, parameters: Array(1...names.count), width: names.count, rowCount: count, in: db)
    }
}
