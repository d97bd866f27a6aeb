/// The options of a sync, such as the format and scope of the payload, the deletion limit, and the contents of the
/// result.
///
/// The allowed operations are a separate parameter of a sync, ``SyncOperations``.
public struct SyncOptions: Sendable {
    /// The scope of a payload if the sync has no predicate and no parent.
    public enum Scope: Sendable, Hashable {
        /// All rows of the entity. If the entity has a to-one relationship to itself, the scope is only the rows for
        /// which this relationship is null. If there are several such relationships, the first relationship determines
        /// the scope.
        case automatic
        /// All rows of the entity.
        case all
    }

    /// The rows and values that a result lists in addition to its counts.
    public enum ResultDetail: Sendable, Hashable {
        /// The same as ``counts`` for a payload that the sync reads in chunks, such as a file or stream. Otherwise, the
        /// same as ``keys``.
        case automatic
        /// Only the counts, without rows and values.
        case counts
        /// The keys of inserted, updated and deleted rows, and the names of the attributes and to-one relationships
        /// that were written to updated rows.
        case keys
        /// In addition to ``keys``, the old and new values of updated rows, the values of inserted and deleted rows,
        /// and the changed links. This detail takes time and memory for each written row.
        case values
    }

    /// The scope of the payload if the sync has no predicate and no parent.
    public var scope: Scope
    /// Whether the payload is a snapshot, a delta, or a page of a paged import.
    public var payloadKind: PayloadKind
    /// Whether the sync is strict. A strict sync throws an error if the payload contains one of the following:
    ///
    /// - Two records with the same key and different values. Records of different chunks or pages are not compared.
    /// - A root record without a readable key.
    /// - A record whose composite key references a row that is not stored.
    /// - An attribute value of the wrong type.
    /// - An object key that differs from the value of the ``KeyedBy`` attribute in the record.
    public var isStrict: Bool
    /// The maximum number of rows of an entity that the sync may delete; nil for no limit.
    public var deletionLimit: DeletionLimit?
    /// Whether the sync deletes omitted rows even if a root record has an unreadable key. An unreadable key has the
    /// wrong type, or is an incomplete composite key.
    ///
    /// A record with an unreadable key may describe any row of its entity. By default, the sync therefore deletes no
    /// omitted rows of the entity. If there are omitted rows, the sync reports the diagnostic
    /// ``SyncDiagnostic/Kind/deletionsSkipped``.
    public var deletesBesideUnread: Bool
    /// The rows and values that the result lists in addition to its counts.
    public var resultDetail: ResultDetail
    /// A function that receives the progress of a long sync. The sync calls the function after each chunk, and each
    /// time the sync has processed at least a thousand more records, rows or links. The function can run on any thread,
    /// and the sync continues when the function returns. The function must not use the store.
    public var progress: (@Sendable (SyncProgress) -> Void)?
    /// Whether the messages of errors and diagnostics quote attribute values and IDs of the payload. Even if this
    /// option is false, messages can quote primary keys of rows, object keys and discriminator values.
    public var includesValuesInErrors: Bool
    /// The insert hook: a function that may replace the record of a new row before the sync inserts the row.
    ///
    /// The sync calls the function for enclosing records before nested records, and continues with the returned record.
    /// The returned record must be an object with the same key. If the function throws an error, the sync throws the
    /// same error.
    ///
    /// The function must not use the store. An insert hook makes a sync several times slower, because the sync
    /// processes the payload again for each level of nesting with new rows.
    public var willInsert: (@Sendable (SyncOptions.Insertion) throws -> JSONValue)?
    /// The keys that lead to the records in the payload, or to the object with the lists of several entities. In the
    /// format ``PayloadFormat/json``, an empty path means the root of the payload.
    ///
    /// In a GraphQL response, the path begins inside `data`. If the path is empty, `data` must have exactly one field.
    /// With NDJSON or JSON:API, a sync throws ``SyncError/Code/invalidOption`` if the path is not empty.
    public var keyPath: KeyPath
    /// The format of the payload.
    public var format: PayloadFormat
    /// The attribute whose values are the object keys, if the records are members of an object, as in
    /// `{"AD": {…}, "AE": {…}}`; nil for other payloads.
    public var keyedBy: KeyedBy?
    /// The lists of a payload of several entities; empty for a payload of one entity.
    package var entities: [PayloadList] = []
    /// The size, in bytes, of the chunks in which the sync reads a file or stream. A chunk contains whole records. If a
    /// record is larger than this size, the chunk of that record is also larger.
    ///
    /// A sync keeps two chunks and their graphs in memory: about six times this size, or eighteen times for long lists
    /// of IDs. The sync also uses a page cache of 64 MB. Smaller chunks take less memory and more time.
    package var chunkSize: Int
    /// Whether the sync writes each chunk of a file or stream in a separate transaction, so that other connections can
    /// write between chunks.
    ///
    /// The sync deletes rows only after the last chunk. If a chunk fails, the changes of earlier chunks stay, and the
    /// sync deletes no rows.
    ///
    /// If this option is false, the sync writes all chunks in one transaction. During the transaction, the write-ahead
    /// log grows with the number of written rows.
    public var commitsEachChunk: Bool
    /// The maximum size, in bytes, of the row flags that a paged import keeps in memory. Above this size, the flags
    /// move to a temporary table.
    package var rowFlagLimit = 32 << 20
    /// The Swift types whose properties must be able to hold the values of the payload.
    package var types: [any SyncEntity.Type] = []
    /// Whether the sync accepts a payload in which no record has a readable key. Only validation sets this property.
    package var admitsNoRecords = false
    /// Whether the diagnostics list inconsistent records. Only validation sets this property.
    package var listsInconsistentRecords = false

    /// Creates options. By default, a JSON payload is a snapshot, the sync is not strict, and the deletion limit is
    /// ``DeletionLimit/half``.
    ///
    /// - Parameter chunkSize: The size, in bytes, of the chunks in which the sync reads a file or stream; at least 1. A
    ///   chunk contains whole records. If a record is larger than this size, the chunk of that record is also larger.
    ///   Smaller chunks take less memory and more time.
    public init(
        scope: Scope = .automatic, payloadKind: PayloadKind = .automatic, isStrict: Bool = false,
        deletionLimit: DeletionLimit? = .half, deletesBesideUnread: Bool = false,
        resultDetail: ResultDetail = .automatic,
        includesValuesInErrors: Bool = false, keyPath: KeyPath = [], format: PayloadFormat = .json,
        keyedBy: KeyedBy? = nil, chunkSize: Int = 4 << 20, commitsEachChunk: Bool = false,
        progress: (@Sendable (SyncProgress) -> Void)? = nil,
        willInsert: (@Sendable (SyncOptions.Insertion) throws -> JSONValue)? = nil
    ) {
        self.scope = scope
        self.payloadKind = payloadKind
        self.isStrict = isStrict
        self.deletionLimit = deletionLimit
        self.deletesBesideUnread = deletesBesideUnread
        self.resultDetail = resultDetail
        self.includesValuesInErrors = includesValuesInErrors
        self.keyPath = keyPath
        self.format = format
        self.keyedBy = keyedBy
        self.chunkSize = chunkSize
        self.commitsEachChunk = commitsEachChunk
        self.progress = progress
        self.willInsert = willInsert
    }

    /// Whether the result lists keys. A sync that reads chunks has already replaced ``ResultDetail/automatic``.
    package var collectsKeys: Bool { resultDetail != .counts }
    /// Whether the result lists values and links.
    package var collectsValues: Bool { resultDetail == .values }
}

extension SyncOptions {
    /// A path of keys into a payload.
    ///
    /// ```swift
    /// options.keyPath = "data.books"
    /// options.keyPath = ["data", "books"]
    /// ```
    /// Use the array for a key that contains a dot.
    public struct KeyPath: Sendable, Hashable, ExpressibleByStringLiteral, ExpressibleByArrayLiteral {
        /// The keys, from the outermost to the innermost.
        public let keys: [String]

        /// Creates a path of keys, such as one of ``SyncError/keyPaths``.
        public init(_ keys: [String]) { self.keys = keys }

        /// Creates a path from its text. Dots separate the keys.
        public init(_ text: String) { self.init(text.split(separator: ".").map(String.init)) }

        /// Creates a path from its text. Dots separate the keys.
        public init(stringLiteral text: String) { self.init(text) }

        /// Creates a path of keys.
        public init(arrayLiteral keys: String...) { self.init(keys) }
    }
}

/// The format of a payload.
public enum PayloadFormat: String, Sendable, Hashable, CaseIterable {
    /// One JSON value with the records, such as an array of records or a single record.
    case json
    /// Newline-delimited JSON, with one record on each line.
    case ndjson
    /// A JSON:API payload, with the members `data`, `included` and `links`. The `type` of a resource names its entity.
    case jsonAPI = "json-api"
    /// A GraphQL response. A list may be a connection, as in `{"edges": [{"node": …}]}` or `{"nodes": […]}`.
    case graphQL = "graphql"
}

extension SyncOptions {
    /// Checks the numbers of the options, also those that the payload does not need.
    ///
    /// - Throws: ``SyncError`` `invalidOption` for an invalid deletion limit or chunk size.
    func checkNumbers() throws {
        try deletionLimit?.validate()
        guard chunkSize > 0 else {
            throw SyncError(.invalidOption, "invalid chunk size \(chunkSize); it must be at least 1 byte")
        }
    }

    /// Checks that the format of the payload allows the key path, if there is one.
    ///
    /// - Throws: ``SyncError`` `invalidOption` for NDJSON and JSON:API.
    func checkKeyPath() throws {
        guard !keyPath.keys.isEmpty else { return }
        switch format {
        case .json, .graphQL: return
        case .ndjson:
            throw SyncError(.invalidOption, "'keyPath' cannot be used with NDJSON, which has one record per line")
        case .jsonAPI:
            throw SyncError(.invalidOption, "'keyPath' cannot be used with JSON:API, which has its records in 'data'")
        }
    }
}

/// The kind of a payload: a snapshot, a delta, or a page of a paged import.
///
/// The kind does not apply to nested lists. A list nested in a record lists all children of that record, unless the
/// list is an incomplete GraphQL connection. A connection with other pages or with nulls is incomplete.
public enum PayloadKind: Sendable {
    /// A ``snapshot`` for JSON, and a ``delta`` for values of Swift types.
    case automatic
    /// The payload lists every row in scope, and the sync deletes rows in scope that the payload omits. Rows with a
    /// temporary key or with pending changes stay.
    ///
    /// A single record outside an array has no scope, unless a predicate or a parent sets the scope. A JSON:API payload
    /// or GraphQL response that names a previous or next page counts as a delta. A GraphQL response with nulls among
    /// its records also counts as a delta.
    case snapshot
    /// The payload lists only changes, and the sync keeps the rows in scope that the payload omits.
    case delta
    /// The payload is a page of a snapshot. The sync writes the page in a separate transaction, and deletes no rows.
    ///
    /// After the last page, ``PagedImport/finish()`` deletes the rows in scope that no page contains. A sync of a page
    /// in the caller's transaction throws ``SyncError/Code/invalidOption``.
    case page(of: PagedImport)

    /// Whether the payload lists every row in scope.
    package var isSnapshot: Bool {
        switch self {
        case .automatic, .snapshot: true
        case .delta, .page: false
        }
    }

    /// The paged import that the payload is a page of; nil for other payloads.
    package var run: PagedImport? {
        guard case .page(let run) = self else { return nil }
        return run
    }
}

/// A list of records in a payload of several entities, and the entity of the records.
package struct PayloadList: Sendable, Hashable {
    package var path: [String]
    package var entity: String

    /// - Parameter path: The keys that lead to the list, separated by dots.
    package init(path: String, entity: String) {
        self.path = path.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
        self.entity = entity
    }
}

/// The maximum number of rows of one entity that one sync may delete. Rows that are deleted because of delete rules or
/// nested lists also count. The limit also applies to each table that is not in the model, for the rows that its
/// foreign keys delete.
///
/// A sync that would delete more rows throws ``SyncError/Code/deletionLimitExceeded`` and deletes nothing. A sync with
/// an invalid limit throws ``SyncError/Code/invalidOption``.
public enum DeletionLimit: Sendable, Hashable {
    /// A number of rows, 0 or more.
    case rows(Int)
    /// A fraction, from 0 to 1, of the rows that the entity has before the sync. An entity with at most `above` rows
    /// has no limit; `above` is 0 or more.
    case fraction(Double, above: Int = 0)

    /// Half of the rows of an entity; no limit for an entity with at most 10 rows. This limit is the default of syncs,
    /// sync engines and the command line.
    public static let half = DeletionLimit.fraction(0.5, above: 10)

    /// Checks that the limit is valid.
    ///
    /// - Throws: ``SyncError`` `invalidOption` for a negative number of rows, for a fraction that is not from 0 to 1,
    ///   or for a negative `above`.
    package func validate() throws {
        switch self {
        case .rows(let rows) where rows < 0:
            throw SyncError(.invalidOption, "invalid deletion limit of \(rows) rows; it must be 0 or more")
        case .fraction(let part, _) where !(0...1).contains(part):
            throw SyncError(
                .invalidOption, "invalid deletion limit: the fraction \(part) of the rows must be from 0 to 1")
        case .fraction(_, let above) where above < 0:
            throw SyncError(.invalidOption, "invalid deletion limit: 'above' is \(above); it must be 0 or more")
        case .rows, .fraction: break
        }
    }
}

/// The parameters of a sync that the store needs in addition to the payload graph.
package struct SyncRequest: Sendable {
    /// The scope of the payload; nil for the default scope.
    package var predicate: RowPredicate?
    package var options: SyncOptions
    /// Whether the store rolls the transaction back and returns only the result.
    package var isDryRun: Bool
    /// Whether the sync reads the payload in chunks.
    package var isChunked = false
    /// The row that the caller has just given another key; nil if there is none. The row arrives under this key, so
    /// pending references to the key replace its links.
    package var rekeyedRow: StoredRow?
    /// The flag that ends the sync.
    package var cancellation = CancellationFlag.ofTask

    /// Whether the payload is a chunk or a page. A store cannot repeat the transaction of a chunk, and repeats that of
    /// a page only if it says so.
    package var isChunkOrPage: Bool { isChunked || options.payloadKind.run != nil }

    package init(
        predicate: RowPredicate? = nil, options: SyncOptions = SyncOptions(deletionLimit: nil), isDryRun: Bool = false
    ) {
        self.predicate = predicate
        self.options = options
        self.isDryRun = isDryRun
    }
}

// MARK: - Layout

extension SyncOptions {
    /// Checks that the options fit the format of the payload.
    ///
    /// - Throws: ``SyncError`` `invalidOption` for options that exclude each other, or for invalid key paths.
    package func checkLayout() throws {
        try checkKeyPath()
        if keyedBy != nil {
            guard format == .json, entities.isEmpty else {
                throw SyncError(
                    .invalidOption, "'keyedBy' requires the JSON format and a payload of one entity")
            }
        }
        guard !entities.isEmpty else { return }
        guard format == .json else {
            throw SyncError(
                .invalidOption, "a payload of several entities requires the JSON format, not \(format.rawValue)")
        }
        for list in entities where list.path.contains(where: \.isEmpty) {
            throw SyncError(.invalidOption, "'\(list.path.joined(separator: "."))' is not a key path")
        }
        for (index, list) in entities.enumerated() {
            for other in entities[..<index]
            where list.path.starts(with: other.path) || other.path.starts(with: list.path) {
                let names = [other, list].map { "'\($0.path.joined(separator: "."))'" }.joined(separator: " and ")
                throw SyncError(.invalidOption, "one of the lists \(names) is inside the other")
            }
        }
    }
}

// MARK: - Cancellation

/// Whether the caller has cancelled a sync.
///
/// A store may run a transaction on a thread that belongs to no task. The call then passes a flag that the caller's task
/// sets when it is cancelled.
package struct CancellationFlag: Sendable {
    /// The flag of the current task, for stores that run a transaction in the caller's task.
    package static let ofTask = CancellationFlag { Task.isCancelled }

    private let isSet: @Sendable () -> Bool

    package init(_ isSet: @escaping @Sendable () -> Bool) { self.isSet = isSet }

    /// Throws if the sync is cancelled.
    ///
    /// - Throws: `CancellationError`.
    package func check() throws {
        if isSet() { throw CancellationError() }
    }
}
