import GRDB
import SyncCore
import SyncStore

/// Rebases the edits of rows in a page. It removes the edits before the page is written, and reapplies them afterwards.
/// A three-way merge of base, local and remote values determines the result. See ``RowMerge``.
struct EditRebase {
    private let engine: SQLiteEngineStore
    private let db: Database
    /// The difference between the service's clock and the local clock, in milliseconds.
    private let clock: Int64
    private var rows: [RowMerge] = []
    private var revertedRows: Set<TrackedRow> = []
    /// The rows in conflict.
    private(set) var conflictingRows: Set<TrackedRow> = []
    private var syncedColumns: [Int: (names: Set<String>, formerPaths: [String: [[String]]])] = [:]

    init(_ engine: SQLiteEngineStore, _ db: Database, clock: Int64) {
        (self.engine, self.db, self.clock) = (engine, db, clock)
    }

    /// Removes the edits of a row. Does nothing if they were removed before, or if the row is not stored. `standing` is
    /// the state of the row; nil for a row that is only linked to rows of the page. `pulled` is its record; nil if the
    /// page has the row only inside another record.
    mutating func revert(
        _ key: DatabaseValue, of table: TrackedTable, _ standing: LocalRowState? = nil, pulled: RemoteRecord? = nil
    ) throws {
        guard revertedRows.insert(TrackedRow(table, key)).inserted,
            let local = try table.fieldReader.values(of: key, in: db)
        else { return }
        let columns = try syncedColumns(of: table)
        var row = try RowMerge(
            key, table, local, standing, pulled, syncedColumns: columns.names, formerPaths: columns.formerPaths,
            clock: clock, engine, db)
        try row.revert()
        rows.append(row)
    }

    private mutating func syncedColumns(
        of table: TrackedTable
    ) throws -> (names: Set<String>, formerPaths: [String: [[String]]]) {
        if let known = syncedColumns[table.number] { return known }
        let columns = SyncedColumns(table, db)
        let found = (names: try columns.names(), formerPaths: try columns.formerPaths())
        syncedColumns[table.number] = found
        return found
    }

    /// Merges the removed edits into the rows that the page wrote. Returns the number of rows and of values in
    /// conflict, by entity.
    mutating func reapply() throws -> SyncReport {
        var outcome = SyncReport()
        for var row in rows {
            try row.reapply()
            guard row.conflicts > 0 else { continue }
            conflictingRows.insert(TrackedRow(row.table, row.key))
            outcome[row.table.entity.name].conflicts += 1
            outcome[row.table.entity.name].conflictingValues += row.conflicts
        }
        return outcome
    }
}

/// The preexisting rows of a page. Their values may be edits, or older values of the service. The service's values
/// apply, and overwritten values are logged.
struct PreexistingRows {
    private struct Candidate {
        let table: TrackedTable
        let key: DatabaseValue
        let values: [String: DatabaseValue]
        /// The lists of the row, in the order of ``TrackedTable/joinTables``.
        let lists: [[DatabaseValue]]
        /// The fields that were edited since. ``EditRebase`` merges them.
        let edited: Set<String>
    }

    static let resolution = ConflictOutcome(winner: .remote, reason: .preexisting)

    private let engine: SQLiteEngineStore
    private let db: Database
    private var rows: [Candidate] = []
    private var recorded: Set<TrackedRow> = []

    init(_ engine: SQLiteEngineStore, _ db: Database) { (self.engine, self.db) = (engine, db) }

    /// Records the values of a preexisting row before the page is written. Ignores other rows.
    mutating func insert(_ standing: LocalRowState, of table: TrackedTable) throws {
        guard standing.isPreexisting, standing.state == .clean || standing.state == .updated,
            recorded.insert(TrackedRow(table, standing.key)).inserted,
            let values = try table.fieldReader.values(of: standing.key, in: db)
        else { return }
        let lists = try table.joinTables.map { try engine.list($0, of: standing.key, table, in: db) }
        let ledger = EngineLedger(db)
        let joinTables = try table.joinTables.filter { try ledger.hasJoinEdits(of: standing.key, $0) }
        let edited = try Set(ledger.bases(of: standing.key, table).keys).union(joinTables.map(\.field))
        rows.append(Candidate(table: table, key: standing.key, values: values, lists: lists, edited: edited))
    }

    /// Logs the overwritten values. Call this method after the page is written. `counted` has the rows whose conflicts
    /// are counted already.
    func log(_ outcome: inout SyncReport, counted: Set<TrackedRow>) throws {
        for row in rows {
            guard let there = try row.table.fieldReader.values(of: row.key, in: db) else { continue }
            var lost = 0
            for column in row.table.columns where !row.edited.contains(column.name) {
                guard let here = row.values[column.name], !here.isNull, let value = there[column.name],
                    !here.isExactly(value)
                else { continue }
                lost += 1
                try ConflictLog(db).add(
                    row.table, row.key, field: column.name, base: .null, local: here, remote: value, Self.resolution)
            }
            for (joinTable, here) in zip(row.table.joinTables, row.lists) {
                if here.isEmpty || row.edited.contains(joinTable.field) { continue }
                let there = try engine.list(joinTable, of: row.key, row.table, in: db)
                guard Self.isLost(here, there, joinTable) else { continue }
                lost += 1
                try ConflictLog(db).add(
                    row.table, row.key, field: joinTable.field, base: .null, local: LinkedRowList.text(here),
                    remote: LinkedRowList.text(there), Self.resolution)
            }
            guard lost > 0 else { continue }
            if !counted.contains(TrackedRow(row.table, row.key)) { outcome[row.table.entity.name].conflicts += 1 }
            outcome[row.table.entity.name].conflictingValues += lost
        }
    }

    /// Returns whether a list lacks rows that it had, or has them in another order.
    private static func isLost(
        _ here: [DatabaseValue], _ there: [DatabaseValue], _ joinTable: TrackedTable.JoinTable
    ) -> Bool {
        !Set(here.map(\.exact)).isSubset(of: there.map(\.exact))
            || joinTable.isOrdered && ListOrderMerge.isMoved(there, from: here)
    }
}
