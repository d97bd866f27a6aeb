public import Foundation

/// An error of a sync, a store, a model or an engine.
///
/// Unless the documentation of a call says otherwise, a call that throws an error changes nothing.
public struct SyncError: LocalizedError, Sendable, Hashable, CustomStringConvertible {
    /// The kind of an error. The raw values are stable, so programs can compare them.
    public enum Code: String, Sendable, Hashable, CaseIterable, Codable {
        // Payload

        /// The text is not JSON (RFC 8259), or ends too early. `line` and `column` locate the error.
        case malformedJSON
        /// The text is not UTF-8. `line` and `column` locate the first invalid byte.
        case invalidUTF8
        /// Objects and arrays are nested deeper than 512 levels.
        case nestingTooDeep
        /// In a payload that is read in chunks, a record or the JSON around the records is larger than 1 GB.
        case recordTooLarge
        /// A value that must be a record is not a JSON object, or the payload has no value where records are expected.
        /// Also: an insert hook returned a value that is not an object.
        case recordExpected
        /// The payload lacks a key of ``SyncOptions/keyPath``, or a value on the path is not an object. Also: a GraphQL
        /// response has several fields, and no key path selects one. `path` locates the value.
        case keyPathNotFound
        /// The payload is empty, or has a list with records but none with a readable key, such as the JSON of an error.
        /// An empty array is not an error. If the payload has lists inside an object, `keyPaths` has their paths.
        case noRecords
        /// The payload is a JSON:API or GraphQL document with `errors`, even if it also has data.
        case errorDocument
        /// A value does not fit the type of its attribute or Swift property, or JSON cannot express it. A sync throws
        /// this error for an attribute only with ``SyncOptions/isStrict``. It always throws it for the ID of a parent.
        ///
        /// Calls for single rows also throw it if a required value is missing. Exports throw it if the rows have no
        /// distinct object keys.
        case typeMismatch
        /// Two records of the payload have the same key and different values. A sync throws this error only with
        /// ``SyncOptions/isStrict``.
        case inconsistentRecords
        /// A call for single records received a record without a readable primary key, and cannot generate a key.
        ///
        /// A sync throws this error only with ``SyncOptions/isStrict``, for a root record without a readable key.
        /// Inference throws it if no sample record has the given key.
        case primaryKeyMissing
        /// A call for a single row sets a primary key that another row has.
        case duplicateKey
        /// A call for a single row names the key of a row of another entity. A sync skips such a record and reports a
        /// diagnostic.
        case entityMismatch

        // Model

        /// The model is inconsistent, or names something that does not exist. `problems` lists each problem with its
        /// path in the model.
        case invalidModel
        /// The file is neither a schema file nor the source of a Core Data model, or it is malformed. `line` and
        /// `column` locate the error if they are known.
        case unreadableModel
        /// The model or the engine has no entity of this name. The message lists known entities.
        case unknownEntity
        /// The entity is abstract, so it has no rows. Use one of its subentities.
        case abstractEntity
        /// The call needs a primary key, or a key of one attribute, that the entity does not have. Sync the rows of a
        /// keyless entity with their owners.
        case keylessEntity
        /// The entity has no attribute of this name.
        case unknownAttribute
        /// The entity has no relationship of this name, or the parent has no relationship to the entity of the payload.
        case unknownRelationship
        /// The parent has several relationships to the entity of the payload. Name one with the argument
        /// `relationship`.
        case ambiguousRelationship

        /// The model names transformers that are not registered. Register them with the model, or open the store with
        /// `TransformerPolicy.optional`.
        case missingTransformer

        // Call

        /// The predicate is malformed, uses a name that the model does not have, or exceeds a limit of SQLite.
        case invalidPredicate
        /// Arguments or options are invalid or exclude each other. Also: a paged import is used after its end, or
        /// finished after a page failed; or an insert hook changed the key of a record.
        case invalidOption
        /// The parent of the sync is not stored. Sync it first.
        case parentNotFound
        /// No row matches a call for one row, or several rows do. Also: the conflict of a call is not open, or a row to
        /// link is not stored.
        case rowNotFound

        // Store

        /// A row to delete has a relationship with the delete rule `deny` to rows that stay. Delete or unlink these
        /// rows first, or keep the row in the payload.
        case deletionDenied
        /// The sync would delete more rows of an entity than the deletion limit allows. Check that the payload is
        /// complete before you raise the limit.
        case deletionLimitExceeded
        /// The store has another model. `problems` lists the data that a migration would lose, and missing required
        /// values. If it is empty, the message states the cause.
        case modelMismatch
        /// A table, view or index of the database has a name that the model needs. `problems` lists each of them.
        case nameCollision
        /// Existing tables do not fit the model, or are missing. `problems` lists each problem, with the SQL that fixes
        /// it if there is any.
        case incompatibleTables
        /// A connection of the app database has a setting that a sync does not support. The message describes the fix.
        case incompatibleConnection
        /// The stack was closed.
        case storeClosed
        /// There is no store at the path and none can be created, or the file is not a store, or it is damaged.
        case cannotOpenStore
        /// SQLite reported another error, such as a full disk, or the store violates a constraint. `underlyingError`
        /// has the error of SQLite, if there is one.
        case databaseError
        /// Another connection holds a lock on the store, or wrote to the store during a read without locks. Try again.
        case databaseBusy
        /// This user cannot write to the file of the store or to its folder, or the connection is read-only.
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
        /// The service rejects the credentials, or the engine cannot get valid ones.
        case unauthorized
        /// The server seems to have been restored from an older copy. The engine deleted no rows. Reset the engine to
        /// keep either copy.
        case serverRestored
        /// A member of an engine configuration is unknown or invalid. `path` locates the member.
        case invalidConfiguration

        // Files

        /// A file, such as a payload or a model, is missing or cannot be read.
        case unreadableFile
    }

    /// The kind of the error.
    public var code: Code
    /// What is wrong and what was expected, without the location.
    public var message: String
    /// The entity that the error concerns; nil if it concerns none.
    public var entity: String?
    /// The location, such as a JSON path in the payload (`[3].notes[0].id`) or a path in a model; nil if it is not
    /// known.
    public var path: String?
    /// The line, from 1, in malformed JSON, in a model or in a predicate; nil if it is not known.
    public var line: Int?
    /// The column in the line, from 1, in bytes; nil if it is not known.
    public var column: Int?
    /// The individual problems that the error summarizes, such as all problems of an invalid model; empty for most
    /// errors.
    public var problems: [SyncDiagnostic]
    /// The message of the underlying error; nil if there is none.
    package var underlying: String?
    /// The underlying error of GRDB or of the file system; nil if there is none. Comparisons of errors ignore it.
    public var underlyingError: (any Error)? { cause.error }
    private var cause = Cause()
    /// The key paths of lists in a payload without readable records, as suggestions for ``SyncOptions/keyPath``; empty
    /// for other errors.
    public var keyPaths: [[String]] = []
    /// The detected format of a payload that cannot be read; nil if none was detected.
    package var detectedFormat: DetectedFormat?

    package init(
        _ code: Code, _ message: String, entity: String? = nil, path: String? = nil, line: Int? = nil,
        column: Int? = nil, problems: [SyncDiagnostic] = [], underlying: String? = nil,
        underlyingError: (any Error)? = nil
    ) {
        self.code = code
        self.message = message
        self.entity = entity
        self.path = path
        self.line = line
        self.column = column
        self.problems = problems
        self.underlying = underlying
        cause = Cause(error: underlyingError)
    }

    /// Wraps an error that equality and hashing ignore.
    private struct Cause: Sendable, Hashable {
        var error: (any Error)?
        static func == (left: Cause, right: Cause) -> Bool { true }
        func hash(into hasher: inout Hasher) {}
    }

    /// The message with its location and suggestions, followed by each problem and its SQL on separate lines.
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

    /// Whether the same call may succeed later without a change of the app or its data. True if the service could not be
    /// reached or was not ready, and if the store or the engine was busy.
    public var isTransient: Bool {
        switch code {
        case .hostNotFound, .connectionRefused, .timedOut, .serviceUnavailable, .engineBusy, .databaseBusy: true
        default: false
        }
    }

    /// The SQL statements that fix the problems, without duplicates, in the order in which to run them.
    public var fixes: [String] {
        var seen: Set<String> = []
        return problems.compactMap(\.fixSQL).filter { seen.insert($0).inserted }
    }

    /// The same text as `description`, so that `localizedDescription` is this text too.
    public var errorDescription: String? { description }

    /// The known parts of the location, as text: entity, path, line and column.
    package var place: [String] {
        var place: [String] = []
        if let entity { place.append("entity \(entity)") }
        if let path { place.append("at \(path)") }
        if let line, let column { place.append("line \(line), column \(column)") }
        return place
    }
}
