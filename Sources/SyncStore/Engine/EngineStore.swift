package import SyncCore

/// The database operations of a pull. An import of pages needs no others. Each `async` call is one transaction, and no
/// call waits for the network.
///
/// A store without an outbox conforms only to this protocol. A store of the two-way engine is an ``EngineStore``.
package protocol PullStore: Sendable {
    /// Takes the lease for one run, so that no other run writes at the same time. Returns the state of the store.
    ///
    /// - Throws: ``SyncError`` `engineBusy` if another run holds the lease.
    func begin(holder: String) async throws -> RunState

    /// Extends the lease of a run. One request may take longer than a lease lasts.
    ///
    /// - Throws: ``SyncError`` `engineBusy` if another run has taken the lease.
    func renew(_ lease: EngineLease) async throws

    /// Applies pages of several entities in one transaction, referenced entities first. Writes rows, which a store
    /// with an outbox merges with local edits, and records tombstones, versions and cursors. Records the rows of a full
    /// listing as ``insertListed(_:of:_:)`` does.
    func apply(_ pages: [PulledPage], _ lease: EngineLease) async throws -> SyncReport

    /// Discards the page at which the pull of an entity was interrupted. The next pull then begins with the first page.
    func clearNextPage(of entity: String, _ lease: EngineLease) async throws

    /// Starts a listing of all IDs of an entity. Discards an unfinished listing.
    func beginListing(of entity: String, _ lease: EngineLease) async throws

    /// Returns the IDs of known rows that a finished listing lacks, whether edited locally or not. The caller confirms
    /// with the service that the rows are missing. If the client assigns IDs, a store with an outbox makes preexisting
    /// rows that the listing lacks new rows instead.
    func missing(from entity: String, _ lease: EngineLease) async throws -> [JSONValue]

    /// Records rows of a listing.
    ///
    /// - Returns: The rows to fetch, because they are unknown or known in another version.
    func insertListed(_ listed: [ListedRecord], of entity: String, _ lease: EngineLease) async throws
        -> ListingDifference

    /// Records rows as missing at the service, to be deleted within the deletion limit. Call this method at the end of
    /// a listing.
    func finishListing(of entity: String, missing ids: [JSONValue], _ lease: EngineLease) async throws

    /// Applies the deletions of the service, and deletes missing rows if the deletion limit allows this for each
    /// entity. A store that quarantines records then tries them again, unless the limit kept the missing rows.
    ///
    /// - Parameter listed: The entities whose listings have ended.
    /// - Returns: The changes. `refusal` is a ``SyncError`` `deletionLimitExceeded` if the limit kept all missing rows;
    ///   otherwise nil.
    func applyDeletions(
        limit: DeletionLimit?, listed: [String], _ lease: EngineLease
    ) async throws -> (outcome: SyncReport, refusal: SyncError?)

    /// Records that the entities are in sync, and releases the lease.
    ///
    /// - Parameters:
    ///   - notBefore: The time before which the service must not be called, in milliseconds since 1970; nil for none.
    ///   - attempts: The number of consecutive failures of the service; 0 if the service itself asked for the delay.
    func finish(_ entities: [String], notBefore: Int64?, attempts: Int, _ lease: EngineLease) async throws

    // MARK: Without a lease

    /// Returns where the pull of each entity continues.
    func cursors() async throws -> [String: PullState]

    /// Returns whether two IDs identify the same row. The same ID may be spelled in several ways.
    func areSame(_ id: JSONValue, _ other: JSONValue, of entity: String) throws -> Bool
}

extension PullStore {
    /// Applies one page in a transaction.
    package func apply(_ page: PulledPage, _ lease: EngineLease) async throws -> SyncReport {
        try await apply([page], lease)
    }
}

/// The lease of one run. Each new lease has a higher token.
package struct EngineLease: Sendable {
    package let token: Int64

    package init(token: Int64) { self.token = token }
}

/// The state of a store at the start of a run.
package struct RunState: Sendable {
    package let lease: EngineLease
    package let cursors: [String: PullState]
    /// The current edit counter; 0 for a store without an outbox.
    package let edits: Int64
    /// The time before which the service must not be called, in milliseconds since 1970; nil for none.
    package let notBefore: Int64?
    /// The number of consecutive failures of the service; 0 if the service itself asked for the delay.
    package let attempts: Int
    /// Whether there are requests that are not completed.
    package let hasInDoubtRequests: Bool
    /// Whether there are blocked changes.
    package let hasBlockedChanges: Bool

    /// Whether the service asked for the delay.
    package var isRequestedByService: Bool { notBefore != nil && attempts == 0 }

    package init(
        lease: EngineLease, cursors: [String: PullState], edits: Int64 = 0, notBefore: Int64?, attempts: Int,
        isAnyUnanswered: Bool = false, isAnyBlocked: Bool = false
    ) {
        self.lease = lease
        self.cursors = cursors
        self.edits = edits
        self.notBefore = notBefore
        self.attempts = attempts
        self.hasInDoubtRequests = isAnyUnanswered
        self.hasBlockedChanges = isAnyBlocked
    }
}

/// Where the pull of one entity continues.
package struct PullState: Sendable {
    /// The cursor after the last complete pull; nil if the next pull gets all rows.
    package let cursor: String?
    /// The page at which a pull was interrupted; nil if no pull was.
    package let next: String?
    /// When all IDs were last listed, in milliseconds since 1970; nil if never.
    package let lastListing: Int64?
    /// Whether a full pull is complete and the rows that it lacks have not been processed yet.
    package let hasUnprocessedListing: Bool

    package init(
        cursor: String?, next: String?, lastListing: Int64?, hasUnprocessedListing: Bool
    ) {
        self.cursor = cursor
        self.next = next
        self.lastListing = lastListing
        self.hasUnprocessedListing = hasUnprocessedListing
    }
}

// MARK: - Two-way engine

/// The database operations of the two-way engine: those of a pull, and those of the outbox, the conflict log and files.
package protocol EngineStore: PullStore {
    /// The key path of each value that requests send, by entity.
    var memberPaths: [String: [[String]]] { get }

    /// Builds requests for the next pending changes that can be sent, and stores them.
    ///
    /// - Parameters:
    ///   - limit: The maximum number of requests.
    ///   - edit: The edit counter up to which edits are sent; nil for the current counter.
    /// - Returns: The requests, the edit counter up to which edits are sent, and the changes that were blocked because
    ///   they cannot be sent.
    func prepareRequests(
        _ limit: Int, of entities: [String], upTo edit: Int64?, _ lease: EngineLease
    ) async throws -> (requests: [OutgoingRequest], edit: Int64, blocked: [BlockedChange])

    /// Returns the requests that are not completed: in-doubt requests, and requests for accepted rows that the service
    /// does not list yet.
    func inDoubtRequests(_ lease: EngineLease) async throws -> [OutgoingRequest]

    /// Applies the outcomes of requests to the outbox and the store.
    func complete(_ replies: [RequestOutcome], serverTime: Int64?, _ lease: EngineLease) async throws -> SyncReport

    /// Makes changes that the service rejected once pending again. Call this method after rows were deleted, since they
    /// may have caused the rejections.
    ///
    /// - Returns: The number of changes.
    func retryBlocked(_ entities: [String], _ lease: EngineLease) async throws -> Int

    /// Makes changes of an entity pending again that the service rejected after an edit counter. Call this method after
    /// the service applied updates or deletions of the entity, since they may have freed unique values.
    ///
    /// - Returns: The number of changes.
    func retryRejected(_ entity: String, after edit: Int64, _ lease: EngineLease) async throws -> Int

    /// Makes blocked changes pending again if a row that they reference has become known since, or if they were blocked
    /// by a cycle.
    ///
    /// - Returns: The number of changes.
    func retryBelow(_ entities: [String], _ lease: EngineLease) async throws -> Int

    /// Returns the number of rows with pending changes that are not blocked.
    func pendingChangeCount(of entities: [String]) async throws -> Int

    /// Observes the number of rows of all registered entities with pending changes that are not blocked: the current
    /// number, then each change. A slow consumer may skip intermediate numbers.
    func observePendingChangeCount() -> AsyncThrowingStream<Int, any Error>

    /// Returns the sync status of each entity.
    func status() async throws -> [EntityStatus]

    /// Observes the sync status of each entity: the current status, then each change. A slow consumer may skip
    /// intermediate statuses.
    func observeStatus() -> AsyncThrowingStream<[EntityStatus], any Error>

    /// Returns the blocked changes and quarantined records, with their reasons.
    func blockedChanges() async throws -> [BlockedChange]

    /// Returns the conflict log, open conflicts first.
    func conflicts() async throws -> [SyncConflict]

    /// Resolves the open conflict of a field, or all open conflicts of a row if `field` is nil.
    func resolve(_ entity: String, key: JSONValue, field: String?, keeping side: SyncConflict.Side) async throws

    /// Discards the pending change of a row: deletes a new row, resets the fields of an edited row to their base values,
    /// or inserts a deleted row again.
    ///
    /// - Throws: ``SyncError`` `rowNotFound` if the row has no pending change, or was deleted before the service
    ///   confirmed that it has the row.
    func discardChange(of entity: String, key: JSONValue) async throws

    /// Inserts a row again that was deleted because the service deleted it. The row gets the values in the conflict
    /// log.
    ///
    /// - Throws: ``SyncError`` `rowNotFound` if the log has no such row, or if another row has its key and no temporary
    ///   key is possible.
    func restore(_ entity: String, key: JSONValue) async throws

    /// Resets the state of entities. See ``EngineReset``.
    ///
    /// - Throws: ``SyncError`` `engineBusy` while another engine holds the lease.
    func reset(_ kind: EngineReset, of entities: [String], holder: String) async throws

    // MARK: Files

    /// Checks that an attribute of a row can hold the name of a file.
    ///
    /// - Throws: ``SyncError`` `unknownEntity`, `unknownAttribute`, `invalidOption`, `rowNotFound`.
    func checkFile(of entity: String, key: JSONValue, attribute: String) async throws

    /// Records a file to upload. The file replaces a pending file of the same attribute.
    ///
    /// - Throws: As `checkFile`.
    func attach(_ content: FileContent, to entity: String, key: JSONValue, attribute: String) async throws

    /// Returns the file of an attribute: the pending upload and the stored name.
    ///
    /// - Throws: As `checkFile`.
    func file(of entity: String, key: JSONValue, attribute: String) async throws -> FileAttributeState

    /// Returns all pending uploads.
    func pendingFiles() async throws -> [PendingUpload]

    /// Returns the hashes of all files to upload, including those of other engines of the database.
    func pendingFileHashes() async throws -> Set<String>

    /// Returns the uploads that are not rejected and whose row the service has. Removes the uploads of deleted rows.
    func filesToSend(_ entities: [String], _ lease: EngineLease) async throws -> [PendingUpload]

    /// Applies the outcome of an upload, unless another file was attached since.
    func complete(_ file: PendingUpload, _ outcome: PendingUpload.Outcome, _ lease: EngineLease) async throws

    // MARK: Without a lease

    /// Returns whether a page can have a change that is not stored. A record without a version counts as changed.
    func hasChanges(_ page: PulledPage) async throws -> Bool

    /// Returns the IDs of rows that are not known. With an edit counter, the result includes rows that became known at
    /// this counter or later, unless they were created locally.
    func unknown(_ ids: [JSONValue], of entity: String, since edit: Int64?) async throws -> [JSONValue]

    /// Returns the ID of a record; nil if the record has no valid ID.
    func id(of record: JSONValue, _ entity: String) throws -> JSONValue?
}

/// The registration of an engine: its entities, its service and user, and its conflict policies.
package struct EngineRegistration: Sendable {
    package struct Entity: Sendable {
        package let name: String
        package let policy: ConflictPolicy
        package let deletions: DeleteConflictPolicy
        /// Whether all attributes and to-one relationships of a row are one field. A conflict in one of them is
        /// resolved for the whole row.
        package let mergesWholeRow: Bool
        /// Groups of attributes and to-one relationships. Each group is one field.
        package let groups: [[String]]
        /// The attributes of the natural key. A new row and a pulled row with equal values are the same row.
        package let naturalKey: [String]
        /// Whether the engine sends the deletions of cascades, because the service does not cascade deletions.
        package let sendsCascades: Bool

        package init(
            name: String, policy: ConflictPolicy, deletions: DeleteConflictPolicy, mergesWholeRow: Bool,
            groups: [[String]] = [], naturalKey: [String], sendsCascades: Bool
        ) {
            self.name = name
            self.policy = policy
            self.deletions = deletions
            self.mergesWholeRow = mergesWholeRow
            self.groups = groups
            self.naturalKey = naturalKey
            self.sendsCascades = sendsCascades
        }
    }

    package let entities: [Entity]
    /// The identity of the service. A store is synced with one service and one user.
    package let service: String
    package let user: String
    /// Whether service and user are known. If false, no request is sent, and the store does not check them.
    package let isScopeKnown: Bool
    /// Whether the client assigns the IDs of new rows.
    package let clientAssignsIDs: Bool
    /// Whether the service accepts composite IDs.
    package let supportsCompositeIDs: Bool
    /// The length of an ID that the client assigns, in characters a to z and 0 to 9; nil for a UUID.
    package let idLength: Int?
    /// Whether a change is sent with all values of its row.
    package let sendsWholeRows: Bool
    /// Whether versions are ordered, so that older versions can be recognized.
    package let ordersVersions: Bool
    /// The member in which the service keeps the idempotency key of a new row; nil for none.
    package let markerField: String?
    /// Whether a repeated create makes no second row. If not, the engine looks for the row before it repeats a create.
    package let mayRepeatCreates: Bool
    /// A text for each entity that identifies the source and filter of its pull. If the text changes, the next pull
    /// gets all rows.
    package let filters: [String: String]
    /// The conflict resolver of the app.
    package let resolver: (@Sendable (SyncConflict) -> SyncConflict.Resolution)?
    /// Whether the entries of many rows are read and written together. Tests compare the result with that of single
    /// rows.
    package let handlesRowsTogether: Bool

    package init(
        entities: [Entity], service: String, user: String, isScopeKnown: Bool = true, clientAssignsIDs: Bool,
        supportsCompositeIDs: Bool = false, idLength: Int? = nil, sendsWholeRows: Bool = false,
        ordersVersions: Bool = false,
        markerField: String? = nil, mayRepeatCreates: Bool = true, filters: [String: String],
        resolver: (@Sendable (SyncConflict) -> SyncConflict.Resolution)? = nil, handlesRowsTogether: Bool = true
    ) {
        self.entities = entities
        self.service = service
        self.user = user
        self.isScopeKnown = isScopeKnown
        self.clientAssignsIDs = clientAssignsIDs
        self.supportsCompositeIDs = supportsCompositeIDs
        self.idLength = idLength
        self.sendsWholeRows = sendsWholeRows
        self.ordersVersions = ordersVersions
        self.markerField = markerField
        self.mayRepeatCreates = mayRepeatCreates
        self.filters = filters
        self.resolver = resolver
        self.handlesRowsTogether = handlesRowsTogether
    }
}
