public import Foundation

/// An error of a sync, a store, a model or an engine. A call that throws it has changed nothing.
public struct SyncError: LocalizedError, Sendable, Hashable, CustomStringConvertible {
    /// The kind of an error: stable, for programs.
    public enum Code: String, Sendable, Hashable, CaseIterable, Codable {
        // Payload

        /// The text is not JSON (RFC 8259), or ends too early. `line` and `column` locate it.
        case malformedJSON
        /// The text is not UTF-8. `line` and `column` locate it.
        case invalidUTF8
        /// Objects and arrays are nested deeper than 512 levels.
        case nestingTooDeep
        /// A payload that is read in chunks has a record larger than 1 GB, or as much besides its records.
        case recordTooLarge
        /// A value that must be a record is not an object, or an insert hook returned no object.
        case recordExpected
        /// The payload has no object at a key of ``SyncOptions/keyPath``, or one without the next key. `path` locates it.
        case keyPathNotFound
        /// The payload is empty, or no record of it has a readable key, as in the JSON of an error. A list without records is `[]`.
        /// If the records are in a list inside an object, `keyPaths` has the path of the list.
        case noRecords
        /// The payload has `errors` instead of data: a JSON:API or GraphQL document.
        case errorDocument
        /// A value has the wrong type for its attribute: with ``SyncOptions/isStrict``, in a single row, or in the ID of a parent.
        /// Also: a single row without a required value, or a Swift value that JSON cannot express.
        case typeMismatch
        /// Two records of the payload have one key and different values, with ``SyncOptions/isStrict``.
        case inconsistentRecords
        /// A single row has no readable key, and its type of key cannot be generated: give the key. Also: a root record without a
        /// readable key, with ``SyncOptions/isStrict``; or no record of a sample has the key named for inference.
        case primaryKeyMissing
        /// Another row has the key of a single row.
        case duplicateKey
        /// The row with the key of a single record is of another entity. A sync skips such a record with a diagnostic.
        case entityMismatch

        // Model

        /// The model is inconsistent, or names something that does not exist. `problems` lists each problem with its path.
        case invalidModel
        /// The file is no schema file and no source of a Core Data model, or is malformed (`line`, `column`).
        case unreadableModel
        /// The model has no entity of this name. The message lists its entities.
        case unknownEntity
        /// The entity is abstract: name one of its sub-entities.
        case abstractEntity
        /// The call needs a key, and the entity is keyless: sync the owners of its rows.
        case keylessEntity
        /// The entity has no attribute of this name.
        case unknownAttribute
        /// The entity has no relationship of this name, or the parent has none to the entity of the payload.
        case unknownRelationship
        /// The parent has several relationships to the entity: name one with `relationship`.
        case ambiguousRelationship

        /// The model names transformers that are not registered: register them on the model, or open the store with
        /// `TransformerPolicy.optional`.
        case missingTransformer

        // Call

        /// The condition is malformed, names something that the model does not have, or exceeds a limit of SQLite.
        case invalidPredicate
        /// Arguments or options are invalid or exclude each other. Also: a paged import is used after its end or after
        /// a page failed, or an insert hook changed the key of a record.
        case invalidOption
        /// The parent of the sync is not stored: sync it first.
        case parentNotFound
        /// No row, or more than one, matches a call for one row; or a row to link is not stored any more.
        case rowNotFound

        // Store

        /// A row to delete has a relationship with the delete rule `deny` to rows that stay: delete or unlink those first, or keep
        /// the row in the payload.
        case deletionDenied
        /// The sync would delete more rows of an entity than ``SyncOptions/deletionLimit`` allows. Check that the payload is
        /// complete before you raise the limit.
        case deletionLimitExceeded
        /// The store has another model: opening it would lose data (`problems`), or its model changed since it was opened.
        case modelMismatch
        /// A table, view or index of the database has a name that the model needs. `problems` lists each.
        case nameCollision
        /// Existing tables do not fit the model. `problems` lists each problem with the SQL that fixes it.
        case incompatibleTables
        /// A connection of the app database has a setting that a sync cannot work with. The message has the line that fixes it.
        case incompatibleConnection
        /// The stack was closed.
        case storeClosed
        /// There is no store at the path and none can be created, or the file is no store or is damaged.
        case cannotOpenStore
        /// SQLite failed in another way, such as a full disk (`underlying`), or the store has an integrity violation.
        case databaseError
        /// Another process holds a lock on the store, or wrote to it while it was read without locks: try again.
        case databaseBusy
        /// This user cannot write to the file of the store, or to its folder.
        case databaseReadOnly

        // Services

        /// The database belongs to another service.
        case serviceMismatch
        /// The database belongs to another user of the service.
        case userMismatch
        /// Another engine holds the lease of the database, or took it over after it expired.
        case engineBusy
        /// The service could not be reached, or failed. What the run did until then is kept.
        case serviceFailure
        /// The service rejects the credentials, also after they were renewed.
        case unauthorized
        /// The server was restored from an older copy. Nothing was deleted.
        case serverRestored
        /// A member of an engine configuration is unknown or invalid. `path` locates it.
        case invalidConfiguration

        // Files

        /// A payload or model file is missing or cannot be read.
        case unreadableFile
    }

    /// The kind of the error.
    public var code: Code
    /// What is wrong and what was expected, without the location.
    public var message: String
    /// The entity.
    public var entity: String?
    /// The JSON path in the payload (`[3].notes[0].id`), or the location in a model or predicate.
    public var path: String?
    /// The line, from 1, of malformed JSON, of a model or of a predicate.
    public var line: Int?
    /// The column, from 1, in bytes.
    public var column: Int?
    /// All problems, if the error has more than one.
    public var problems: [SyncDiagnostic]
    /// The message of the underlying error.
    package var underlying: String?
    /// The underlying error, of GRDB or the file system. Equality ignores it.
    public var underlyingError: (any Error)? { cause.error }
    private var cause = Cause()
    /// The paths of lists in a payload without records, for ``SyncOptions/keyPath``.
    public var keyPaths: [[String]] = []
    /// The detected format of a payload that cannot be read; nil if none was detected.
    package var likelyForm: DetectedFormat?

    /// Creates an error.
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

    /// The message with its location, and each problem on a line.
    public var description: String {
        var text = message
        if !place.isEmpty { text += " (\(place.joined(separator: ", ")))" }
        if let underlying { text += ": \(underlying)" }
        if !keyPaths.isEmpty {
            text += "; lists were found at the key path \(keyPaths.map { "\($0)" }.joined(separator: " or "))"
        }
        if let likelyForm { text += "; \(likelyForm.advice)" }
        for problem in problems { text += "\n  \(problem.path): \(problem.message)" }
        for statements in remedies { text += "\n" + statements }
        return text
    }

    /// The SQL statements that fix the problems, each once, in the order to run them.
    public var remedies: [String] {
        var seen: Set<String> = []
        return problems.compactMap(\.fixSQL).filter { seen.insert($0).inserted }
    }

    /// The description, for `localizedDescription`.
    public var errorDescription: String? { description }

    /// The parts of the location that are known.
    package var place: [String] {
        var place: [String] = []
        if let entity { place.append("entity \(entity)") }
        if let path { place.append("at \(path)") }
        if let line, let column { place.append("line \(line), column \(column)") }
        return place
    }
}
