import GRDB
import SyncCore

/// What does not fit in one table of an app's, and how it is mended.
struct TableProblems {
    enum Remedy {
        /// A change of the statement that makes the table, which is made anew for it.
        case definition((inout TableDefinition) -> Void)
        /// As `definition`, and the values of a column are replaced by the keys of the rows that they lead to.
        case lookup(KeyLookup, (inout TableDefinition) -> Void)
        /// A statement that changes values. It runs before the table is made anew, where others look values up.
        case values(String)
        /// Another column.
        case column(String)
        case statement(String)
        case none
    }

    let table: AppTable
    private var noted: [(found: Found, remedy: Remedy)] = []

    /// A problem, and the table and column that it is about.
    struct Found {
        let table: String
        let column: String?
        var problem: SyncError.Problem
    }

    init(_ table: AppTable) { self.table = table }

    /// Whether values are looked up in another table, whose own values have to be mended before.
    var hasLookups: Bool { noted.contains { if case .lookup = $0.remedy { true } else { false } } }

    /// What concerns the table as a whole.
    mutating func note(_ message: String, _ remedy: Remedy) { note(in: nil, message, remedy) }

    mutating func note(_ column: String, _ message: String, _ remedy: Remedy) { note(in: column, message, remedy) }

    private mutating func note(in column: String?, _ message: String, _ remedy: Remedy) {
        let path = (["tables", table.name] + [column].compactMap(\.self)).joined(separator: ".")
        noted.append(
            (Found(table: table.name, column: column, problem: .init(path: path, message: message)), remedy))
    }

    /// All of them, those first whose statements have to run first.
    ///
    /// - Parameter isMended: Whether SQL is wanted for what concerns a column, or the table as a whole.
    func problems(_ db: Database, _ isMended: (AppTable, String?) -> Bool) throws -> [Found] {
        let remedies = noted.filter { isMended(table, $0.found.column) }.map(\.remedy)
        let lookups = remedies.compactMap { if case .lookup(let lookup, _) = $0 { lookup } else { nil } }
        let rebuilding = try rebuiltDefinition(remedies).map { try TableRebuild(table, $0, lookups, db).sql }
        var values: [Found] = []
        var first: [Found] = []
        var rest: [Found] = []
        for (found, remedy) in noted {
            var found = found
            switch isMended(table, found.column) ? remedy : .none {
            case .values(let sql):
                found.problem.sql = sql
                values.append(found)
            case .definition, .lookup:
                found.problem.sql = rebuilding
                first.append(found)
            case .column(let column):
                found.problem.sql = rebuilding ?? "ALTER TABLE \(table.name.quoted) ADD COLUMN \(column);"
                first.append(found)
            case .statement(let sql):
                found.problem.sql = sql
                rest.append(found)
            case .none: rest.append(found)
            }
        }
        return values + first + rest
    }

    /// The table as it has to be; nil if columns can be added to the one there is.
    private func rebuiltDefinition(_ remedies: [Remedy]) -> TableDefinition? {
        let isNeeded = remedies.contains {
            switch $0 {
            case .definition, .lookup: true
            case .column, .values, .statement, .none: false
            }
        }
        guard isNeeded, var definition = TableDefinition(table.sql) else { return nil }
        for remedy in remedies {
            switch remedy {
            case .definition(let change), .lookup(_, let change): change(&definition)
            case .column(let column): definition.add(column: column)
            case .values, .statement, .none: break
            }
        }
        return definition
    }
}
