import Sync

/// A row that no device creates. Devices and another client reference it before another client creates it, if at all.
enum AbsentRow {
    private static let numbers = 1_000_000..<lastNumber
    /// The last number that the service assigned as ID before the history.
    static let lastNumber = 1_900_000
    /// The pattern of the names of such rows after another client created them. No device edits them.
    static let names = "late*"
    private static let prefix = "absent"

    /// Returns the ID of a row. Each number identifies another row.
    static func id(_ number: Int, isText: Bool) -> JSONValue {
        isText ? .string("\(prefix)\(number)") : JSONValue(numbers.lowerBound + number)
    }

    static func contains(_ id: JSONValue) -> Bool {
        switch id {
        case .string(let text): text.hasPrefix(prefix)
        case .number(let text): Int(text).map { numbers.contains($0) } ?? false
        case .bool, .null, .array, .object: false
        }
    }

    /// Returns the SQL condition that a value is the ID of such a row.
    static func condition(_ value: String) -> String {
        """
        (typeof(\(value)) = 'integer' AND \(value) BETWEEN \(numbers.lowerBound) AND \(lastNumber)
          OR \(value) GLOB '\(prefix)*')
        """
    }
}

/// SQL of the references of rows. A reference to a row that is not stored is a pending reference.
enum ReferenceSQL {
    /// The relationship of each foreign key column.
    static let relationships = ["projectID": "project", "badgeID": "badge", "mateID": "mate"]

    /// Returns the value of a column of a row. For a foreign key with a pending reference, it is the key of the row that
    /// is not stored.
    ///
    /// - Parameters:
    ///   - row: The name or the alias of the table.
    ///   - table: The table of pending references.
    static func value(
        of column: String, _ entity: String, _ row: String, pendingIn table: String = "sync_pending"
    ) -> String {
        guard let relationship = relationships[column] else { return "\(row).\(column)" }
        return "coalesce(\(pending(relationship, entity, row, in: table)), \(row).\(column))"
    }

    /// Returns the value of a foreign key column like ``value(of:_:_:pendingIn:)``. A pending reference to a row that
    /// existed, and was deleted, does not count.
    static func liveValue(of column: String, _ entity: String, _ row: String) -> String {
        let pending = pending(relationships[column] ?? "", entity, row, in: "sync_pending")
        return "CASE WHEN \(AbsentRow.condition(pending)) THEN \(pending) ELSE \(row).\(column) END"
    }

    private static func pending(_ relationship: String, _ entity: String, _ row: String, in table: String) -> String {
        """
        (SELECT target_key FROM \(table) WHERE owner_entity = '\(entity)' AND owner_key = +\(row).remoteID
          AND relationship = '\(relationship)')
        """
    }
}
