public import Foundation

/// Why something was refused. Whatever failed has changed nothing.
public struct SyncError: LocalizedError, Sendable, Hashable, CustomStringConvertible {
    /// The kind of failure, stable and meant for programs.
    public enum Code: String, Sendable, Hashable, CaseIterable, Codable {
        // Payload

        /// The text is not JSON by RFC 8259; `line` and `column` say where. Also of a download that was cut short.
        case malformedJSON
        /// The text is not UTF-8; `line` and `column` say where.
        case invalidUTF8
        /// Objects and arrays are nested deeper than 512 levels.
        case nestingTooDeep
        /// In a payload that is read in pieces, one record, or what stands around the records, is larger than 1 GB.
        case recordTooLarge
        /// Something else stands where an object should that is a record; a hook's answer too.
        case recordExpected
        /// The payload has no object at a key of ``SyncOptions/keyPath``, or one without the next key; `path` says where.
        case keyPathNotFound
        /// The payload is empty, or has records and none has a readable key, as the JSON of an error; a list without
        /// records is written `[]`. If the records are in a list inside the object, `keyPaths` says where.
        case noRecords
        /// The payload is what a service says instead of data: the `errors` of a JSON:API or GraphQL document.
        case serviceErrors
        /// A value is not of its attribute's type, where that stops the call: with ``SyncOptions/isStrict``, in a single
        /// row, in a parent's id. Also a single row that lacks a required value, or a Swift value without JSON form.
        case valueDoesNotFit
        /// Two records of the payload are the same row and say different things of it, with ``SyncOptions/isStrict``.
        case contradictingRecords
        /// A single row has no readable key, or needs a new one of a type that cannot be made here: give the key. With
        /// ``SyncOptions/isStrict`` also a root record of a sync without a readable key. Or no record of a sample has the
        /// key that a model is to be inferred with: name another.
        case primaryKeyMissing
        /// Another row has the key that a single row is to get.
        case keyTaken
        /// The row that a single record would update is of another entity. A sync skips such a record and reports it.
        case entityMismatch

        // Model

        /// The model contradicts itself or names what is not there; `problems` has everything to mend, with its place.
        case invalidModel
        /// The file is neither a schema file nor the source of a Core Data model, or is malformed (`line`, `column`).
        case unreadableModel
        /// The model has no entity of this name; the message names those there are.
        case unknownEntity
        /// Rows are asked for of an entity that is only there to be inherited from: name one of its sub-entities.
        case abstractEntity
        /// The call needs a key and the entity has none: its rows come and go with their owners, so sync those.
        case keylessEntity
        /// The entity has no attribute of this name.
        case unknownAttribute
        /// The entity has no relationship of this name, or none that leads from a parent to the rows of the payload.
        case unknownRelationship
        /// The parent has several relationships to the entity: name one with `relationship`.
        case ambiguousRelationship

        /// The model names transformers that are not registered: register them on it, or open the store with
        /// `TransformerPolicy.optional`.
        case missingTransformer

        // Call

        /// The condition cannot be read, names what the model does not have, or is more than SQLite can take.
        case invalidPredicate
        /// Arguments or options are impossible or contradict each other, a run is used after its end or after a page of
        /// it failed, or a hook changed a record's key. The message says which.
        case invalidOption
        /// The parent of the sync is not stored: sync it first.
        case parentNotFound
        /// Not exactly one row matches where one is to be filled, or a row that is to be linked is not stored any more.
        case rowNotFound

        // Store

        /// A row that is to be deleted leads, by a relationship with the delete rule `deny`, to rows that stay: delete
        /// or unlink those first, or have the payload keep the row.
        case deletionDenied
        /// More rows of an entity would go than ``SyncOptions/deletionGuard`` allows. See whether the payload is whole
        /// before asking again with a higher limit.
        case deletionGuard
        /// The store is of another model: opening it would lose data (`problems`), or it was changed since it was opened.
        case modelMismatch
        /// A table, view or index of the database has a name that the model needs for one of its own; `problems` has each.
        case nameCollision
        /// Tables of the app's that a store was to adopt do not fit the model; `problems` has everything that does not,
        /// each with the SQL that mends it.
        case unsuitableTables
        /// A connection of the app's database is set to what a sync cannot work with; the message says which line mends it.
        case unsuitableConnection
        /// The stack was closed.
        case storeClosed
        /// There is no store at the path, none can be made there, or the file is not one, or damaged.
        case unreadableStore
        /// SQLite failed in another way, such as a full disk; `underlying` has what it said. Or the store is not sound.
        case storeFailure
        /// Another process has the store locked, or wrote to it while it was read without locks: try again.
        case storeBusy
        /// The file of the store or its folder cannot be written to by this user.
        case storeReadOnly

        // Services

        /// The database is in step with another service.
        case otherService
        /// The database is in step with another user of the service.
        case otherUser
        /// Another engine is syncing the database, or took it over from one that was silent for long.
        case engineBusy
        /// The service could not be reached, or failed; what was done until then stays done.
        case serviceFailure
        /// The service does not know the user, also with new credentials.
        case unauthorized
        /// The server has less than it had: it was restored from an older copy. Nothing was deleted.
        case serverRestored
        /// A configuration of the engine has a member that is unknown or wrong; `path` says where.
        case invalidConfiguration

        // Files

        /// A payload or model file is missing or cannot be read.
        case unreadableFile
    }

    /// One of several problems, with its place.
    public struct Problem: Sendable, Hashable, Codable {
        /// Where it is: a JSON path (`entities.User.attributes.age.type`) or an XML element.
        public var path: String
        /// What is wrong there.
        public var message: String
        /// The statements that mend it, where some do. Problems of one table may have the same, which are run once.
        public var sql: String?

        /// A problem and its place.
        public init(path: String, message: String, sql: String? = nil) {
            self.path = path
            self.message = message
            self.sql = sql
        }
    }

    /// What kind of failure it is.
    public var code: Code
    /// What is wrong and what was expected, in a sentence without the place.
    public var message: String
    /// The entity it is about.
    public var entity: String?
    /// The place in the payload, as a JSON path (`[3].notes[0].id`), or in a model or predicate.
    public var path: String?
    /// The line, from 1, of malformed JSON, of a model or of a predicate.
    public var line: Int?
    /// The column, from 1, in bytes.
    public var column: Int?
    /// Every problem found, where more than one can be reported at once.
    public var problems: [Problem]
    /// What the layer below said.
    public var underlying: String?
    /// The error of the layer below, if there was one: of GRDB, or of the file system. Errors are equal without it.
    public var underlyingError: (any Error)? { cause.error }
    private var cause = Cause()
    /// Where a payload without records has lists (``SyncOptions/keyPath``).
    public var keyPaths: [[String]] = []
    /// What a payload that cannot be read seems to be, if that can be told.
    public var likelyForm: DetectedFormat?

    /// An error with whatever is known of its place.
    public init(
        _ code: Code, _ message: String, entity: String? = nil, path: String? = nil, line: Int? = nil,
        column: Int? = nil, problems: [Problem] = [], underlying: String? = nil,
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

    /// An error that no comparison looks at.
    private struct Cause: Sendable, Hashable {
        var error: (any Error)?
        static func == (left: Cause, right: Cause) -> Bool { true }
        func hash(into hasher: inout Hasher) {}
    }

    /// The message with its place, and every problem on a line of its own.
    public var description: String {
        var text = message
        if !place.isEmpty { text += " (\(place.joined(separator: ", ")))" }
        if let underlying { text += ": \(underlying)" }
        if !keyPaths.isEmpty {
            text += "; there are lists at the key path \(keyPaths.map { "\($0)" }.joined(separator: " or "))"
        }
        if let likelyForm { text += "; \(likelyForm.advice)" }
        for problem in problems { text += "\n  \(problem.path): \(problem.message)" }
        for statements in remedies { text += "\n" + statements }
        return text
    }

    /// The statements that mend the problems, each once, in the order to run them in.
    public var remedies: [String] {
        var seen: Set<String> = []
        return problems.compactMap(\.sql).filter { seen.insert($0).inserted }
    }

    /// The description, so that `localizedDescription` is it too.
    public var errorDescription: String? { description }

    /// What is known of where it is, part by part.
    package var place: [String] {
        var place: [String] = []
        if let entity { place.append("entity \(entity)") }
        if let path { place.append("at \(path)") }
        if let line, let column { place.append("line \(line), column \(column)") }
        return place
    }
}
