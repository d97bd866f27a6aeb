import GRDB
import GRDBSQLite
import Sync

/// The statements that a store's connection runs, with the work of each as SQLite counts it.
///
/// `@unchecked Sendable`: only used by the connection, one call at a time, and read afterwards.
final class StatementWatch: @unchecked Sendable {
    struct Work {
        var runs = 0
        /// Instructions of SQLite's virtual machine.
        var steps = 0
        /// Rows scanned without an index.
        var scannedRows = 0
    }

    private(set) var work: [String: Work] = [:]

    /// All statements that ran, sorted.
    var statements: [String] { work.keys.sorted() }
    var steps: Int { work.values.reduce(0) { $0 + $1.steps } }

    /// Records the statements of the store's connection while `body` runs. Those of a store in a file are writes only.
    static func watch(_ stack: DataStack, _ body: () async throws -> Void) async throws -> StatementWatch {
        let watch = StatementWatch()
        try await stack.write { db in watch.start(db) }
        do {
            try await body()
            try await stack.write { db in watch.stop(db) }
        } catch {
            try await stack.write { db in watch.stop(db) }
            throw error
        }
        return watch
    }

    private func start(_ db: Database) {
        let context = Unmanaged.passUnretained(self).toOpaque()
        sqlite3_trace_v2(
            db.sqliteConnection, UInt32(SQLITE_TRACE_PROFILE),
            { _, context, statement, _ in
                guard let context, let statement else { return 0 }
                Unmanaged<StatementWatch>.fromOpaque(context).takeUnretainedValue().note(OpaquePointer(statement))
                return 0
            }, context)
    }

    private func stop(_ db: Database) {
        sqlite3_trace_v2(db.sqliteConnection, 0, nil, nil)
    }

    /// Adds the work of a finished statement.
    private func note(_ statement: OpaquePointer) {
        guard let text = sqlite3_sql(statement) else { return }
        var work = work[String(cString: text)] ?? Work()
        work.runs += 1
        work.steps += Int(sqlite3_stmt_status(statement, SQLITE_STMTSTATUS_VM_STEP, 1))
        work.scannedRows += Int(sqlite3_stmt_status(statement, SQLITE_STMTSTATUS_FULLSCAN_STEP, 1))
        self.work[String(cString: text)] = work
    }
}
