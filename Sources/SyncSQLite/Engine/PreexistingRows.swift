import GRDB
import SyncCore
import SyncStore

/// The preexisting rows of a page. Their values may be edits, or older values of the service. The service's values
/// apply, and overwritten values are logged.
struct PreexistingRows {
    private struct Candidate {
        let table: TrackedTable
        let key: DatabaseValue
        let values: [String: DatabaseValue]
    }

    static let resolution = ConflictOutcome(winner: .remote, reason: .preexisting)

    private let db: Database
    private var rows: [Candidate] = []
    private var recorded: [Int: Set<BinaryComparedValue>] = [:]

    init(_ db: Database) { self.db = db }

    /// Records the values of a preexisting row before the page is written. Ignores other rows, and edited rows, which
    /// ``EditRebase`` merges.
    mutating func insert(_ standing: LocalRowState, of table: TrackedTable) throws {
        guard standing.isPreexisting, standing.state == .clean,
            recorded[table.number, default: []].insert(standing.key.exact).inserted,
            let values = try table.fieldReader.values(of: standing.key, in: db)
        else { return }
        rows.append(Candidate(table: table, key: standing.key, values: values))
    }

    /// Logs the overwritten values. Call this method after the page is written.
    func log(_ outcome: inout SyncReport) throws {
        for row in rows {
            guard let there = try row.table.fieldReader.values(of: row.key, in: db) else { continue }
            var lost = 0
            for column in row.table.columns {
                guard let here = row.values[column.name], !here.isNull, let value = there[column.name],
                    !here.isExactly(value)
                else { continue }
                lost += 1
                try ConflictLog(db).add(
                    row.table, row.key, field: column.name, base: .null, local: here, remote: value, Self.resolution)
            }
            guard lost > 0 else { continue }
            outcome[row.table.entity.name].conflicts += 1
            outcome[row.table.entity.name].conflictingValues += lost
        }
    }
}
