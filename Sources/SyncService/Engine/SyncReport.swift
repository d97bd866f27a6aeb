import Foundation

/// The changes of an engine run, by entity.
public struct SyncReport: Sendable, Hashable, Codable {
    /// The changes of one entity.
    public struct Changes: Sendable, Hashable, Codable {
        /// The number of pulled inserts.
        public var pulledInserts = 0
        /// The number of pulled updates.
        public var pulledUpdates = 0
        /// The number of pulled deletes.
        public var pulledDeletes = 0
        /// The number of pushed inserts.
        public var pushedInserts = 0
        /// The number of pushed updates.
        public var pushedUpdates = 0
        /// The number of pushed deletes.
        public var pushedDeletes = 0
        /// The number of links that pulled pages added.
        public var linksAdded = 0
        /// The number of links that pulled pages removed.
        public var linksRemoved = 0
        /// The number of rows with a conflict: both sides changed a field, or one side deleted the row.
        public var conflicts = 0
        /// The number of fields in conflict, which are the entries in the conflict log.
        package var conflictingValues = 0
        /// The number of rows that were blocked.
        public var blockedChanges = 0
        /// The number of records without an ID, which were skipped.
        public var invalidRecords = 0
        /// The index of the first skipped record in the pulled list.
        package var firstInvalidRecord: Int?
        /// The number of remote values of the wrong type. The store keeps its values.
        public var unreadableValues = 0
        /// The first value of the wrong type: its row, member and problem.
        package var firstUnreadableValue: String?

        /// Creates an empty set of changes.
        package init() {}

        /// Whether there are no changes.
        public var isEmpty: Bool { self == Changes() }
    }

    /// The changes by entity.
    public var entities: [String: Changes] = [:]

    /// Creates an empty report.
    package init() {}

    /// Whether there are no changes.
    public var isEmpty: Bool { entities.values.allSatisfy(\.isEmpty) }

    /// The sum of all entities.
    public var total: Changes {
        entities.values.reduce(into: Changes()) { $0.add($1) }
    }

    /// Adds the changes of another run.
    mutating func add(_ other: SyncReport) {
        for (name, changes) in other.entities { entities[name, default: Changes()].add(changes) }
    }
}

extension SyncReport.Changes {
    fileprivate mutating func add(_ other: Self) {
        pulledInserts += other.pulledInserts
        pulledUpdates += other.pulledUpdates
        pulledDeletes += other.pulledDeletes
        pushedInserts += other.pushedInserts
        pushedUpdates += other.pushedUpdates
        pushedDeletes += other.pushedDeletes
        linksAdded += other.linksAdded
        linksRemoved += other.linksRemoved
        conflicts += other.conflicts
        conflictingValues += other.conflictingValues
        blockedChanges += other.blockedChanges
        invalidRecords += other.invalidRecords
        firstInvalidRecord = firstInvalidRecord ?? other.firstInvalidRecord
        unreadableValues += other.unreadableValues
        firstUnreadableValue = firstUnreadableValue ?? other.firstUnreadableValue
    }
}

/// An event of a run in progress.
public enum SyncEvent: Sendable {
    /// The phases of a run, in this order.
    public enum Phase: String, Sendable, Hashable, CaseIterable {
        /// Resolves in-doubt requests of earlier runs.
        case recovering
        /// Pulls remote changes.
        case pulling
        /// Reconciles, and deletes the rows that the service lacks.
        case reconciling
        /// Pushes local changes.
        case pushing
    }

    /// A phase begins.
    case phase(Phase)
    /// Rows were pulled: the number until now, and the total if the service reports it.
    case pulled(entity: String, rows: Int, of: Int?)
    /// Changes were pushed: the number until now.
    case pushed(rows: Int)
    /// The run waits this long: the service failed or asked for a delay, or a response was lost.
    case waiting(Duration, reason: String)
    /// The run finished.
    case finished(SyncReport)
    /// The run ended with an error.
    case failed(any Error)
}
