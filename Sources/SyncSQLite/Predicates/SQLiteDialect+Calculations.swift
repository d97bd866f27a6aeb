import SyncCore

extension SQLiteDialect {
    func asDouble(_ expression: String) -> String { "CAST(\(expression) AS REAL)" }

    func operation(_ operation: PredicateTerm.Operation, _ left: String, _ right: String) -> String {
        "\(left) \(operation == .remainder ? "%" : operation.rawValue) \(right)"
    }

    /// SQLite goes on with floating-point numbers where a whole one has no room.
    func whole(_ expression: String) -> String {
        "(SELECT CASE typeof(v) WHEN 'integer' THEN v END FROM (SELECT \(expression) AS v))"
    }
}
