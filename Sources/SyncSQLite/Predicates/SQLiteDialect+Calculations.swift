import SyncCore

extension SQLiteDialect {
    func asDouble(_ expression: String) -> String { "CAST(\(expression) AS REAL)" }

    /// SQLite goes on with floating-point numbers where a whole one has no room.
    func whole(_ operation: PredicateTerm.Operation, _ left: String, _ right: String) -> String {
        let symbol = operation == .remainder ? "%" : operation.rawValue
        return "(SELECT CASE typeof(v) WHEN 'integer' THEN v END FROM (SELECT \(left) \(symbol) \(right) AS v))"
    }

    /// A division by zero, and what is no number, is NULL anyway.
    func floating(_ operation: PredicateTerm.Operation, _ left: String, _ right: String) -> String {
        "(\(left) \(operation.rawValue) \(right))"
    }
}
