/// The changes of an engine run, by entity.
public struct SyncReport: Sendable, Hashable, Codable {
    /// The changes of one entity.
    public struct Changes: Sendable, Hashable, Codable {
        /// The number of rows that the run inserted from records of the service.
        public var pulledInserts = 0
        /// The number of rows that the run updated with values of the service.
        public var pulledUpdates = 0
        /// The number of deleted rows whose records the service no longer has. Rows that cascading delete rules deleted
        /// also count.
        public var pulledDeletes = 0
        /// The number of inserts that the service accepted.
        public var pushedInserts = 0
        /// The number of updates that the service accepted, plus the number of uploaded files.
        public var pushedUpdates = 0
        /// The number of deletions that the service accepted.
        public var pushedDeletes = 0
        /// The number of links that remote changes added.
        public var linksAdded = 0
        /// The number of links that remote changes removed. Links of deleted rows do not count.
        public var linksRemoved = 0
        /// The number of conflicts that the run added to the conflict log. Conflicts in several fields of a row count
        /// as one conflict. If a cascading delete rule deleted a row without local edits, the log entries of this row
        /// do not count.
        public var conflicts = 0
        /// The number of log entries of the counted conflicts: one for each field, or one for a row as a whole.
        package var conflictingValues = 0
        /// The number of changes and files that the run blocked, plus the number of quarantined records. Changes that
        /// earlier runs blocked do not count; see `SyncEngine.blockedChanges(only:)`.
        public var blockedChanges = 0
        /// The number of pulled records without an ID. The engine skips such records.
        public var invalidRecords = 0
        /// The index of the first skipped record in the pulled list; nil if no record was skipped.
        package var firstInvalidRecord: Int?
        /// The number of remote values that do not fit the model. The engine does not store these values.
        public var unreadableValues = 0
        /// A description of the first value that does not fit the model: row, member and problem. Nil if there is no
        /// such value.
        public package(set) var firstUnreadableValue: String?
        /// The number of records in a pull of all records, if the service should have versions and no record has one;
        /// nil otherwise. Not counted by ``isEmpty``, because some lists of a service may have no versions.
        package var unversionedRecords: Int?

        package init() {}

        /// Whether all counts are zero.
        public var isEmpty: Bool {
            var counts = self
            counts.unversionedRecords = nil
            return counts == Changes()
        }
    }

    /// The changes, by the name of the entity.
    public var entities: [String: Changes] = [:]

    /// Creates an empty report.
    package init() {}

    /// The changes of the entity of a Swift type; all counts are zero if nothing changed.
    public subscript(type: (some SyncEntity).Type) -> Changes { entities[type.entityName] ?? Changes() }

    package subscript(entity: String) -> Changes {
        get { entities[entity] ?? Changes() }
        set { entities[entity] = newValue }
    }

    /// Whether all counts of all entities are zero.
    public var isEmpty: Bool { entities.values.allSatisfy(\.isEmpty) }

    /// The sum of the changes of all entities.
    public var total: Changes {
        entities.values.reduce(into: Changes()) { $0.add($1) }
    }

    /// Adds the changes of another run, or of a transaction of this run.
    package mutating func add(_ other: SyncReport) {
        for (name, changes) in other.entities { entities[name, default: Changes()].add(changes) }
    }
}

extension SyncReport: CustomStringConvertible {
    /// The changes as text, one line for each entity with changes, such as
    /// `Project: pulled 3 inserted, 1 updated; pushed 2 inserted`. If all counts are zero, the text is
    /// `nothing changed`.
    public var description: String {
        let lines = entities.filter { !$0.value.isEmpty }.sorted { $0.key < $1.key }.map { "\($0): \($1)" }
        return lines.isEmpty ? "nothing changed" : lines.joined(separator: "\n")
    }
}

extension SyncReport.Changes: CustomStringConvertible {
    /// The counts that are not zero, as text such as `pulled 3 inserted, 1 updated; pushed 2 inserted`; `nothing` if
    /// all counts are zero.
    public var description: String {
        func list(_ title: String, _ counts: [(Int, String)]) -> String? {
            CountText.list(counts).map { "\(title) \($0)" }
        }
        func count(_ number: Int, _ name: String) -> String? { number == 0 ? nil : CountText.count(number, name) }
        let parts = [
            list("pulled", [(pulledInserts, "inserted"), (pulledUpdates, "updated"), (pulledDeletes, "deleted")]),
            list("pushed", [(pushedInserts, "inserted"), (pushedUpdates, "updated"), (pushedDeletes, "deleted")]),
            list("links", [(linksAdded, "added"), (linksRemoved, "removed")]),
            count(conflicts, "row").map { "\($0) with conflicts" }, count(blockedChanges, "blocked change"),
            count(invalidRecords, "record").map { "\($0) without an ID" },
            count(unreadableValues, "unreadable value").map { text in
                firstUnreadableValue.map { "\(text), first \($0)" } ?? text
            },
            count(unversionedRecords ?? 0, "record").map { "\($0) without a version" },
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
        if let count = other.unversionedRecords { unversionedRecords = (unversionedRecords ?? 0) + count }
    }
}
