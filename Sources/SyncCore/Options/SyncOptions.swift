/// How a sync treats its payload, beyond what it may do (``SyncOperations``).
public struct SyncOptions: Sendable {
    /// Which stored rows a payload speaks for when no predicate and no parent say it.
    public enum Scope: Sendable, Hashable {
        /// The whole entity; for an entity with a to-one relationship to itself, its roots only.
        case automatic
        /// The whole entity.
        case all
    }

    /// How the bytes of a payload are laid out.
    public enum Form: String, Sendable, Hashable, CaseIterable {
        /// One JSON value: an array of records, or one record, which says nothing of others.
        case json
        /// One record a line.
        case ndjson
        /// A JSON:API document: `data`, `included`, `links`. Each resource says of which entity it is by its `type`.
        case jsonAPI = "json-api"
        /// The answer of a GraphQL service: lists may be connections, `{"edges": [{"node": …}]}` or `{"nodes": […]}`.
        case graphQL = "graphql"
    }

    /// Which stored rows the payload speaks for, where no predicate and no parent say it.
    public var scope: Scope
    /// What the payload says about the rows it leaves out.
    public var payload: PayloadKind
    /// Whether a value that does not fit its attribute, a root record without a key, or a record that contradicts an earlier
    /// one of the same row, fails the sync before anything is written. Of pieces and pages each is compared within itself.
    public var isStrict: Bool
    /// What one sync may delete; nil for no limit.
    public var deletionGuard: DeletionLimit?
    /// Whether rows that the payload leaves out are deleted although a root record has a key that cannot be read. Such a
    /// record may be of any row of its entity, so none is deleted without this
    /// (``SyncResult/Diagnostic/Kind/deletionsSkipped``).
    public var deletesBesideUnread: Bool
    /// Whether the result lists keys. Counts are there either way.
    public var collectsKeys: Bool
    /// Whether the result has the values that changed, the values of new and of deleted rows, and the links. Takes time
    /// and memory for every row written; without ``collectsKeys`` only the links are there.
    public var collectsValues: Bool
    /// Told how far the sync is: of each phase once every few thousand records or rows. It is called in the midst of
    /// the work, on whatever thread that is, so it should be quick and must not use the store.
    public var progress: (@Sendable (SyncProgress) -> Void)?
    /// Whether errors and diagnostics quote values of the payload.
    public var revealsValues: Bool
    /// Called for every record that is about to become a new row, at every level, outer ones first; its answer is
    /// mapped instead of the record, and may not have another key. What it throws fails the sync.
    ///
    /// It is called while the store is being written and must not use the store. The payload is mapped anew for every
    /// level of nesting with new rows, so a sync with a hook takes several times as long as one without.
    public var willInsert: (@Sendable (SyncOptions.Insertion) throws -> JSONValue)?
    /// The keys that lead to the array of records inside the payload; empty if it is the payload itself.
    public var keyPath: [String]
    /// How the payload's records are laid out.
    public var form: Form
    /// Set where the records are the members of an object, `{"AD": {…}, "AE": {…}}`: the attribute that their names fill.
    public var keyedBy: KeyedBy?
    /// The lists of a payload of several entities; empty where it is of one.
    package var entities: [PayloadList] = []
    /// How a payload that is read in pieces is cut and written.
    public var pieces: PieceOptions
    /// The Swift types that the caller reads the rows as.
    package var types: [any SyncEntity.Type] = []
    /// Whether a payload without a record that can be read is mapped all the same: to examine it.
    package var admitsNoRecords = false
    /// Whether diagnostics say which records contradict each other: to examine a payload, which is then mapped twice if it
    /// has some.
    package var explainsContradictions = false

    /// Options with their defaults: nothing is strict, guarded or revealed.
    public init(
        scope: Scope = .automatic, payload: PayloadKind = .snapshot, isStrict: Bool = false,
        deletionGuard: DeletionLimit? = nil, deletesBesideUnread: Bool = false, collectsKeys: Bool = true,
        revealsValues: Bool = false, collectsValues: Bool = false, keyPath: [String] = [], form: Form = .json,
        keyedBy: KeyedBy? = nil,
        pieces: PieceOptions = PieceOptions(), progress: (@Sendable (SyncProgress) -> Void)? = nil,
        willInsert: (@Sendable (SyncOptions.Insertion) throws -> JSONValue)? = nil
    ) {
        self.scope = scope
        self.payload = payload
        self.isStrict = isStrict
        self.deletionGuard = deletionGuard
        self.deletesBesideUnread = deletesBesideUnread
        self.collectsKeys = collectsKeys
        self.revealsValues = revealsValues
        self.collectsValues = collectsValues
        self.keyPath = keyPath
        self.form = form
        self.keyedBy = keyedBy
        self.pieces = pieces
        self.progress = progress
        self.willInsert = willInsert
    }
}

extension SyncOptions {
    /// - Throws: ``SyncError`` `invalidOption` for a key path into lines.
    func checkKeyPath() throws {
        guard !keyPath.isEmpty else { return }
        switch form {
        case .json, .graphQL: return
        case .ndjson:
            throw SyncError(.invalidOption, "a key path is given, but NDJSON has a record on each line")
        case .jsonAPI:
            throw SyncError(.invalidOption, "a key path is given, but JSON:API has its records in 'data'")
        }
    }
}

/// What a payload says about the stored rows it leaves out.
///
/// Only about those of its own entity: a list of children nested in a record is always all there is of it.
public enum PayloadKind: Sendable {
    /// The payload is all there is: rows in scope that it leaves out are deleted. One object in no array leaves none
    /// out, unless a predicate or a parent says what it speaks for.
    case snapshot
    /// The payload is what changed: rows that it leaves out are kept.
    case delta
    /// The payload is one page of many, which together are all there is. Each is applied in its own transaction;
    /// ``PagedImport/finish()`` deletes what no page mentioned; nothing if a page is one object in no array, as an error is,
    /// and neither a predicate nor a parent says what it speaks for.
    case page(of: PagedImport)

    /// The run a page is part of.
    package var run: PagedImport? {
        guard case .page(let run) = self else { return nil }
        return run
    }
}

/// A list of records inside a payload of several, and the entity they are of.
package struct PayloadList: Sendable, Hashable {
    package var path: [String]
    package var entity: String

    /// - Parameter path: The keys that lead to the list, with dots between them.
    package init(path: String, entity: String) {
        self.path = path.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
        self.entity = entity
    }
}

/// The most that one sync may delete of any one entity, cascades and nested lists included.
///
/// Past it the sync fails with ``SyncError/Code/deletionGuard`` and writes nothing.
public enum DeletionLimit: Sendable, Hashable {
    /// At most so many rows.
    case rows(Int)
    /// At most this part (0…1) of the rows an entity had, once it had more than `above`.
    case fraction(Double, above: Int = 0)

    /// More than half of an entity's rows, when it has more than 10: what the command line refuses by default.
    public static let half = DeletionLimit.fraction(0.5, above: 10)

    /// - Throws: ``SyncError`` `invalidOption` for a limit that is no number of rows, or no part of them.
    func validate() throws {
        switch self {
        case .rows(let rows) where rows < 0:
            throw SyncError(.invalidOption, "a deletion guard of \(rows) rows; it must be 0 or more")
        case .fraction(let part, _) where !(0...1).contains(part):
            throw SyncError(.invalidOption, "a deletion guard of \(part) of the rows; it must be from 0 to 1")
        case .rows, .fraction: break
        }
    }
}

/// How a payload that is read in pieces is cut and written.
public struct PieceOptions: Sendable, Hashable {
    /// In how many transactions the pieces are written.
    public enum Transactions: String, Sendable, Hashable, CaseIterable {
        /// All of the payload or nothing. Until the end the write-ahead log grows to the size of what is written.
        case one
        /// Each piece in its own, as pages of a run: others can write in between, and the rows of the pieces before one
        /// that fails stay. What the payload leaves out is deleted at the end, if all of it could be read.
        case onePerPiece
    }

    /// The size of a piece in bytes. A piece holds whole records, so it is larger where a record is.
    ///
    /// A sync holds two pieces at a time, each with what it is mapped to: six times this size together, of long lists of
    /// ids eighteen times, besides a page cache of 64 MB. Smaller pieces take less memory and more time.
    public var size: Int
    /// In how many transactions the pieces are written.
    public var transactions: Transactions
    /// How many bytes a run may take to remember rows, before it keeps them in a temporary table.
    package var markLimit = 32 << 20

    /// Pieces of 4 MB, all in one transaction.
    public init(size: Int = 4 << 20, transactions: Transactions = .one) {
        self.size = size
        self.transactions = transactions
    }
}

/// What a caller asks of a store, beside the payload: the same for every way in.
package struct SyncRequest: Sendable {
    /// Which stored rows the payload speaks for.
    package var predicate: RowPredicate?
    package var options: SyncOptions
    /// Whether everything is taken back at the end, so that only the result is left.
    package var isDryRun: Bool
    /// Whether the payload is read in pieces.
    package var isInPieces = false

    /// Whether the payload, or what is asked, is a part of something longer: it cannot be applied twice.
    package var isOfPart: Bool { isInPieces || options.payload.run != nil }

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
    /// - Throws: ``SyncError`` `invalidOption` for what contradicts the form of the payload.
    package func checkLayout() throws {
        try checkKeyPath()
        if keyedBy != nil {
            guard form == .json, entities.isEmpty else {
                throw SyncError(
                    .invalidOption, "records are keyed by their names in plain JSON of one entity only")
            }
        }
        guard !entities.isEmpty else { return }
        guard form == .json else {
            throw SyncError(.invalidOption, "a payload of several entities is plain JSON, not \(form.rawValue)")
        }
        for list in entities where list.path.contains(where: \.isEmpty) {
            throw SyncError(.invalidOption, "'\(list.path.joined(separator: "."))' is no path of keys")
        }
        for (index, list) in entities.enumerated() {
            for other in entities[..<index]
            where list.path.starts(with: other.path) || other.path.starts(with: list.path) {
                let names = [other, list].map { "'\($0.path.joined(separator: "."))'" }.joined(separator: " and ")
                throw SyncError(.invalidOption, "the lists \(names) are in each other")
            }
        }
    }
}
