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
    public var deletionGuard: DeletionGuard?
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
    public var progress: (@Sendable (PayloadProgress) -> Void)?
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
    public var keyedBy: MemberNames?
    /// The lists of a payload of several entities; empty where it is of one.
    package var entities: [PayloadEntity] = []
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
        deletionGuard: DeletionGuard? = nil, deletesBesideUnread: Bool = false, collectsKeys: Bool = true,
        revealsValues: Bool = false, collectsValues: Bool = false, keyPath: [String] = [], form: Form = .json,
        keyedBy: MemberNames? = nil,
        pieces: PieceOptions = PieceOptions(), progress: (@Sendable (PayloadProgress) -> Void)? = nil,
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
