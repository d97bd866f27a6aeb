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
        /// Domains in which both sides differed.
        public var conflicts = 0
        /// Rows that were refused.
        public var parked = 0

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
        conflicts += other.conflicts
        parked += other.parked
    }
}

/// The report of a run that goes on.
final class ReportDraft: @unchecked Sendable {
    private let lock = NSLock()
    private var report = SyncReport()

    func note(_ entity: String, _ body: (inout SyncReport.Changes) -> Void) {
        lock.withLock { body(&report.entities[entity, default: .init()]) }
    }

    var current: SyncReport { lock.withLock { report } }
}
