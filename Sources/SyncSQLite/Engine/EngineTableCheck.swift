import Foundation
import GRDB
import SyncCore

/// Finds invalid values in the engine's tables.
///
/// The tables are STRICT, so a value of a wrong type comes from a damaged file or from a program that edited the
/// schema.
enum EngineTableCheck {
    /// An error for a text in the engine's tables that should be JSON or a state and is not.
    fileprivate struct InvalidText: LocalizedError {
        let errorDescription: String?
    }

    /// Runs `body`. If `body` cannot decode a value, the error names the table, row and column of the first invalid
    /// value. Throws ``SyncError`` `databaseError` for such a value; other errors of `body`.
    static func located<T>(in db: Database, _ body: () throws -> T) throws -> T {
        do {
            return try body()
        } catch let failure where failure is RowDecodingError || failure is InvalidText {
            throw error(in: db)
        }
    }

    /// Parses JSON that the engine stored. Call this method inside ``located(in:_:)``, which reports invalid JSON.
    static func json(_ text: String) throws -> JSONValue {
        guard let value = try? JSONValue(parsing: text) else {
            throw InvalidText(errorDescription: "a value in the engine's tables is not JSON")
        }
        return value
    }

    private static func error(in db: Database) -> SyncError {
        let position = (try? firstDamage(in: db)) ?? "a value does not have the type of its column"
        return SyncError(.databaseError, "the engine's tables are damaged: \(position)")
    }

    // MARK: Search

    private static func firstDamage(in db: Database) throws -> String? {
        for table in try declaredTables() where try db.tableExists(table.name, in: "main") {
            let stored = Set(try db.columns(in: table.name, in: "main").map(\.name))
            let key = table.keyColumns.map { "'\($0) ' || substr(quote(\($0.quoted)), 1, 80)" }
                .joined(separator: " || ', ' || ")
            for column in table.columns {
                guard stored.contains(column.name) else { return "\(table.name) has no column '\(column.name)'" }
                let row = try String.fetchOne(
                    db, sql: "SELECT \(key) FROM main.\(table.name) WHERE \(column.isWrong) LIMIT 1")
                if let row { return "\(table.name), row \(row): '\(column.name)' \(column.fault)" }
            }
        }
        return nil
    }

    private struct Table {
        let name: String
        var keyColumns: [String] = []
        var columns: [Column] = []
    }

    private struct Column {
        let name: String
        /// The SQL condition that a value is invalid.
        let isWrong: String
        let fault: String

        init(_ name: String, type: String, isRequired: Bool, isJSON: Bool) {
            self.name = name
            var types = type == "ANY" ? [] : ["'\(type.lowercased())'"]
            if !isRequired, !types.isEmpty { types.append("'null'") }
            var conditions = types.isEmpty ? [] : ["typeof(\(name.quoted)) NOT IN (\(types.joined(separator: ", ")))"]
            if isRequired { conditions.append("\(name.quoted) IS NULL") }
            if isJSON { conditions.append("\(name.quoted) IS NOT NULL AND json_valid(\(name.quoted)) = 0") }
            isWrong = conditions.isEmpty ? "false" : conditions.joined(separator: " OR ")
            fault = isJSON ? "is not JSON" : "is not of the type \(type)"
        }
    }

    /// Returns the tables as this version declares them, read from an empty database.
    private static func declaredTables() throws -> [Table] {
        try DatabaseQueue().write { db in
            try EngineSchema.create(in: db)
            return try EngineSchema.tableNames.map { name in
                var table = Table(name: name)
                for column in try db.columns(in: name) {
                    let isKey = column.primaryKeyIndex > 0
                    if isKey { table.keyColumns.append(column.name) }
                    table.columns.append(
                        Column(
                            column.name, type: column.type, isRequired: column.isNotNull || isKey,
                            isJSON: EngineSchema.jsonColumns[name]?.contains(column.name) ?? false))
                }
                return table
            }
        }
    }
}

extension Row {
    /// Decodes a state.
    func state<State: RawRepresentable<String>>(atIndex index: Int) throws -> State {
        guard let state = State(rawValue: try decode(atIndex: index)) else {
            throw EngineTableCheck.InvalidText(errorDescription: "invalid state in the engine's tables")
        }
        return state
    }
}
