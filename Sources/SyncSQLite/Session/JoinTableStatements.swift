import GRDB
import SyncCore
import SyncStore

/// The statements that read and write the join table of an association.
///
/// Statements that read return four columns: the keys of the first and the second row, and the positions of the link in
/// their lists.
struct JoinTableStatements {
    let table: String
    /// Whether the lists at one or both ends are ordered.
    let isOrdered: Bool
    private let db: Database
    private let name: String
    private let first: String
    private let second: String
    private let firstOrder: String?
    private let secondOrder: String?

    /// Returns nil for an association that is stored as a foreign key.
    init?(_ link: AssociationID, _ layout: StoreLayout, _ db: Database) {
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

    private func column(_ end: CompiledAssociation.End) -> String { end == .first ? first : second }
    func order(_ end: CompiledAssociation.End) -> String? { end == .first ? firstOrder : secondOrder }

    // MARK: Reading

    private var select: String {
        "SELECT \(first), \(second), \(firstOrder ?? "NULL"), \(secondOrder ?? "NULL") FROM \(table)"
    }

    /// Returns a statement that reads all join rows.
    func all() throws -> RawStatement { try RawStatement(db, select) }

    /// Returns a statement that reads the join rows whose key at one end is in a range, in the order of that key.
    func joinRows(of rows: KeyRange, at end: CompiledAssociation.End) throws -> RawStatement {
        let column = column(end)
        let statement = try RawStatement(db, select + KeyRange.condition(column) + " ORDER BY \(column)")
        rows.bind(to: statement)
        return statement
    }

    /// Returns a statement that reads the join rows of one row. The parameter is its key.
    func joinRows(ofRowAt end: CompiledAssociation.End) throws -> RawStatement {
        try RawStatement(db, select + " WHERE \(column(end)) = ?")
    }

    /// Returns a statement that reads one join row. The parameters are its two keys.
    func one() throws -> RawStatement { try RawStatement(db, select + " WHERE \(first) = ? AND \(second) = ?") }

    // MARK: Writing

    /// Returns a statement that deletes one join row. The parameters are its two keys.
    func removal() throws -> RawStatement {
        try RawStatement(db, "DELETE FROM \(table) WHERE \(first) = ? AND \(second) = ?")
    }

    /// Returns an insertion of join rows. The parameters of each join row are its two keys and its position at each
    /// ordered end.
    func insertion(of count: Int) throws -> BulkInsertion {
        let names = [first, second] + [firstOrder, secondOrder].compactMap { $0 }
        return try BulkInsertion(
            into: name, names: names, parameters: Array(1...names.count), width: names.count, rowCount: count, in: db)
    }
}
