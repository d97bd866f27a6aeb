import GRDB
import SyncCore
import SyncStore

/// Links of a store to rows that are not there, and those of others to rows of it. What an app has in tables of its own
/// is not ours to judge.
struct ForeignKeyViolations {
    private static let shownCount = 5

    private let places: [String]

    /// - Parameter isStrictlyOwn: Whether links of other tables to rows of the store are left out as well.
    init(_ db: Database, _ layout: StoreLayout, ofOwnTables isStrictlyOwn: Bool = false) throws {
        let own = Set((layout.tables.map(\.name) + layout.pairTables).map(\.foldedForSQL))
        let rows = try Row.fetchCursor(db, sql: "PRAGMA foreign_key_check")
        var places: [String] = []
        while places.count < Self.shownCount, let row = try rows.next() {
            let table = row["table"] as String? ?? "?"
            let leadsHere = own.contains((row["parent"] as String? ?? "").foldedForSQL)
            guard own.contains(table.foldedForSQL) || leadsHere && !isStrictlyOwn else { continue }
            places.append(try Self.name(of: row["rowid"], in: table, db, layout) ?? "\(table)")
        }
        self.places = places
    }

    /// A row by its key, or by its number in a table that is none of an entity's; nil if it has neither.
    private static func name(
        of rowID: Int64?, in table: String, _ db: Database, _ layout: StoreLayout
    ) throws -> String? {
        guard let rowID else { return nil }
        let tree = layout.model.trees.first { layout[$0.id].name.foldedForSQL == table.foldedForSQL }
        guard let tree else { return "\(table) row \(rowID)" }
        let select = RecordSQL(layout.model.entities[tree.root], layout)
        let sql = "SELECT \(select.columns) FROM \(select.from) WHERE \(select.column("rowid")) = ?"
        let record = try select.fetch(db, sql, [rowID]).first
        return record.map { "\($0.entity) \($0.key)" } ?? "\(table) row \(rowID)"
    }

    /// - Throws: ``SyncError`` `storeFailure` if there are any.
    func refuse() throws {
        guard !places.isEmpty else { return }
        throw SyncError(
            .storeFailure, "links to rows that are not stored would be left: \(places.joined(separator: ", "))")
    }
}

extension StoreLayout {
    /// The join tables, by name.
    var pairTables: [String] {
        links.compactMap { link in
            guard case .joinTable(let name, _, _, _, _) = link else { return nil }
            return name
        }
    }
}
