import SyncCore

/// Generates the SQL of a trigger that gives entries of the engine another key. Entries that have that key already give
/// way.
///
/// The statements need no conflict clause. In a trigger, the clause of the firing statement, such as `INSERT OR IGNORE`,
/// overrides the clauses `OR REPLACE` and `OR IGNORE` of the statements.
struct EntryMove {
    /// The table with the entries.
    let table: String
    /// The column with the key.
    let column: String
    /// The SQL condition of the entries, apart from their key.
    let scope: String
    /// The other columns of a unique index with the key, apart from columns that ``scope`` determines. Nil if there is no
    /// such index.
    let identity: [String]?

    /// Returns the move of a row's entries in a table that identifies rows by entity and key.
    static func ofRow(in table: String, _ entity: Int) -> EntryMove {
        EntryMove(
            table: table, column: "k", scope: "\"e\" = \(entity)", identity: EngineSchema.identity(of: table))
    }

    /// Returns the statements.
    ///
    /// - Parameters:
    ///   - old: The SQL of the key of the entries.
    ///   - new: The SQL of their new key.
    ///   - condition: The SQL condition for the move.
    func statements(from old: String, to new: String, if condition: String = "true") -> [String] {
        let (name, key) = (table.quoted, column.quoted)
        let move = "UPDATE \(name) SET \(key) = \(new) WHERE \(scope) AND \(key) = \(old) AND \(condition)"
        guard let identity else { return [move] }
        let same = identity.map { " AND o.\($0.quoted) = \(name).\($0.quoted)" }.joined()
        return [
            """
            DELETE FROM \(name) WHERE \(scope) AND \(key) = \(new) AND \(condition) AND EXISTS (
              SELECT 1 FROM \(name) AS o WHERE \(scope) AND o.\(key) = \(old) AND o.\(key) IS NOT \(name).\(key)\(same))
            """, move,
        ]
    }
}
