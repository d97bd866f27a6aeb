import GRDB
import GRDBSQLite
package import Sync

/// The work of SQLite, counted by SQLite. It depends neither on time nor on the compiler.
package struct CountedWork: CustomStringConvertible {
    /// The number of runs of each statement, by its SQL.
    package fileprivate(set) var runs: [String: Int] = [:]
    /// The number of runs of statements that SQLite compiled for this run. Transactions and pragmas are not counted,
    /// because GRDB compiles them each time.
    package fileprivate(set) var compiled = 0
    /// The instructions of SQLite's virtual machine.
    package fileprivate(set) var steps = 0
    /// The instructions of each statement, by its SQL.
    package fileprivate(set) var stepsByStatement: [String: Int] = [:]
    /// The rows visited by full table scans.
    package fileprivate(set) var scanned = 0
    /// Indexes that SQLite made because the schema has none that fits.
    package fileprivate(set) var automaticIndexes = 0

    package var statements: Int { runs.values.reduce(0, +) }

    package func statements(beginning verbs: String...) -> Int {
        runs.reduce(0) { sum, run in verbs.contains { run.key.hasPrefix($0) } ? sum + run.value : sum }
    }

    package var description: String { "\(statements) statements, \(steps) steps, \(scanned) rows scanned, \(runs)" }
}

extension DataStack {
    /// What SQLite does on the writing connection while `body` runs.
    package func counting(_ body: () async throws -> Void) async throws -> CountedWork {
        let counter = WorkCounter()
        try await database.writeWithoutTransaction { db in counter.start(on: db) }
        do {
            try await body()
        } catch {
            try await database.writeWithoutTransaction { db in counter.stop(on: db) }
            throw error
        }
        return try await database.writeWithoutTransaction { db in
            counter.stop(on: db)
            return counter.work
        }
    }
}

/// Asks every statement that ends what it took. Unchecked: it is used only where the connection is, one at a time.
private final class WorkCounter: @unchecked Sendable {
    private(set) var work = CountedWork()

    func start(on db: Database) {
        let itself = Unmanaged.passUnretained(self).toOpaque()
        sqlite3_trace_v2(
            db.sqliteConnection, UInt32(SQLITE_TRACE_PROFILE),
            { _, context, statement, _ in
                guard let context, let statement else { return 0 }
                Unmanaged<WorkCounter>.fromOpaque(context).takeUnretainedValue().add(OpaquePointer(statement))
                return 0
            }, itself)
    }

    func stop(on db: Database) { sqlite3_trace_v2(db.sqliteConnection, 0, nil, nil) }

    private func add(_ statement: OpaquePointer) {
        guard let sql = sqlite3_sql(statement) else { return }
        work.runs[String(cString: sql), default: 0] += 1
        if sqlite3_stmt_status(statement, SQLITE_STMTSTATUS_RUN, 0) == 1, !Self.isControl(String(cString: sql)) {
            work.compiled += 1
        }
        let steps = taken(SQLITE_STMTSTATUS_VM_STEP, by: statement)
        work.steps += steps
        work.stepsByStatement[String(cString: sql), default: 0] += steps
        work.scanned += taken(SQLITE_STMTSTATUS_FULLSCAN_STEP, by: statement)
        work.automaticIndexes += taken(SQLITE_STMTSTATUS_AUTOINDEX, by: statement)
    }

    private static func isControl(_ sql: String) -> Bool {
        ["BEGIN ", "COMMIT ", "SAVEPOINT ", "RELEASE ", "PRAGMA "].contains { sql.hasPrefix($0) }
    }

    private func taken(_ counter: Int32, by statement: OpaquePointer) -> Int {
        Int(sqlite3_stmt_status(statement, counter, 1))
    }
}
