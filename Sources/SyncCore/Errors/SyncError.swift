public import Foundation

/// An error of a sync, a store, a model or an engine.
///
/// A call that throws an error changes nothing, unless the documentation of the call says otherwise. A failed engine
/// run keeps its committed changes.
public struct SyncError: LocalizedError, Sendable, Hashable, CustomStringConvertible {
    /// The kind of an error. The raw values do not change between versions.
    public enum Code: String, Sendable, Hashable, CaseIterable, Codable {
        // Payload

        /// The text is not valid JSON (RFC 8259), for example because the text is truncated. This code also applies if
        /// a key on the path to the records occurs twice. `line` and `column` locate the error.
        case malformedJSON
        /// The text is not UTF-8. `line` and `column` locate the first invalid byte.
        case invalidUTF8
        /// Objects and arrays are nested deeper than 512 levels.
        case nestingTooDeep
        /// A record of the payload, or the JSON before or after the records, is larger than 1 GB.
        case recordTooLarge
        /// The payload has no record or array of records where one is required. For example, the whole payload is a
        /// string. This code also applies if an insert hook returned a value that is not an object.
        case recordExpected
        /// The payload lacks a key on the path to its records, such as a key of ``SyncOptions/keyPath`` or `data` in
        /// JSON:API. This code also applies if a GraphQL response has several fields, and no key path selects one.
        /// `path` locates the problem.
        case keyPathNotFound
        /// The payload is empty, or none of its records has a readable primary key. For example, the payload is an
        /// error message. If the payload has lists of several entities, this code applies if one of the lists has this
        /// problem. An empty array is valid in a sync, but not in inference. If the payload is an object that contains
        /// lists, ``SyncError/keyPaths`` can contain the paths of the lists.
        case noRecords
        /// A JSON:API payload or GraphQL response contains `errors`, with or without data.
        case errorDocument
        /// A value does not fit the type of its attribute or Swift property, or cannot be expressed in JSON. For an
        /// attribute value in JSON, a sync throws this error only if ``SyncOptions/isStrict`` is true.
        ///
        /// This code also applies in these cases:
        ///
        /// - In a strict sync, an object key differs from the value of the ``KeyedBy`` attribute in the record.
        /// - The ID of the parent is invalid.
        /// - A call for a single row rejects the record, for example because a required value is missing.
        /// - An exported row has no object key, or two exported rows have the same object key.
        case typeMismatch
        /// Two records of the payload have the same key and different values. A sync throws this error only if
        /// ``SyncOptions/isStrict`` is true.
        case inconsistentRecords
        /// A record or value in a call for single rows has no readable primary key, and the call cannot generate a key.
        ///
        /// A sync throws this error for a root record without a readable key, if ``SyncOptions/isStrict`` is true.
        /// Inference throws this error if the samples contain no primary key.
        case primaryKeyMissing
        /// A call for a single row gives the row the primary key of another row.
        case duplicateKey
        /// A call for a single row uses the key of a row of another entity. A sync does not throw this error. The sync
        /// instead skips the record and reports a diagnostic.
        case entityMismatch

        // Model

        /// The model is inconsistent, has an unknown member, or names something that does not exist. `problems` lists
        /// each problem with its path in the model. This code also applies if inference would create a model that is
        /// too large, or if a store cannot keep a name or default value of the model.
        case invalidModel
        /// The file is malformed, or is neither a schema file nor the source of a Core Data model. `line` and `column`
        /// locate the error if the position is known.
        case unreadableModel
        /// The model or the engine has no entity of this name.
        case unknownEntity
        /// The entity is abstract, and the call needs an entity that can have rows. Use one of the subentities.
        case abstractEntity
        /// The call requires a primary key, or a primary key of one attribute, and the entity has no such key. Sync the
        /// rows of a keyless entity with their owners.
        case keylessEntity
        /// The entity has no attribute of this name.
        case unknownAttribute
        /// The entity has no relationship of this name, or the parent has no relationship to the entity of the payload.
        case unknownRelationship
        /// The parent has several relationships to the entity of the payload. Name one of the relationships in the
        /// argument `relationship`.
        case ambiguousRelationship

        /// The model names transformers that are not registered. Register the transformers with the model, or open the
        /// store with `TransformerPolicy.optional`.
        case missingTransformer

        // Call

        /// The predicate is malformed, uses a name that the model does not have, or exceeds a limit.
        case invalidPredicate
        /// Arguments or options are invalid or exclude each other. This code also applies if the state of a paged
        /// import forbids the call, or if an insert hook changed the key of a record.
        case invalidOption
        /// The parent of the sync is not stored. Sync the parent first.
        case parentNotFound
        /// The call needs exactly one stored row, but no row or several rows match. This code also applies if a row to
        /// link is not stored, or if the conflict to resolve is not open.
        case rowNotFound

        // Store

        /// A row cannot be deleted, because a relationship with the delete rule `deny` links the row to rows that stay,
        /// or because a row of a table that is not in the model references it. Delete or unlink these rows first, or
        /// include the row in the payload.
        case deletionDenied
        /// The sync would delete more rows of an entity than the deletion limit allows, or foreign keys would delete
        /// more rows of a table that is not in the model. Check that the payload is complete before you raise the
        /// limit.
        case deletionLimitExceeded
        /// The model of the store differs from the given model. `problems` lists the data that a migration would lose,
        /// missing required values, or foreign keys of other tables that do not fit. If the list is empty, the message
        /// states the cause.
        case modelMismatch
        /// A table, view or index of the database has a name that the model needs. `problems` lists each such name.
        case nameCollision
        /// Tables of the app are missing or do not fit the model, or a trigger of another program cancelled a write of
        /// a sync. `problems` lists each problem and, where possible, the SQL that fixes the problem.
        case incompatibleTables
        /// The app database or one of its connections has a setting that a sync does not support. The message describes
        /// the fix.
        case incompatibleConnection
        /// The `DataStack`, or the app database that it uses, was closed.
        case storeClosed
        /// The store cannot be opened or created. For example, the file is missing, is not a store, is damaged, or was
        /// written by a later version of Sync.
        case cannotOpenStore
        /// SQLite reported an error that no other code describes, such as a full disk or a violated constraint. This
        /// code also applies if the contents of the database are invalid. `underlyingError` is the SQLite error, if
        /// there is one.
        case databaseError
        /// Another connection holds a lock on the store, or wrote to the store during a read without locks. Try again.
        case databaseBusy
        /// The current user cannot write to the database file or its folder, or the connection is read-only.
        case databaseReadOnly

        // Services

        /// The database belongs to another service.
        case serviceMismatch
        /// The database belongs to another user of the service.
        case userMismatch
        /// Another engine holds the lease of the database, or took over this engine's expired lease.
        case engineBusy
        /// No address is known for the host name of the service. The name may be wrong, or the device may be offline.
        case hostNotFound
        /// The server of the service refuses the connection, or its address cannot be reached.
        case connectionRefused
        /// The service did not respond in time.
        case timedOut
        /// The connection broke, the service failed or asked for a long delay, or other clients changed its data during
        /// each push. Changes that the engine run made before the failure stay.
        case serviceUnavailable
        /// The service has nothing at the address of a request (HTTP 404 or 410). Check the base URL and the paths of
        /// the entities.
        case notFound
        /// The service rejected a request, or its response is invalid. Changes that the engine run made before the
        /// failure stay.
        case serviceFailure
        /// The service rejects the credentials, or the engine cannot get valid credentials.
        case unauthorized
        /// The service seems to have been restored from an older copy. The engine deleted no rows. Reset the engine,
        /// either to take the records of the service or to send the local rows again.
        case serverRestored
        /// A member of an engine configuration is unknown, missing or invalid. `path` locates the member.
        case invalidConfiguration

        // Files

        /// A file, such as a payload or a model, is missing or cannot be read.
        case unreadableFile
    }

    /// The kind of the error.
    public var code: Code
    /// A description of the problem, without its location.
    public var message: String
    /// The name of the entity; nil if the entity is not known, or if the error concerns several entities or none.
    public var entity: String?
    /// The location of the problem, such as a JSON path in the payload (`[3].notes[0].id`); nil if the location is not
    /// known.
    public var path: String?
    /// The line of the problem in the JSON, the model or the predicate, counted from 1; nil if the line is not known.
    public var line: Int?
    /// The column of the problem in bytes, counted from 1; nil if the column is not known.
    public var column: Int?
    /// The individual problems that the error summarizes, such as all problems of an invalid model. The array is empty
    /// for most errors.
    public var problems: [SyncDiagnostic]
    /// The message of the underlying error; nil if there is none.
    package var underlying: String?
    /// The underlying error, such as a `DatabaseError` of GRDB; nil if the error contains none. Comparisons of errors
    /// ignore this property.
    public var underlyingError: (any Error)? { cause.error }
    private var cause = Cause()
    /// The key paths of the lists in a payload without readable records, as suggestions for ``SyncOptions/keyPath``.
    /// The array is empty if no such lists were found.
    public var keyPaths: [[String]] = []
    /// The detected format of a payload that cannot be read; nil if none was detected.
    package var detectedFormat: DetectedFormat?
    /// The suggestion for this error; nil if the suggestion for its code fits.
    package var suggestion: String?

    package init(
        _ code: Code, _ message: String, entity: String? = nil, path: String? = nil, line: Int? = nil,
        column: Int? = nil, problems: [SyncDiagnostic] = [], underlying: String? = nil,
        underlyingError: (any Error)? = nil, suggestion: String? = nil
    ) {
        self.code = code
        self.message = message
        self.entity = entity
        self.path = path
        self.line = line
        self.column = column
        self.problems = problems
        self.underlying = underlying
        self.suggestion = suggestion
        cause = Cause(error: underlyingError)
    }

    /// Wraps an error that equality and hashing ignore.
    private struct Cause: Sendable, Hashable {
        var error: (any Error)?
        static func == (left: Cause, right: Cause) -> Bool { true }
        func hash(into hasher: inout Hasher) {}
    }

    /// The message, the location, the message of the underlying error, and suggestions. Further lines list the
    /// ``problems`` and the ``fixes``.
    public var description: String {
        var text = message
        if !place.isEmpty { text += " (\(place.joined(separator: ", ")))" }
        if let underlying { text += ": \(underlying)" }
        if !keyPaths.isEmpty {
            text += "; lists were found at the key path \(keyPaths.map { "\($0)" }.joined(separator: " or "))"
        }
        if let detectedFormat { text += "; \(detectedFormat.advice)" }
        for problem in problems { text += "\n  \(problem.path): \(problem.message)" }
        for statements in fixes { text += "\n" + statements }
        return text
    }

    /// Whether the same call may succeed later without a change of the app or its data. This is the case if the service
    /// could not be reached or was not ready, or if the store or the engine was busy.
    public var isTransient: Bool {
        switch code {
        case .hostNotFound, .connectionRefused, .timedOut, .serviceUnavailable, .engineBusy, .databaseBusy: true
        default: false
        }
    }

    /// The SQL statements that fix the ``problems``, without duplicates, in the order of execution.
    public var fixes: [String] {
        var seen: Set<String> = []
        return problems.compactMap(\.fixSQL).filter { seen.insert($0).inserted }
    }

    /// The value of ``description``, for use as `localizedDescription`.
    public var errorDescription: String? { description }

    /// The known parts of the location, as strings: entity, path, line and column.
    package var place: [String] {
        var place: [String] = []
        if let entity { place.append("entity \(entity)") }
        if let path { place.append("at \(path)") }
        if let line, let column { place.append("line \(line), column \(column)") }
        return place
    }
}
