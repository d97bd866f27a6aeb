/// The change set of a sync or plan: the inserted, updated and deleted rows, and the added and removed links.
public struct SyncResult: Sendable, Hashable, Codable {
    /// An updated row, with the names of its written attributes and to-one relationships.
    public struct Update: Sendable, Hashable, Codable {
        /// The key of the row.
        public var key: PrimaryKeyValue
        /// The names of the attributes and to-one relationships that were written. The array is empty if only the
        /// position of the row in an ordered one-to-many relationship changed, or the order of an ordered many-to-many
        /// relationship of the row.
        public var changedAttributes: [String]
        /// The old and new values of the written attributes and relationships, by name; nil unless
        /// ``SyncOptions/resultDetail`` is ``SyncOptions/ResultDetail/values``.
        public var values: [String: ValueChange]?

        private enum CodingKeys: String, CodingKey {
            case key, values
            case changedAttributes = "changed"
        }

        package init(key: PrimaryKeyValue, changedAttributes: [String], values: [String: ValueChange]? = nil) {
            self.key = key
            self.changedAttributes = changedAttributes
            self.values = values
        }
    }

    /// The changes of the rows of one entity. Rows of subentities are not included.
    ///
    /// The counts are always set. The contents of the lists depend on ``SyncOptions/resultDetail``.
    public struct EntityChanges: Sendable, Hashable, Codable {
        /// The number of inserted rows.
        public var insertedCount = 0
        /// The number of updated rows.
        public var updatedCount = 0
        /// The number of deleted rows, including rows that delete rules deleted.
        public var deletedCount = 0
        /// The number of stored rows that the payload describes and that the sync did not change. A row is not counted
        /// if the ``SyncOperations`` of the sync do not allow an update of the row.
        public var unchangedCount = 0
        /// The keys of the inserted rows, in key order; empty if the result contains only counts.
        public var inserted: [PrimaryKeyValue] = []
        /// The updated rows, in key order; empty if the result contains only counts.
        public var updated: [Update] = []
        /// The keys of the deleted rows, in key order; empty if the result contains only counts. Rows that delete rules
        /// deleted are included.
        public var deleted: [PrimaryKeyValue] = []
        /// The inserted rows with their new values, in key order; nil unless ``SyncOptions/resultDetail`` is
        /// ``SyncOptions/ResultDetail/values``.
        public var insertedRows: [Row]?
        /// The deleted rows with their previous values, in key order; nil unless ``SyncOptions/resultDetail`` is
        /// ``SyncOptions/ResultDetail/values``.
        public var deletedRows: [Row]?

        package init() {}

        /// Whether no row of the entity was inserted, updated or deleted.
        public var isEmpty: Bool { insertedCount == 0 && updatedCount == 0 && deletedCount == 0 }
    }

    /// The counts of root records, and of the rows in scope that the sync deleted.
    package struct RootCounts: Sendable, Hashable, Codable {
        /// The number of inserted rows that root records describe.
        package var inserted = 0
        /// The number of stored rows that root records describe, without rows that the allowed operations exclude.
        package var matched = 0
        /// The number of rows in scope that the sync deleted because the payload omitted the rows.
        package var deleted = 0

        package init() {}
    }

    /// The name of the synced entity. For a payload of several entities, the string has all names, separated by commas.
    /// For a paged import without pages, the string is empty.
    public var entity: String
    /// The counts of root records, and of the rows in scope that the sync deleted.
    package var root = RootCounts()
    /// The number of root records. Records without a readable primary key are not counted.
    public var recordCount = 0
    /// The number of root records that repeat the primary key of an earlier root record. Records with the same key
    /// describe one row.
    public var duplicateRecordCount = 0
    /// The number of inconsistent records, at any level of nesting. An inconsistent record has other values than an
    /// earlier record with the same key. If the sync skips neither record, the sync stores the later values. Records of
    /// different chunks or pages are not compared.
    public var inconsistentRecordCount = 0
    /// The changes of each entity, by entity name. Entities whose counts are all zero are omitted.
    public var entities: [String: EntityChanges] = [:]
    /// The number of added links.
    public var linksAdded = 0
    /// The number of removed links, without removed dangling links.
    public var linksRemoved = 0
    /// The added links, sorted by entity, key, relationship and target; nil unless ``SyncOptions/resultDetail`` is
    /// ``SyncOptions/ResultDetail/values``.
    public var addedLinks: [Link]?
    /// The removed links, sorted by entity, key, relationship and target; nil unless ``SyncOptions/resultDetail`` is
    /// ``SyncOptions/ResultDetail/values``.
    public var removedLinks: [Link]?
    /// The problems that did not stop the sync; at most 10,000. Diagnostics of the kind
    /// ``SyncDiagnostic/Kind/deletionsSkipped`` are listed even above this limit.
    public var diagnostics: [SyncDiagnostic] = []
    /// The number of diagnostics that ``diagnostics`` omits because of its limit of 10,000.
    public var omittedDiagnosticCount = 0
    /// The pending references of the payload: references to rows that are not stored yet. A later sync that inserts the
    /// referenced row also adds the link, unless another payload has replaced the reference. For a payload that is read
    /// in chunks, the array can be incomplete, unless ``SyncOptions/resultDetail`` is
    /// ``SyncOptions/ResultDetail/keys`` or ``SyncOptions/ResultDetail/values``.
    public var pendingReferences: [Link] = []
    /// The address or cursor of the next page: `links.next` of a JSON:API payload, or `endCursor` of a GraphQL
    /// connection. The value is nil if the payload names no next page.
    public var nextPage: String?
    /// The JSON keys that match no attribute or relationship, as diagnostics of the kind
    /// ``SyncDiagnostic/Kind/unmappedKey``. Keys that the model ignores are not listed.
    public var unmappedKeys: [SyncDiagnostic] = []

    /// Creates a result without changes.
    package init(entity: String) { self.entity = entity }

    /// The names of the members in JSON, which scenario files also use.
    private enum CodingKeys: String, CodingKey {
        case entity, root, entities, linksAdded, linksRemoved, addedLinks, removedLinks, diagnostics, nextPage,
            unmappedKeys
        case recordCount = "records"
        case duplicateRecordCount = "repeatedRecords"
        case inconsistentRecordCount = "contradictions"
        case omittedDiagnosticCount = "omittedDiagnostics"
        case pendingReferences = "unresolved"
    }

    /// The changes of an entity. If ``entities`` omits the entity, all counts are zero.
    public subscript(entity: String) -> EntityChanges { entities[entity] ?? EntityChanges() }

    /// Adds an attribute to the update of a row. Creates the update if the row has none.
    package mutating func addUpdate(
        of attribute: String, entity: String, key: PrimaryKeyValue, values: ValueChange? = nil
    ) {
        var changes = self[entity]
        if let place = changes.updated.firstIndex(where: { $0.key == key }) {
            changes.updated[place].changedAttributes.append(attribute)
            changes.updated[place].values?[attribute] = values
        } else {
            changes.updated.append(
                Update(key: key, changedAttributes: [attribute], values: values.map { [attribute: $0] }))
            changes.updatedCount += 1
            changes.unchangedCount = max(0, changes.unchangedCount - 1)
        }
        entities[entity] = changes
    }

    /// Whether the sync changed no rows and no links.
    public var isEmpty: Bool {
        entities.values.allSatisfy(\.isEmpty) && linksAdded == 0 && linksRemoved == 0
    }
}

/// The progress of a sync: the argument of the function ``SyncOptions/progress``.
public struct SyncProgress: Sendable, Hashable {
    /// A phase of a sync.
    public enum Phase: String, Sendable, Hashable, CaseIterable {
        /// The sync reads the payload. The units are bytes or records, depending on the payload.
        case mapping
        /// The sync compares the payload with the stored rows. The units are rows and links.
        case comparing
        /// The sync writes the differences. The units are rows and links.
        case writing
    }

    /// The phase that is in progress.
    public var phase: Phase
    /// The number of completed units of the phase.
    public var completed: Int
    /// The total number of units of the phase; nil if the number is not known, for example while the sync compares
    /// rows.
    public var total: Int?

    package init(_ phase: Phase, completed: Int, total: Int? = nil) {
        self.phase = phase
        self.completed = completed
        self.total = total
    }
}

// MARK: - Description

extension SyncResult: CustomStringConvertible {
    /// A string with one line for each changed entity, and a last line with other counts, such as links and
    /// diagnostics:
    ///
    ///     Note: 1 deleted
    ///     User: 2 inserted, 1 updated, 40 unchanged
    ///     3 links added; 1 diagnostic
    ///
    /// Counts of zero are omitted. If no entity has changes, the first line has the form
    /// `User: nothing changed (40 unchanged)`.
    public var description: String {
        let changed = entities.filter { !$0.value.isEmpty }.sorted { $0.key < $1.key }
        var lines = changed.map { name, changes in "\(name): \(changes)" }
        if lines.isEmpty {
            let unchanged = self[entity].unchangedCount
            lines.append(
                "\(entity.isEmpty ? "" : "\(entity): ")nothing changed"
                    + (unchanged > 0 ? " (\(unchanged) unchanged)" : ""))
        }
        let counts = [
            (linksAdded, "link", " added"), (linksRemoved, "link", " removed"),
            (inconsistentRecordCount, "inconsistent record", ""), (pendingReferences.count, "pending reference", ""),
            (unmappedKeys.count, "unmapped key", ""),
            (diagnostics.count + omittedDiagnosticCount, "diagnostic", ""),
        ]
        let rest = counts.filter { $0.0 > 0 }.map { CountText.count($0.0, $0.1) + $0.2 }
        return (lines + (rest.isEmpty ? [] : [rest.joined(separator: "; ")])).joined(separator: "\n")
    }
}

extension SyncResult.EntityChanges: CustomStringConvertible {
    /// The nonzero counts as a string, such as `2 inserted, 1 updated, 40 unchanged`; `nothing` if all counts are zero.
    public var description: String {
        let counts = [
            (insertedCount, "inserted"), (updatedCount, "updated"), (deletedCount, "deleted"),
            (unchangedCount, "unchanged"),
        ]
        return CountText.list(counts) ?? "nothing"
    }
}

extension SyncResult.Update: CustomStringConvertible {
    /// The key and the names of the written attributes as a string, such as `2: age, company`. If the values are known,
    /// the string has them: `2: age 20 → 21, company 7 → null`.
    public var description: String {
        let changes = changedAttributes.map { name in values?[name].map { "\(name) \($0)" } ?? name }
        return "\(key): \(changes.isEmpty ? "order" : changes.joined(separator: ", "))"
    }
}

extension SyncResult.ValueChange: CustomStringConvertible {
    /// The values as JSON, such as `20 → 21`.
    public var description: String { "\(old) → \(new)" }
}

extension SyncResult.Row: CustomStringConvertible {
    /// The key and the values as a string, sorted by name, such as `9: age 20, company 7`.
    public var description: String {
        let values = values.sorted { $0.key < $1.key }.map { "\($0) \($1)" }
        return "\(key): \(values.joined(separator: ", "))"
    }
}

extension SyncResult.Link: CustomStringConvertible {
    /// The link as a string, such as `User 2: company → 7`.
    public var description: String { "\(entity) \(key): \(relationship) → \(target)" }
}

// MARK: - Values

// The parts of a result that lists values. A sync reads the JSON of a value back as the same value: a date is
// `2024-02-29T18:29:59.999Z`, and bytes are base64. The value of a to-one relationship is the key of the referenced
// row.
extension SyncResult {
    /// The old and new values of an attribute or to-one relationship. The value of a relationship is the key of the
    /// referenced row.
    public struct ValueChange: Sendable, Hashable, Codable {
        /// The old value; null if there was none.
        public var old: JSONValue
        /// The new value; null if there is none.
        public var new: JSONValue

        package init(old: JSONValue, new: JSONValue) {
            self.old = old
            self.new = new
        }
    }

    /// An inserted or deleted row with its values.
    public struct Row: Sendable, Hashable, Codable {
        /// The key of the row.
        public var key: PrimaryKeyValue
        /// The stored values of the attributes and to-one relationships of the row, by name. Null values are omitted.
        /// The value of a relationship is the key of the referenced row.
        public var values: [String: JSONValue]

        package init(key: PrimaryKeyValue, values: [String: JSONValue]) {
            self.key = key
            self.values = values
        }
    }

    /// An added link, a removed link, or a pending reference.
    public struct Link: Sendable, Hashable, Codable {
        /// The entity of the row that has the relationship.
        public var entity: String
        /// The key of the row that has the relationship.
        public var key: PrimaryKeyValue
        /// The name of the relationship. A pending reference has the relationship in the payload. An added or removed
        /// link that is stored as a foreign key has the to-one relationship of that foreign key.
        public var relationship: String
        /// The key of the linked or referenced row.
        public var target: PrimaryKeyValue

        package init(entity: String, key: PrimaryKeyValue, relationship: String, target: PrimaryKeyValue) {
            self.entity = entity
            self.key = key
            self.relationship = relationship
            self.target = target
        }
    }
}

extension SyncResult.Link {
    /// Returns whether a link precedes another link, compared by entity, key, relationship and target.
    package static func < (left: Self, right: Self) -> Bool {
        (left.entity, left.key, left.relationship, left.target)
            < (right.entity, right.key, right.relationship, right.target)
    }
}
