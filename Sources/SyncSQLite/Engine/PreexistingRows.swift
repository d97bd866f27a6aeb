import GRDB
import SyncCore
import SyncStore

/// Rows of a page that were stored before the engine: nobody knows whether what they hold is an older version of the service's, or
/// somebody's own. What the service has counts, and what that overwrites goes into the log.
struct PreexistingRows {
    private struct Presumed {
        let table: TrackedTable
        let key: DatabaseValue
        let values: [String: DatabaseValue]
    }

    /// What is known of one, as SQL: -1 says that nobody has heard the service say so.
    static let condition = "\"seq\" < 0 AND \"whole\" <> 3"

    static let ruling = ConflictOutcome(winner: .remote, why: "stored before the service was first asked")

    private let db: Database
    private var rows: [Presumed] = []
    private var noted: [Int: Set<BinaryComparedValue>] = [:]

    init(_ db: Database) { self.db = db }

    /// Before a row is written. One that was edited since has its edits taken off and put back.
    mutating func insert(_ standing: LocalRowState, of table: TrackedTable) throws {
        guard standing.isPreexisting, standing.state == .clean,
            noted[table.number, default: []].insert(standing.key.exact).inserted,
            let values = try table.domains.values(of: standing.key, in: db)
        else { return }
        rows.append(Presumed(table: table, key: standing.key, values: values))
    }

    /// After it is written.
    func log(_ outcome: inout AppliedChanges) throws {
        for row in rows {
            guard let there = try row.table.domains.values(of: row.key, in: db) else { continue }
            var lost = 0
            for column in row.table.columns {
                guard let here = row.values[column.name], !here.isNull, let value = there[column.name],
                    !here.isExactly(value)
                else { continue }
                lost += 1
                try ConflictLog(db).add(
                    row.table, row.key, domain: column.name, base: .null, local: here, remote: value, Self.ruling)
            }
            guard lost > 0 else { continue }
            outcome[row.table.entity.name].conflicts += 1
            outcome[row.table.entity.name].conflictingValues += lost
        }
    }
}
