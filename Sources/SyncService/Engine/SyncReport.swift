import Foundation

/// What a run did.
public struct SyncReport: Sendable, Hashable, Codable {
    /// What happened to rows of one entity.
    public struct Changes: Sendable, Hashable, Codable {
        /// Rows that the service had and the store did not.
        public var inserted = 0
        /// Rows that got values of the service's.
        public var updated = 0
        /// Rows that the service does not have any more.
        public var deleted = 0
        /// Rows made here that the service has now.
        public var created = 0
        /// Rows whose edits the service has now.
        public var sent = 0
        /// Rows deleted here that the service does not have any more.
        public var removed = 0
        /// Pairs of rows that pages of the entity linked.
        public var linksAdded = 0
        /// Pairs of rows that pages of the entity unlinked.
        public var linksRemoved = 0
        /// Rows of which both sides had changed the same, or one what the other deleted.
        public var conflicts = 0
        /// The values of those rows that differed: the lines that the log of conflicts has of them.
        public var conflictingValues = 0
        /// Rows that were refused.
        public var parked = 0
        /// Records that were left out because they have no id.
        public var skipped = 0
        /// The place of the first of them in the list that was pulled, from 0.
        public var firstSkipped: Int?
        /// Values of the service that do not fit the model: the store keeps what it had.
        public var unread = 0
        /// The first of them: its row, its member, and why.
        public var firstUnreadable: String?

        /// No changes.
        public init() {}

        /// Whether nothing happened.
        public var isEmpty: Bool { self == Changes() }
    }

    /// By entity.
    public var entities: [String: Changes] = [:]

    /// No changes.
    public init() {}

    /// Whether nothing happened.
    public var isEmpty: Bool { entities.values.allSatisfy(\.isEmpty) }

    /// Of all entities together.
    public var total: Changes {
        entities.values.reduce(into: Changes()) { $0.add($1) }
    }

    /// With what another run did.
    mutating func add(_ other: SyncReport) {
        for (name, changes) in other.entities { entities[name, default: Changes()].add(changes) }
    }
}

extension SyncReport.Changes {
    fileprivate mutating func add(_ other: Self) {
        inserted += other.inserted
        updated += other.updated
        deleted += other.deleted
        created += other.created
        sent += other.sent
        removed += other.removed
        linksAdded += other.linksAdded
        linksRemoved += other.linksRemoved
        conflicts += other.conflicts
        conflictingValues += other.conflictingValues
        parked += other.parked
        skipped += other.skipped
        firstSkipped = firstSkipped ?? other.firstSkipped
        unread += other.unread
        firstUnreadable = firstUnreadable ?? other.firstUnreadable
    }
}

/// What an engine tells of a run while it goes on.
public enum SyncEvent: Sendable {
    /// What a run does, in this order.
    public enum Phase: String, Sendable, Hashable, CaseIterable {
        /// Asks what became of requests whose answers were lost.
        case recovering
        /// Takes what is new.
        case pulling
        /// Deletes what the service does not have any more.
        case sweeping
        /// Sends what changed here.
        case pushing
    }

    /// A phase begins.
    case phase(Phase)
    /// Rows were pulled: so many by now, of so many if the service says.
    case pulled(entity: String, rows: Int, of: Int?)
    /// Changes were sent: so many by now.
    case pushed(rows: Int)
    /// Nothing happens for so long, for this reason: the service fails or asks for it, or an answer was lost.
    case waiting(Duration, reason: String)
    /// The run is over.
    case finished(SyncReport)
    /// The run ended with an error.
    case failed(any Error)
}
