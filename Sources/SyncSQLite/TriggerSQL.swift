/// What makes a trigger of an engine's outbox.
enum TriggerSQL {
    /// - Parameters:
    ///   - event: `AFTER INSERT`, `BEFORE UPDATE OF "a"`, …
    ///   - condition: When it fires.
    ///   - statements: What it does, each with its semicolon.
    static func create(
        _ name: String, _ event: String, on table: String, when condition: String, _ statements: [String]
    ) -> String {
        """
        CREATE TRIGGER \(name.quoted) \(event) ON \(table.quoted)
        WHEN \(condition)
        BEGIN
          \(statements.joined(separator: "\n  "))
        END
        """
    }
}
