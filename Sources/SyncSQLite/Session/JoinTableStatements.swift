import GRDB
import SyncCore
import SyncStore

/// The prepared statements of a ``JoinRowSQL``.
struct JoinTableStatements {
    /// Whether the lists at one or both ends are ordered.
    let isOrdered: Bool
    private let db: Database
    private let sql: JoinRowSQL

    /// Returns nil for an association that is stored as a foreign key.
    init?(_ link: AssociationID, _ layout: StoreLayout, _ db: Database) {
        guard let sql = JoinRowSQL(link, layout, SQLiteDialect()) else { return nil }
        self.db = db
        self.sql = sql
        isOrdered = sql.order(.first) != nil || sql.order(.second) != nil
    }

    /// The quoted name of the table.
    var table: String { sql.table }

    func order(_ end: CompiledAssociation.End) -> String? { sql.order(end) }

    // MARK: Reading

    /// Returns a statement that reads all join rows.
    func all() throws -> RawStatement { try RawStatement(db, sql.all) }

    /// Returns a statement that reads the join rows whose key at one end is in a range, in the order of that key.
    func joinRows(of rows: KeyRange, at end: CompiledAssociation.End) throws -> RawStatement {
        let column = sql.column(end)
        let statement = try RawStatement(db, sql.all + KeyRange.condition(column) + " ORDER BY \(column)")
        rows.bind(to: statement)
        return statement
    }

    /// Returns a statement that reads the join rows of one row. The parameter is its key.
    func joinRows(ofRowAt end: CompiledAssociation.End) throws -> RawStatement {
        try RawStatement(db, sql.joinRows(ofRowAt: end))
    }

    /// Returns a statement that reads one join row. The parameters are its two keys.
    func one() throws -> RawStatement { try RawStatement(db, sql.one) }

    // MARK: Writing

    /// Returns a statement that deletes one join row. The parameters are its two keys.
    func removal() throws -> RawStatement { try RawStatement(db, sql.removal) }

    /// Returns an insertion of join rows. The parameters of each join row are its two keys and its position at each
    /// ordered end.
    func insertion(of count: Int) throws -> BulkInsertion {
        let names = sql.columns
        return try BulkInsertion(
            into: sql.name, names: names, parameters: Array(1...names.count), width: names.count, rowCount: count,
            in: db)
    }
}
