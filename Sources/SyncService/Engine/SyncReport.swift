import Foundation
public import SyncCore

/// The changes of an engine run, by entity.
public struct SyncReport: Sendable, Hashable, Codable {
    /// The changes of one entity.
    public struct Changes: Sendable, Hashable, Codable {
        /// The number of rows that the run inserted because the service has them.
        public var pulledInserts = 0
        /// The number of rows that the run updated with values of the service.
        public var pulledUpdates = 0
        /// The number of rows that the run deleted because the service no longer has them, including rows that delete
        /// rules cascade to.
        public var pulledDeletes = 0
        /// The number of new rows that the service accepted.
        public var pushedInserts = 0
        /// The number of updates that the service accepted, and of files that it stored.
        public var pushedUpdates = 0
        /// The number of deletions that the service accepted.
        public var pushedDeletes = 0
        /// The number of links that remote changes added.
        public var linksAdded = 0
        /// The number of links that remote changes removed.
        public var linksRemoved = 0
        /// The number of rows for which the run added entries to the conflict log. Rows that only a cascade deleted do
        /// not count.
        public var conflicts = 0
        /// The number of entries that the run added to the conflict log for these rows.
        package var conflictingValues = 0
        /// The number of changes and files that were blocked, and of records that were quarantined.
        public var blockedChanges = 0
        /// The number of pulled records without an ID. The engine skips such records.
        public var invalidRecords = 0
        /// The index of the first skipped record in the pulled list.
        package var firstInvalidRecord: Int?
        /// The number of remote values that the model cannot read. The rows do not get these values.
        public var unreadableValues = 0
        /// A description of the first value that the model cannot read: its row, member and problem.
        package var firstUnreadableValue: String?

        package init() {}

        /// Whether all numbers are zero.
        public var isEmpty: Bool { self == Changes() }
    }

    /// The changes by the name of the entity.
    public var entities: [String: Changes] = [:]

    /// Creates an empty report.
    package init() {}

    /// The changes of the entity of a Swift type; all numbers are zero if nothing changed.
    public subscript(type: (some SyncEntity).Type) -> Changes { entities[type.entityName] ?? Changes() }

    /// Whether all numbers of all entities are zero.
    public var isEmpty: Bool { entities.values.allSatisfy(\.isEmpty) }

    /// The sum of the changes of all entities.
    public var total: Changes {
        entities.values.reduce(into: Changes()) { $0.add($1) }
    }

    /// Adds the changes of another run.
    mutating func add(_ other: SyncReport) {
        for (name, changes) in other.entities { entities[name, default: Changes()].add(changes) }
    }
}

extension SyncReport: CustomStringConvertible {
    /// The changes as text, a line for each entity, such as `Project: pulled 3 inserted, 1 updated; pushed 2 inserted`;
    /// `nothing changed` if all numbers are zero.
    public var description: String {
        let lines = entities.filter { !$0.value.isEmpty }.sorted { $0.key < $1.key }.map { "\($0): \($1)" }
        return lines.isEmpty ? "nothing changed" : lines.joined(separator: "\n")
    }
}

extension SyncReport.Changes: CustomStringConvertible {
    /// The numbers as text, without those that are zero, such as `pulled 3 inserted, 1 updated; pushed 2 inserted`;
    /// `nothing` if all are zero.
    public var description: String {
        func list(_ title: String, _ counts: [(Int, String)]) -> String? {
            let texts = counts.filter { $0.0 > 0 }.map { "\($0.0) \($0.1)" }
            return texts.isEmpty ? nil : "\(title) \(texts.joined(separator: ", "))"
        }
        func count(_ number: Int, _ what: String) -> String? {
            number == 0 ? nil : "\(number) \(what)\(number == 1 ? "" : "s")"
        }
        let parts = [
            list("pulled", [(pulledInserts, "inserted"), (pulledUpdates, "updated"), (pulledDeletes, "deleted")]),
            list("pushed", [(pushedInserts, "inserted"), (pushedUpdates, "updated"), (pushedDeletes, "deleted")]),
            list("links", [(linksAdded, "added"), (linksRemoved, "removed")]),
            count(conflicts, "row").map { "\($0) with conflicts" }, count(blockedChanges, "blocked change"),
            count(invalidRecords, "record").map { "\($0) without an ID" },
            count(unreadableValues, "unreadable value"),
        ].compactMap(\.self)
        return parts.isEmpty ? "nothing" : parts.joined(separator: "; ")
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
    /// A phase of a run. The cases are in the order of the phases.
    public enum Phase: String, Sendable, Hashable, CaseIterable {
        /// The engine resolves in-doubt requests.
        case recovering
        /// The engine pulls remote changes.
        case pulling
        /// The engine compares listings with the store, and deletes the rows that the service lacks.
        case reconciling
        /// The engine pushes local changes.
        case pushing
    }

    /// A phase begins.
    case phase(Phase)
    /// The engine pulled records of an entity. `rows` is the number so far, and `of` is the total; nil if the service
    /// does not report it.
    case pulled(entity: String, rows: Int, of: Int?)
    /// The engine pushed changes. `rows` is the number of accepted changes since the push began, and `of` is the number
    /// of changes that were pending then. Changes that are made during the push may raise `of`.
    case pushed(rows: Int, of: Int)
    /// The run waits for a duration. `reason` states why.
    case waiting(Duration, reason: String)
    /// The run finished.
    case finished(SyncReport)
    /// The run ended with an error.
    case failed(any Error)
}
