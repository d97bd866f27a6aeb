package import SyncCore

/// What the two-way engine asks of a database: each call is one transaction, and none waits for the network.
package protocol EngineStore: Sendable {
    var model: SyncModel { get }
    /// The keys that lead to each value that is sent, by entity.
    var memberPaths: [String: [[String]]] { get }

    /// Takes the database for one run: no other process runs meanwhile.
    ///
    /// - Throws: ``SyncError`` `engineBusy` if another process has it.
    func begin(_ registration: EngineRegistration, holder: String) async throws -> RunState

    /// Says that a run goes on, though it has not written anything for a while: a request of it may take longer than a lease.
    ///
    /// - Throws: ``SyncError`` `engineBusy` if another process has the database by now.
    func renew(_ lease: EngineLease) async throws

    /// Applies pages of several entities, those first that others point to: rows, tombstones, merges, versions and where to go on,
    /// all or nothing.
    func apply(_ pages: [PulledPage], _ lease: EngineLease) async throws -> AppliedChanges

    /// Takes the next changes of entities that can be sent, and keeps what exactly is sent.
    ///
    /// - Parameters:
    ///   - limit: How many at most.
    ///   - edit: The counter of the last edit that is sent; nil for the last one there is.
    /// - Returns: The changes, and the counter of the last edit that is sent.
    func freeze(
        _ limit: Int, of entities: [String], upTo edit: Int64?, _ lease: EngineLease
    ) async throws -> (requests: [OutgoingRequest], edit: Int64)

    /// The requests that an earlier run sent and never heard of.
    func unanswered(_ lease: EngineLease) async throws -> [OutgoingRequest]

    /// Settles requests by what became of them.
    func settle(_ replies: [RequestOutcome], serverTime: Int64?, _ lease: EngineLease) async throws -> AppliedChanges

    /// Has rows that were refused for the first time sent once more: what stood in their way may be gone.
    ///
    /// - Returns: How many.
    func retryBlocked(_ entities: [String], _ lease: EngineLease) async throws -> Int

    /// Has rows that were refused sent once more, if what they point to came, or came back, since.
    ///
    /// - Returns: How many.
    func retryBelow(_ entities: [String], _ lease: EngineLease) async throws -> Int

    /// Begins a listing of all ids of an entity, or goes on with one.
    func beginListing(of entity: String, _ lease: EngineLease) async throws

    /// The known rows that a finished listing lacks, whatever was done to them here: to be confirmed.
    func missing(from entity: String, _ lease: EngineLease) async throws -> [JSONValue]

    /// Notes rows that a listing has.
    ///
    /// - Returns: Those that are not stored here as the listing has them, to be fetched.
    func insertListed(_ listed: [ListedRecord], of entity: String, _ lease: EngineLease) async throws
        -> ListingDifference

    /// Ends a listing: notes rows that the server confirmed it does not have.
    func finishListing(of entity: String, missing ids: [JSONValue], _ lease: EngineLease) async throws

    /// Deletes the rows that the server said are deleted, and within the guard those that are missing; then tries the rows
    /// again that a constraint refused.
    ///
    /// - Parameter swept: The entities whose listings ended.
    /// - Returns: What was done, and why none of those that are missing was deleted (``SyncError`` `deletionGuard`).
    func applyDeletions(
        guardedBy limit: DeletionLimit?, swept: [String], _ lease: EngineLease
    ) async throws -> (outcome: AppliedChanges, refusal: SyncError?)

    /// Notes that these entities are in step. Frees the database.
    ///
    /// - Parameter attempts: How often the service failed in a row; 0 where `notBefore` is what it asked for.
    func finish(_ entities: [String], notBefore: Int64?, attempts: Int, _ lease: EngineLease) async throws

    /// How each entity stands.
    func status() async throws -> [EntityStatus]

    /// The rows that the server refused, or that a constraint here did, and why.
    func parkedRows() async throws -> [BlockedChange]

    /// The log of conflicts, open ones first.
    func conflicts() async throws -> [LoggedConflict]

    /// Decides an open conflict.
    func resolve(_ entity: String, key: JSONValue, domain: String?, takingRemote: Bool) async throws

    /// Makes a row anew that the server's deletion took away, as it was here.
    ///
    /// - Throws: ``SyncError`` `rowNotFound` if the log has no such row.
    func restore(_ entity: String, key: JSONValue) async throws

    /// Forgets what an engine knows.
    ///
    /// - Throws: ``SyncError`` `engineBusy` while another holder has the database.
    func reset(_ kind: EngineReset, of entities: [String], holder: String) async throws

    // MARK: Files

    /// Looks whether an attribute of a row can hold the name of a file.
    ///
    /// - Throws: ``SyncError`` `unknownAttribute`, `invalidOption`, `rowNotFound`.
    func checkFile(of entity: String, key: JSONValue, attribute: String) async throws

    /// Notes a file that is to be sent, in the place of another one for the same attribute.
    ///
    /// - Throws: As `checkFile`.
    func attach(_ content: FileContent, to entity: String, key: JSONValue, attribute: String) async throws

    /// What an attribute holds of a file.
    ///
    /// - Throws: As `checkFile`.
    func file(of entity: String, key: JSONValue, attribute: String) async throws -> FileAttributeState

    /// All files that the server does not have.
    func waitingFiles() async throws -> [PendingUpload]

    /// The files of rows that the server has; those of rows that were deleted are forgotten.
    func filesToSend(_ entities: [String], _ lease: EngineLease) async throws -> [PendingUpload]

    /// Settles a file by what became of it, unless another one was attached meanwhile.
    func settle(_ file: PendingUpload, _ outcome: PendingUpload.Outcome, _ lease: EngineLease) async throws

    // MARK: Without a lease

    /// Where the pull of each entity goes on.
    func cursors(_ registration: EngineRegistration) async throws -> [String: PullState]

    /// Whether a page has anything that is not known.
    func hasNews(_ page: PulledPage) async throws -> Bool

    /// Those of some ids that no known row has. With a counter of edits also those of rows that were pulled since then; a row that
    /// was made here is known all the same.
    func unknown(_ ids: [JSONValue], of entity: String, since edit: Int64?) async throws -> [JSONValue]

    /// Whether two ids are those of one row, however they are written.
    func areSame(_ id: JSONValue, _ other: JSONValue, of entity: String) throws -> Bool

    /// The id that a record has; nil if it has none that can be read.
    func id(of record: JSONValue, _ entity: String) throws -> JSONValue?
}

extension EngineStore {
    /// Applies a page.
    package func apply(_ page: PulledPage, _ lease: EngineLease) async throws -> AppliedChanges {
        try await apply([page], lease)
    }
}

/// The permission to write for one run. Whoever takes the database from a run that seems dead has a higher token.
package struct EngineLease: Sendable {
    package let token: Int64

    package init(token: Int64) { self.token = token }
}

/// What a run begins with.
package struct RunState: Sendable {
    package let lease: EngineLease
    package let cursors: [String: PullState]
    /// The counter of edits.
    package let edits: Int64
    /// When the service may be asked again, in milliseconds since 1970, and how often it failed in a row: 0 where it asked for that.
    package let notBefore: Int64?
    package let attempts: Int
    /// Whether there are requests that were never answered.
    package let isAnyUnanswered: Bool
    /// Whether there are rows that the service refused.
    package let isAnyBlocked: Bool

    /// Whether the service asked to be left alone.
    package var isAsked: Bool { notBefore != nil && attempts == 0 }

    package init(
        lease: EngineLease, cursors: [String: PullState], edits: Int64, notBefore: Int64?, attempts: Int,
        isAnyUnanswered: Bool, isAnyBlocked: Bool
    ) {
        self.lease = lease
        self.cursors = cursors
        self.edits = edits
        self.notBefore = notBefore
        self.attempts = attempts
        self.isAnyUnanswered = isAnyUnanswered
        self.isAnyBlocked = isAnyBlocked
    }
}

/// Where the pull of an entity goes on.
package struct PullState: Sendable {
    /// The service's word for what was pulled; nil for nothing.
    package let cursor: String?
    /// The page at which a pull was interrupted.
    package let next: String?
    package let isInitialSyncComplete: Bool
    /// When all ids were last listed, in milliseconds since 1970.
    package let lastSweep: Int64?
    /// Whether all was pulled, and what that lacks was not looked at yet.
    package let isListed: Bool

    package init(cursor: String?, next: String?, isInitialSyncComplete: Bool, lastSweep: Int64?, isListed: Bool) {
        self.cursor = cursor
        self.next = next
        self.isInitialSyncComplete = isInitialSyncComplete
        self.lastSweep = lastSweep
        self.isListed = isListed
    }
}

/// What an engine keeps in step: entities, whose they are, and how conflicts in them end.
package struct EngineRegistration: Sendable {
    package struct Entity: Sendable {
        package let name: String
        package let policy: ConflictPolicy
        package let deletions: DeleteConflictPolicy
        /// Whether all attributes and links of a row are one domain, of which the side that edited keeps all.
        package let isOneDomain: Bool
        /// Attributes and to-ones of which the side that edited one keeps all of a group.
        package let groups: [[String]]
        /// The attributes that make two new rows the same.
        package let naturalKey: [String]
        /// Whether what a deletion on the server takes along here is deleted there by this side.
        package let sendsCascades: Bool

        package init(
            name: String, policy: ConflictPolicy, deletions: DeleteConflictPolicy, isOneDomain: Bool,
            groups: [[String]] = [], naturalKey: [String], sendsCascades: Bool
        ) {
            self.name = name
            self.policy = policy
            self.deletions = deletions
            self.isOneDomain = isOneDomain
            self.groups = groups
            self.naturalKey = naturalKey
            self.sendsCascades = sendsCascades
        }
    }

    package let entities: [Entity]
    /// What the service is, and the user there: a database is in step with one.
    package let service: String
    package let user: String
    /// Whether that is known: else nothing is asked of a service, and the database is not asked whose it is.
    package let isScopeKnown: Bool
    /// Whether pages are imported and nothing is sent: edits are not noticed, unless another engine does.
    package let isImport: Bool
    /// Whether a row made here has its key from here.
    package let makesIDs: Bool
    /// Whether the service takes ids of several parts.
    package let takesParts: Bool
    /// How many characters such a key has, of a to z and 0 to 9; nil for a UUID.
    package let idLength: Int?
    /// Whether a change is sent with all values of its row.
    package let sendsWholeRows: Bool
    /// Whether a version tells which of two is older.
    package let ordersVersions: Bool
    /// The member in which the service keeps the name that a new row had here; nil for none.
    package let marker: String?
    /// Says of each entity what its rows are asked for with; with another the next pull is a whole one.
    package let filters: [String: String]
    /// The app's own rule for conflicts.
    package let resolver: (@Sendable (DomainConflict) -> DomainConflict.Resolution)?

    package init(
        entities: [Entity], service: String, user: String, isScopeKnown: Bool = true, isImport: Bool = false,
        makesIDs: Bool,
        takesParts: Bool = false, idLength: Int? = nil, sendsWholeRows: Bool = false, ordersVersions: Bool = false,
        marker: String? = nil, filters: [String: String],
        resolver: (@Sendable (DomainConflict) -> DomainConflict.Resolution)? = nil
    ) {
        self.entities = entities
        self.service = service
        self.user = user
        self.isScopeKnown = isScopeKnown
        self.isImport = isImport
        self.makesIDs = makesIDs
        self.takesParts = takesParts
        self.idLength = idLength
        self.sendsWholeRows = sendsWholeRows
        self.ordersVersions = ordersVersions
        self.marker = marker
        self.filters = filters
        self.resolver = resolver
    }
}
