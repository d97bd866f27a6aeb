/// Options of a sync: how it reads its payload, what it deletes, and what its result lists.
///
/// ``SyncOperations`` says which operations are allowed.
public struct SyncOptions: Sendable {
    /// The scope of a payload if the call has no predicate and no parent.
    public enum Scope: Sendable, Hashable {
        /// All rows of the entity. For an entity with a to-one relationship to itself, only rows whose relationship is null.
        case automatic
        /// All rows of the entity.
        case all
    }

    /// The rows and values that a result lists besides its counts.
    public enum ResultDetail: Sendable, Hashable {
        /// ``keys``; for files and streams ``counts``, so that memory does not grow with the payload.
        case automatic
        /// Counts only.
        case counts
        /// The keys of inserted and deleted rows, and the keys and changed attributes of updated rows.
        case keys
        /// Keys, the changed values, the values of inserted and deleted rows, and the links. It takes time and memory for each
        /// written row.
        case values
    }

    /// The scope of the payload if the call has no predicate and no parent.
    public var scope: Scope
    /// Whether the payload is a snapshot, a delta, or a page of a paged import.
    public var payloadKind: PayloadKind
    /// Whether the sync fails, before it writes, for inconsistent records, a value of the wrong type, or a root record
    /// without a key. Records are compared within one chunk or page.
    public var isStrict: Bool
    /// The deletion limit; nil for none.
    public var deletionLimit: DeletionLimit?
    /// Whether the sync deletes omitted rows even if the key of a root record cannot be read. Such a record may describe any row
    /// of its entity, so by default no row is deleted (``SyncDiagnostic/Kind/deletionsSkipped``).
    public var deletesBesideUnread: Bool
    /// The rows and values that the result lists besides its counts.
    public var resultDetail: ResultDetail
    /// Called with the progress of each phase, once every few thousand records or rows. The sync waits for it and calls it on any
    /// thread. It must not use the store.
    public var progress: (@Sendable (SyncProgress) -> Void)?
    /// Whether errors and diagnostics quote values of the payload.
    public var includesValuesInErrors: Bool
    /// The insert hook: called for each record of a row to insert, outer records first. The sync maps the record that it returns,
    /// which must have the same key. An error that it throws fails the sync.
    ///
    /// It must not use the store, which is being written. The payload is mapped once for each level of nesting with new rows, so a
    /// sync with a hook takes several times as long.
    public var willInsert: (@Sendable (SyncOptions.Insertion) throws -> JSONValue)?
    /// The path of keys to the array of records in the payload; empty if the payload is the array.
    public var keyPath: [String]
    /// The format of the payload.
    public var format: PayloadFormat
    /// The attribute that is read from the member names, if the records are members of an object: `{"AD": {…}, "AE": {…}}`.
    public var keyedBy: KeyedBy?
    /// The lists of a payload of several entities; empty for a payload of one entity.
    package var entities: [PayloadList] = []
    /// The size in bytes of the chunks that a file or stream is read in. A chunk has whole records, so it is larger if a record is.
    ///
    /// A sync holds two chunks and their graphs: about six times this size, or eighteen times for long lists of ids, and a page
    /// cache of 64 MB. Smaller chunks take less memory and more time.
    package var chunkSize: Int
    /// Whether each chunk is committed by itself, so that other connections can write in between. If a chunk fails, the rows of
    /// earlier chunks stay. Omitted rows are deleted at the end, if the whole payload could be read.
    ///
    /// Otherwise all chunks are written in one transaction. The write-ahead log then grows with the number of written rows.
    public var commitsEachChunk: Bool
    /// The memory, in bytes, for the row flags of a paged import. Larger row flags move to a temporary table.
    package var rowFlagLimit = 32 << 20
    /// The Swift types that the caller reads the rows as.
    package var types: [any SyncEntity.Type] = []
    /// Whether a payload without a readable record is mapped instead of rejected. Validation sets it.
    package var admitsNoRecords = false
    /// Whether diagnostics name inconsistent records. Validation sets it. A payload with such records is mapped twice.
    package var explainsContradictions = false

    /// Creates options. By default the payload is a snapshot, nothing is strict, there is no deletion limit, and chunks have 4 MiB.
    public init(
        scope: Scope = .automatic, payloadKind: PayloadKind = .snapshot, isStrict: Bool = false,
        deletionLimit: DeletionLimit? = nil, deletesBesideUnread: Bool = false, resultDetail: ResultDetail = .automatic,
        includesValuesInErrors: Bool = false, keyPath: [String] = [], format: PayloadFormat = .json,
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

    /// Whether the result lists keys. A route that reads chunks replaces ``ResultDetail/automatic`` before.
    package var collectsKeys: Bool { resultDetail != .counts }
    /// Whether the result lists values and links.
    package var collectsValues: Bool { resultDetail == .values }
}

/// The format of a payload.
public enum PayloadFormat: String, Sendable, Hashable, CaseIterable {
    /// One JSON value: an array of records, or a single record.
    case json
    /// One record on each line.
    case ndjson
    /// A JSON:API document: `data`, `included`, `links`. The `type` of a resource names its entity.
    case jsonAPI = "json-api"
    /// A GraphQL response. Lists may be connections: `{"edges": [{"node": …}]}` or `{"nodes": […]}`.
    case graphQL = "graphql"
}

extension SyncOptions {
    /// Checks that the format of the payload allows a key path.
    ///
    /// - Throws: ``SyncError`` `invalidOption` for NDJSON and JSON:API.
    func checkKeyPath() throws {
        guard !keyPath.isEmpty else { return }
        switch format {
        case .json, .graphQL: return
        case .ndjson:
            throw SyncError(.invalidOption, "'keyPath' cannot be used with NDJSON, which has a record on each line")
        case .jsonAPI:
            throw SyncError(.invalidOption, "'keyPath' cannot be used with JSON:API, which has its records in 'data'")
        }
    }
}

/// Whether a payload lists every row in scope.
///
/// This is about rows of the payload's entity. A list nested in a record always lists all children of that record.
public enum PayloadKind: Sendable {
    /// The payload lists every row in scope: the sync deletes rows that it omits. A single record that is in no array omits no
    /// row, unless a predicate or a parent sets the scope.
    case snapshot
    /// The payload lists changes: the sync keeps rows that it omits.
    case delta
    /// The payload is a page of a snapshot. Each page is written in its own transaction. ``PagedImport/finish()`` deletes the rows
    /// that no page listed. It deletes none if a page was a single record in no array, such as an error, and no predicate or
    /// parent set the scope.
    case page(of: PagedImport)

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

/// The most rows of one entity that one sync may delete, including cascades and nested lists.
///
/// A sync that would delete more throws ``SyncError/Code/deletionLimitExceeded`` and writes nothing.
public enum DeletionLimit: Sendable, Hashable {
    /// A number of rows.
    case rows(Int)
    /// A fraction, 0 to 1, of the rows that the entity has, if it has more than `above`.
    case fraction(Double, above: Int = 0)

    /// Half of the rows of an entity that has more than 10: the default of the command line.
    public static let half = DeletionLimit.fraction(0.5, above: 10)

    /// - Throws: ``SyncError`` `invalidOption` for a negative number of rows, or a fraction that is not from 0 to 1.
    func validate() throws {
        switch self {
        case .rows(let rows) where rows < 0:
            throw SyncError(.invalidOption, "invalid deletion limit of \(rows) rows; it must be 0 or more")
        case .fraction(let part, _) where !(0...1).contains(part):
            throw SyncError(.invalidOption, "invalid deletion limit of \(part) of the rows; it must be from 0 to 1")
        case .rows, .fraction: break
        }
    }
}

/// The parameters of a sync besides its payload, for all three routes.
package struct SyncRequest: Sendable {
    /// The scope of the payload; nil for the default scope.
    package var predicate: RowPredicate?
    package var options: SyncOptions
    /// Whether the store rolls the transaction back and returns only the result.
    package var isDryRun: Bool
    /// Whether the payload is read in chunks.
    package var isInPieces = false

    /// Whether the payload is a chunk or a page. A store cannot repeat the transaction of such a request.
    package var isOfPart: Bool { isInPieces || options.payloadKind.run != nil }

    package init(
        predicate: RowPredicate? = nil, options: SyncOptions = SyncOptions(), isDryRun: Bool = false
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
    /// - Throws: ``SyncError`` `invalidOption` for options that exclude each other.
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
