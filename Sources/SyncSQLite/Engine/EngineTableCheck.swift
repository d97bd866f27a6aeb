import Foundation
import GRDB
import SyncCore

/// Finds invalid values in the engine's tables.
///
/// The tables are STRICT, so a value of a wrong type comes from a damaged file or from a program that edited the
/// schema.
enum EngineTableCheck {
    /// An error for a value in the engine's tables that does not have the expected type, or is no JSON or no state.
    fileprivate struct InvalidValue: LocalizedError {
        let errorDescription: String?
    }

    /// Runs `body`. If `body` cannot decode a value, the error names the table, row and column of the first invalid
    /// value. Throws ``SyncError`` `databaseError` for such a value, and if the tables were removed; other errors of
    /// `body`.
    static func located<T>(in db: Database, _ body: () throws -> T) throws -> T {
        do {
            return try body()
        } catch let failure where failure is RowDecodingError || failure is InvalidValue {
            throw error(in: db)
        } catch let failure as DatabaseError
            where isOfMissingTable(failure) && (try? EngineSchema.hasLeaseTable(in: db)) == false
        {
            throw SyncError(
                .databaseError, "the sync state of this database was removed (removeSyncState)",
                underlyingError: failure, suggestion: "Create a new SyncEngine.")
        }
    }

    private static func isOfMissingTable(_ error: DatabaseError) -> Bool {
        ["no such table: sync_", "no such table: main.sync_"].contains { error.message?.hasPrefix($0) == true }
    }

    /// Parses JSON that the engine stored. Call this method inside ``located(in:_:)``, which reports invalid JSON.
    static func json(_ text: String) throws -> JSONValue {
        guard let value = try? JSONValue(parsing: text) else {
            throw InvalidValue(errorDescription: "a value in the engine's tables is not JSON")
        }
        return value
    }

    private static func error(in db: Database) -> SyncError {
        let position = (try? firstDamage(in: db)) ?? "a value does not have the type of its column"
        return SyncError(.databaseError, "the engine's tables are damaged: \(position)")
    }

    // MARK: Search

    private static func firstDamage(in db: Database) throws -> String? {
        for (name, columns) in try declaredTables() where try db.tableExists(name, in: "main") {
            let stored = Set(try db.columns(in: name, in: "main").map(\.name))
            let key = columns.filter { $0.primaryKeyIndex > 0 }
                .map { "'\($0.name) ' || substr(quote(\($0.name.quoted)), 1, 80)" }.joined(separator: " || ', ' || ")
            for column in columns {
                guard stored.contains(column.name) else { return "\(name) has no column '\(column.name)'" }
                let isJSON = EngineSchema.jsonColumns[name]?.contains(column.name) ?? false
                let row = try String.fetchOne(
                    db, sql: "SELECT \(key) FROM main.\(name) WHERE \(isWrong(column, isJSON: isJSON)) LIMIT 1")
                let fault = isJSON ? "is not JSON" : "is not of the type \(column.type)"
                if let row { return "\(name), row \(row): '\(column.name)' \(fault)" }
            }
        }
        return nil
    }

    private static func isWrong(_ column: ColumnInfo, isJSON: Bool) -> String {
        let (name, isRequired) = (column.name.quoted, column.isNotNull || column.primaryKeyIndex > 0)
        var types = column.type == "ANY" ? [] : ["'\(column.type.lowercased())'"]
        if !isRequired, !types.isEmpty { types.append("'null'") }
        var conditions = types.isEmpty ? [] : ["typeof(\(name)) NOT IN (\(types.joined(separator: ", ")))"]
        if isRequired { conditions.append("\(name) IS NULL") }
        if isJSON { conditions.append("\(name) IS NOT NULL AND json_valid(\(name)) = 0") }
        return conditions.isEmpty ? "false" : conditions.joined(separator: " OR ")
    }

    /// Returns the tables as this version declares them, read from an empty database.
    private static func declaredTables() throws -> [(name: String, columns: [ColumnInfo])] {
        try DatabaseQueue().write { db in
            try EngineSchema.create(in: db)
            return try EngineSchema.tableNames.map { ($0, try db.columns(in: $0)) }
        }
    }
}

extension ResultRow {
    /// Returns the value of a column. Call this method inside ``EngineTableCheck/located(in:_:)``.
    func decode<Value: DatabaseValueConvertible>(
        _ type: Value.Type = Value.self, atIndex index: Int
    ) throws -> Value {
        guard let value = Value.fromDatabaseValue(self[index]) else {
            throw EngineTableCheck.InvalidValue(
                errorDescription: "a value in the engine's tables does not have the type of its column")
        }
        return value
    }

    func state<State: RawRepresentable<String>>(atIndex index: Int) throws -> State {
        guard let state = State(rawValue: try decode(atIndex: index)) else {
            throw EngineTableCheck.InvalidValue(errorDescription: "invalid state in the engine's tables")
        }
        return state
    }
}
