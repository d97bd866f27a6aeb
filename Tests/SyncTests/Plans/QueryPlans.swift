import GRDB
import Sync

/// The query plans of statements, from `EXPLAIN QUERY PLAN`.
struct QueryPlans {
    let watch: StatementWatch
    /// The steps of each statement's plan.
    private let details: [String: [String]]

    init(_ watch: StatementWatch, _ stack: DataStack) async throws {
        self.watch = watch
        let statements = watch.statements.filter { text in
            ["SELECT", "INSERT", "UPDATE", "DELETE", "WITH"].contains { text.hasPrefix($0) }
        }
        details = try await stack.read { db in
            var details: [String: [String]] = [:]
            for sql in statements {
                let explanation = try db.makeStatement(sql: "EXPLAIN QUERY PLAN \(sql)")
                explanation.setUncheckedArguments(StatementArguments())
                details[sql] = try Row.fetchAll(explanation).map { $0["detail"] }
            }
            return details
        }
    }

    /// Returns the statements that scan a whole table, or build an index over it.
    ///
    /// - Parameter most: The most rows that a statement with a `LIMIT` may scan.
    func scans(most: Int) -> [String] {
        details.keys.sorted().flatMap { sql -> [String] in
            let steps = scanningSteps(sql)
            guard !steps.isEmpty else { return [] }
            let work = watch.work[sql] ?? .init()
            if isLimited(sql), work.scannedRows <= most * work.runs { return [] }
            return steps.map { "\($0): \(sql)" }
        }
    }

    /// Returns how often a whole table is scanned.
    func scans(of table: String) -> Int {
        details.keys.filter { !isLimited($0) }.reduce(0) { count, sql in
            let steps = scanningSteps(sql).filter { step in
                let name = step.split(separator: " ")[1]
                return name == table || sql.contains("FROM \"\(table)\" AS \(name)")
            }
            return count + steps.count * (watch.work[sql]?.runs ?? 0)
        }
    }

    private func scanningSteps(_ sql: String) -> [String] {
        (details[sql] ?? []).filter { step in
            step.contains("AUTOMATIC")
                || step.hasPrefix("SCAN ")
                    && ![
                        "SCAN CONSTANT ROW", "SCAN (subquery", "SCAN json_each", "SCAN sqlite_", "SCAN main.sqlite_",
                        "SCAN pragma_",
                    ].contains { step.hasPrefix($0) }
        }
    }

    /// Whether a statement only checks that a table has any row, or more than a number of rows.
    private func isLimited(_ sql: String) -> Bool {
        sql.hasPrefix("SELECT count(*) FROM (SELECT 1 FROM") && sql.contains(" LIMIT ")
            || sql.hasPrefix("SELECT EXISTS (SELECT 1 FROM") && sql.hasSuffix(" LIMIT 1 OFFSET ?)")
            || sql.hasPrefix("SELECT NOT EXISTS (SELECT 1 FROM") && !sql.contains("WHERE")
            || sql == "SELECT EXISTS (SELECT 1 FROM sync_pending)"
    }
}
