import GRDB
import SyncCore
import SyncStore

/// The foreign keys through which a deletion of a row cascades to another row.
///
/// If a deletion is undone, all rows come back that such foreign keys connect with the row and that were deleted too:
/// the rows that own it, because a deletion of them would delete it again, and the rows that were deleted with these.
struct CascadeLinks {
    /// A foreign key between two synced entities. A deletion of the row at one end cascades to the row at the other end.
    private struct Link {
        let table: TrackedTable
        let column: TrackedTable.Column
        let destination: TrackedTable
        /// Whether a deletion of the referenced row cascades. Otherwise only a deletion of the referencing row does.
        let isOwnedByDestination: Bool
    }

    private let engine: SQLiteEngineStore
    private let db: Database
    private let links: [Link]

    init(_ engine: SQLiteEngineStore, _ db: Database) {
        (self.engine, self.db) = (engine, db)
        links = engine.tables.flatMap { table in
            table.columns.flatMap { column -> [Link] in
                guard case .toOne(let id) = column.field else { return [] }
                let link = engine.model.compiled[id]
                guard link.cascadesToFirst || link.first.relationship?.deleteRule == .cascade else { return [] }
                return engine.tables.filter { $0.entity.table == column.destination }.map {
                    Link(table: table, column: column, destination: $0, isOwnedByDestination: link.cascadesToFirst)
                }
            }
        }
    }

    // MARK: Rows that the service deleted

    /// Returns the rows that local changes restore: changed rows of entities with `editWins`, the rows that own changed
    /// rows of these entities, and the rows that are connected with these. The service deleted or lacks all of them.
    /// Call this method before the rows are deleted.
    func restoredRows() throws -> Set<TrackedRow> {
        let ledger = EngineLedger(db)
        let tables = engine.tables.filter { $0.registration.deletions == .editWins }
        guard !tables.isEmpty, try ledger.hasChanges() else { return [] }
        var deleted: Set<TrackedRow> = []
        for table in engine.tables {
            for tombstone in try ledger.tombstones(of: table, nil) {
                guard let key = try table.key.engineKey(of: tombstone.id, in: db) else { continue }
                deleted.insert(TrackedRow(table, key))
            }
        }
        guard !deleted.isEmpty else { return [] }
        let (created, updated) = (try ledger.changedKeys(.create), try ledger.changedKeys(.update))
        var rows: [TrackedRow] = []
        for table in tables {
            rows += [created, updated].flatMap { $0[table.number, default: []] }.map { TrackedRow(table, $0.value) }
            for link in links where link.table.number == table.number && link.isOwnedByDestination {
                let owners = try ledger.referencesOfChangedRows(of: table, in: link.column)
                rows += owners.map { TrackedRow(link.destination, $0) }
            }
        }
        return Set(
            try connected(to: rows.filter(deleted.contains)) { link, key in
                let (column, own) = (link.column.sql, link.table.keySQL)
                return try db.values("SELECT \(column) FROM \(link.table.sql) WHERE \(own) = ?", key)
            } referencing: { link, key in
                let (column, own) = (link.column.sql, link.table.isOwn("r"))
                return try db.values(
                    "SELECT r.\(link.table.keySQL) FROM \(link.table.sql) AS r WHERE r.\(column) = ?\(own)", key)
            } isIncluded: {
                deleted.contains($0)
            })
    }

    // MARK: Rows that were deleted locally

    /// Returns a locally deleted row, and the locally deleted rows of the service that are connected with it. Rows that
    /// other rows reference come first.
    func deletedRows(with key: DatabaseValue, of table: TrackedTable) throws -> [TrackedRow] {
        guard !links.isEmpty else { return [TrackedRow(table, key)] }
        let ledger = EngineLedger(db)
        let rows = try connected(to: [TrackedRow(table, key)]) { link, key in
            try [ledger.base(of: link.column.name, key, link.table)].compactMap(\.self)
        } referencing: { link, key in
            try ledger.deletedRows(of: link.table, referencing: key, in: link.column)
        } isIncluded: { row in
            guard let table = engine.table(of: row) else { return false }
            return try ledger.change(of: row.key, table)?.kind == .delete && ledger.isKnown(row.key, table)
        }
        guard rows.count > 1 else { return rows }
        let order = engine.parentsFirst.map(\.number)
        return order.flatMap { number in rows.filter { $0.table == number } }
    }

    // MARK: Search

    /// Returns the given rows, and all included rows that links connect with them. `referenced` returns the value of the
    /// foreign key of a row. `referencing` returns the keys of the rows whose foreign key references a row.
    private func connected(
        to rows: [TrackedRow], referenced: (Link, DatabaseValue) throws -> [DatabaseValue],
        referencing: (Link, DatabaseValue) throws -> [DatabaseValue], isIncluded: (TrackedRow) throws -> Bool
    ) throws -> [TrackedRow] {
        var found = rows
        var seen = Set(rows)
        var next = 0
        func add(_ keys: [DatabaseValue], of table: TrackedTable) throws {
            for row in keys.map({ TrackedRow(table, $0) }) where try !seen.contains(row) && isIncluded(row) {
                seen.insert(row)
                found.append(row)
            }
        }
        while next < found.count {
            let row = found[next]
            next += 1
            for link in links {
                if link.table.number == row.table { try add(referenced(link, row.key), of: link.destination) }
                if link.destination.number == row.table { try add(referencing(link, row.key), of: link.table) }
            }
        }
        return found
    }
}
