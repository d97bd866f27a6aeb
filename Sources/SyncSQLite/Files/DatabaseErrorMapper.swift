import GRDB
import SyncCore
import SyncStore

/// Maps errors of the database to `SyncError`.
enum DatabaseErrorMapper {
    /// Runs `body`. Maps an error of the database to the result of ``refusal(_:)``, or else to a `SyncError` with this
    /// code and message. Other errors are rethrown.
    static func mapped<T>(_ code: SyncError.Code, _ message: String, _ body: () throws -> T) throws -> T {
        do {
            return try body()
        } catch let error as DatabaseError {
            throw refusal(error) ?? SyncError(code, message, underlying: text(error), underlyingError: error)
        }
    }

    static func mapped<T: Sendable>(
        _ code: SyncError.Code, _ message: String, _ body: () async throws -> T
    ) async throws -> T {
        do {
            return try await body()
        } catch let error as DatabaseError {
            throw refusal(error) ?? SyncError(code, message, underlying: text(error), underlyingError: error)
        }
    }

    /// Returns the result of ``refusal(_:)`` for an error of the database, and any other error unchanged.
    static func mapped(_ error: any Error) -> any Error {
        guard let error = error as? DatabaseError else { return error }
        return refusal(error) ?? error
    }

    /// Returns the error for a busy store, a read-only store, a closed store or an exceeded limit; nil for any other
    /// error.
    static func refusal(_ error: DatabaseError) -> SyncError? {
        switch error.resultCode {
        case .SQLITE_BUSY, .SQLITE_LOCKED:
            SyncError(
                .databaseBusy, "the store is busy: another connection has locked it; try again",
                underlying: text(error),
                underlyingError: error)
        case .SQLITE_READONLY where error.extendedResultCode != .SQLITE_READONLY_DBMOVED:
            SyncError(
                .databaseReadOnly, "cannot write to the store: its file or its folder is read-only for this user",
                underlying: text(error), underlyingError: error)
        case .SQLITE_MISUSE where isOfClosedConnection(error): StoreDatabase.closed
        case .SQLITE_ERROR: tooMuch(error)
        default: nil
        }
    }

    /// Returns whether an `SQLITE_MISUSE` error comes from a closed connection, such as a pool that the app has closed.
    /// GRDB states it in the message. Without a connection, SQLite gives the message of `SQLITE_NOMEM`.
    private static func isOfClosedConnection(_ error: DatabaseError) -> Bool {
        ["Connection is closed", "out of memory"].contains(error.message)
    }

    /// Adds the name of a row to the message of a constraint error that the row caused. Returns any other error
    /// unchanged.
    static func naming(_ record: String, in error: any Error) -> any Error {
        guard let error = error as? DatabaseError, error.resultCode == .SQLITE_CONSTRAINT else { return error }
        return DatabaseError(
            resultCode: error.extendedResultCode, message: "\(error.message ?? "no message")\(beforeRow)\(record)",
            sql: error.sql)
    }

    /// Returns whether ``naming(_:in:)`` made an error from an error with the message of another one.
    static func isNamed(_ named: DatabaseError, from error: DatabaseError) -> Bool {
        named.message?.hasPrefix("\(error.message ?? "no message")\(beforeRow)") ?? false
    }

    /// The text between the message of SQLite and the name of the row.
    private static let beforeRow = ", in the row "

    /// Returns the error for a violated constraint of an existing table, or one that another program added to a table
    /// of the store.
    static func constraint(_ error: DatabaseError, inExistingTables isExisting: Bool = true) -> SyncError {
        SyncError(
            .databaseError, "a constraint of a table rejected a write", underlying: text(error), underlyingError: error,
            suggestion: suggestion(forConstraint: error.extendedResultCode, isExisting))
    }

    /// Returns the error for a table or column that another program removed; nil for any other error.
    static func missingColumn(_ error: DatabaseError) -> SyncError? {
        guard error.resultCode == .SQLITE_ERROR,
            ["no such column", "no such table"].contains(where: { error.message?.hasPrefix($0) == true })
        else { return nil }
        return SyncError(
            .incompatibleTables, "the database lacks a table or column that the model requires",
            underlying: text(error), underlyingError: error,
            suggestion: "Another program removed it. 'syncdb doctor' lists what is missing. Add it again by SQL, or "
                + "restore a backup.")
    }

    private static func suggestion(forConstraint code: ResultCode, _ isExisting: Bool) -> String {
        switch code {
        case .SQLITE_CONSTRAINT_UNIQUE, .SQLITE_CONSTRAINT_PRIMARYKEY:
            "Another row has this value in a unique column. Change or delete that row before the sync, or remove the "
                + "constraint."
                + (isExisting
                    ? " SQLite checks it after each row, so rows cannot exchange such values in one sync." : "")
        default: "Correct the rows that the message names, or change the constraint of the table."
        }
    }

    /// Returns the error for an exceeded limit of SQLite or of regular expressions; nil for any other error.
    private static func tooMuch(_ error: DatabaseError) -> SyncError? {
        let message = error.message ?? ""
        if message == RegularExpression.tooManySteps { return SyncError(.invalidPredicate, message) }
        let limits: [(begins: String, SyncError.Code, what: String)] = [
            ("too many terms in ORDER BY", .invalidOption, "the order has too many terms"),
            ("too many columns in result set", .invalidOption, "the table has too many columns"),
            ("parser stack overflow", .invalidPredicate, "the predicate is nested too deeply"),
            ("Expression tree is too large", .invalidPredicate, "the predicate is nested too deeply"),
            ("too many FROM clause terms", .invalidPredicate, "a path of the predicate is too long"),
            ("at most 64 tables in a join", .invalidPredicate, "a path of the predicate is too long"),
            ("too many SQL variables", .invalidPredicate, "the predicate has too many values"),
        ]
        guard let limit = limits.first(where: { message.hasPrefix($0.begins) }) else { return nil }
        return SyncError(limit.1, "\(limit.what) for SQLite", underlying: text(error), underlyingError: error)
    }

    /// Returns the code and the message of SQLite, without the arguments of the statement, which contain stored values.
    static func text(_ error: DatabaseError) -> String {
        "SQLite error \(error.extendedResultCode.rawValue): \(error.message ?? "no message")"
    }
}

extension StoreLayout {
    /// The names of the join tables.
    var joinTables: [String] {
        links.compactMap { link in
            guard case .joinTable(let name, _, _, _, _) = link else { return nil }
            return name
        }
    }
}
