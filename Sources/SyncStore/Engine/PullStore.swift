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
