/// The changes of a sync, or of a plan: rows that were inserted, updated and deleted, and links.
public struct SyncResult: Sendable, Hashable, Codable {
    /// An updated row, with the attributes and to-one relationships that were written.
    public struct Update: Sendable, Hashable, Codable {
        /// The key of the row.
        public var key: PrimaryKeyValue
        /// The names of the attributes and to-one relationships that were written.
        public var changed: [String]
        /// The old and new value of each; nil unless ``SyncOptions/resultDetail`` is set.
        public var values: [String: ValueChange]?

        /// Creates an update of one row.
        package init(key: PrimaryKeyValue, changed: [String], values: [String: ValueChange]? = nil) {
            self.key = key
            self.changed = changed
            self.values = values
        }
    }

    /// The changes of one entity.
    public struct EntityChanges: Sendable, Hashable, Codable {
        /// The number of inserted rows. Counts are there even if keys are not collected.
        public var insertedCount = 0
        /// The number of updated rows.
        public var updatedCount = 0
        /// The number of deleted rows, including cascades.
        public var deletedCount = 0
        /// The number of stored rows in the payload that did not differ.
        public var unchangedCount = 0
        /// The keys of the inserted rows, in key order.
        public var inserted: [PrimaryKeyValue] = []
        /// The updated rows, in key order.
        public var updated: [Update] = []
        /// The keys of the deleted rows, including cascades.
        public var deleted: [PrimaryKeyValue] = []
        /// The inserted rows with their values, in key order; nil unless ``SyncOptions/resultDetail`` is set.
        public var insertedRows: [Row]?
        /// The deleted rows with their values, in key order; nil unless ``SyncOptions/resultDetail`` is set.
        public var deletedRows: [Row]?

        /// Creates an empty set of changes.
        package init() {}

        /// Whether no row of the entity changed.
        public var isEmpty: Bool { insertedCount == 0 && updatedCount == 0 && deletedCount == 0 }
    }

    /// The counts of root records: inserted, matched with a stored row, and the rows in scope that the payload omits.
    package struct RootCounts: Sendable, Hashable, Codable {
        /// The number of root records that were inserted.
        package var inserted = 0
        /// The number of root records that matched a stored row and were allowed to update it.
        package var matched = 0
        /// The number of stored rows in scope that the payload omits.
        package var deleted = 0

        /// Creates counts of zero.
        package init() {}
    }

    /// The entity that was synced.
    public var entity: String
    /// The counts of root records.
    package var root = RootCounts()
    /// The number of root records with a key that could be read.
    public var records = 0
    /// The number of root records with the key of an earlier one. They are merged into one row.
    public var repeatedRecords = 0
    /// The number of inconsistent records, at any depth: their key is that of an earlier record, and a value differs. The later
    /// value is stored. Records of different chunks or pages are not compared.
    public var contradictions = 0
    /// The changes by entity name. Entities that the payload does not reach have none.
    public var entities: [String: EntityChanges] = [:]
    /// The number of links that were added.
    public var linksAdded = 0
    /// The number of links that were removed.
    public var linksRemoved = 0
    /// The added links, sorted; nil unless ``SyncOptions/resultDetail`` is set.
    public var addedLinks: [Link]?
    /// The removed links, sorted; nil unless ``SyncOptions/resultDetail`` is set.
    public var removedLinks: [Link]?
    /// The recoverable problems, in document order.
    public var diagnostics: [SyncDiagnostic] = []
    /// The number of diagnostics that are not listed.
    public var omittedDiagnostics = 0
    /// The pending references of the payload: links to rows that are not stored yet. They are resolved when the rows
    /// arrive.
    public var unresolved: [Link] = []
    /// The address or cursor of the next page: `links.next` of a JSON:API document, or `endCursor` of a GraphQL connection with a
    /// next page. Nil if there is none.
    public var nextPage: String?
    /// The keys of the payload that the model maps to nothing: ``SyncDiagnostic/Kind/unmappedKey``.
    public var unmappedKeys: [SyncDiagnostic] = []

    /// Creates a result without changes.
    package init(entity: String) { self.entity = entity }

    /// Decodes a result, including one of a version that did not count records.
    public init(from decoder: any Decoder) throws {
        let fields = try decoder.container(keyedBy: CodingKeys.self)
        entity = try fields.decode(String.self, forKey: .entity)
        root = try fields.decode(RootCounts.self, forKey: .root)
        records = try fields.decodeIfPresent(Int.self, forKey: .records) ?? 0
        repeatedRecords = try fields.decodeIfPresent(Int.self, forKey: .repeatedRecords) ?? 0
        contradictions = try fields.decodeIfPresent(Int.self, forKey: .contradictions) ?? 0
        entities = try fields.decode([String: EntityChanges].self, forKey: .entities)
        linksAdded = try fields.decode(Int.self, forKey: .linksAdded)
        linksRemoved = try fields.decode(Int.self, forKey: .linksRemoved)
        addedLinks = try fields.decodeIfPresent([Link].self, forKey: .addedLinks)
        removedLinks = try fields.decodeIfPresent([Link].self, forKey: .removedLinks)
        diagnostics = try fields.decode([SyncDiagnostic].self, forKey: .diagnostics)
        omittedDiagnostics = try fields.decode(Int.self, forKey: .omittedDiagnostics)
        unresolved = try fields.decode([Link].self, forKey: .unresolved)
        nextPage = try fields.decodeIfPresent(String.self, forKey: .nextPage)
        unmappedKeys = try fields.decode([SyncDiagnostic].self, forKey: .unmappedKeys)
    }

    /// The changes of an entity; empty if the payload did not reach it.
    public subscript(entity: String) -> EntityChanges { entities[entity] ?? EntityChanges() }

    /// Adds an attribute to the update of a row.
    package mutating func addUpdate(
        of attribute: String, entity: String, key: PrimaryKeyValue, values: ValueChange? = nil
    ) {
        var changes = self[entity]
        if let place = changes.updated.firstIndex(where: { $0.key == key }) {
            changes.updated[place].changed.append(attribute)
            changes.updated[place].values?[attribute] = values
        } else {
            changes.updated.append(Update(key: key, changed: [attribute], values: values.map { [attribute: $0] }))
            changes.updatedCount += 1
            changes.unchangedCount = max(0, changes.unchangedCount - 1)
        }
        entities[entity] = changes
    }

    /// Whether the sync changed nothing.
    public var isEmpty: Bool {
        entities.values.allSatisfy(\.isEmpty) && linksAdded == 0 && linksRemoved == 0
    }
}

/// The progress of a sync. See ``SyncOptions/progress``.
public struct SyncProgress: Sendable, Hashable {
    /// The phases of a sync, in this order.
    public enum Phase: String, Sendable, Hashable, CaseIterable {
        /// Reads and maps the payload. The unit is bytes; of a payload of values, records.
        case mapping
        /// Compares the payload with the stored rows. The unit is rows and links.
        case comparing
        /// Writes the differences, deletions last. The unit is rows and links.
        case writing
    }

    /// The current phase.
    public var phase: Phase
    /// The completed units of the phase.
    public var completed: Int
    /// The units of the phase; nil if they are not known, as while rows are compared or deleted.
    public var total: Int?

    /// Creates a progress value.
    package init(_ phase: Phase, completed: Int, total: Int? = nil) {
        self.phase = phase
        self.completed = completed
        self.total = total
    }
}

// MARK: - Description

extension SyncResult: CustomStringConvertible {
    /// One line for each entity with changes, and one for links and diagnostics:
    ///
    ///     User: 2 inserted, 1 updated, 40 unchanged
    ///     Note: 1 deleted
    ///     3 links added; 1 diagnostic
    public var description: String {
        let changed = entities.filter { !$0.value.isEmpty }.sorted { $0.key < $1.key }
        var lines = changed.map { name, changes in "\(name): \(changes)" }
        if lines.isEmpty {
            let unchanged = self[entity].unchangedCount
            lines.append(
                "\(entity.isEmpty ? "" : "\(entity): ")nothing changed"
                    + (unchanged > 0 ? " (\(unchanged) unchanged)" : ""))
        }
        let rest = [
            Self.count(linksAdded, "link", " added"), Self.count(linksRemoved, "link", " removed"),
            Self.count(contradictions, "inconsistent record"), Self.count(unresolved.count, "pending reference"),
            Self.count(unmappedKeys.count, "unmapped key"),
            Self.count(diagnostics.count + omittedDiagnostics, "diagnostic"),
        ].compactMap(\.self)
        return (lines + (rest.isEmpty ? [] : [rest.joined(separator: "; ")])).joined(separator: "\n")
    }

    private static func count(_ number: Int, _ what: String, _ became: String = "") -> String? {
        number == 0 ? nil : "\(number) \(what)\(number == 1 ? "" : "s")\(became)"
    }
}

extension SyncResult.EntityChanges: CustomStringConvertible {
    /// `2 inserted, 1 updated, 40 unchanged`
    public var description: String {
        let counts = [
            (insertedCount, "inserted"), (updatedCount, "updated"), (deletedCount, "deleted"),
            (unchangedCount, "unchanged"),
        ]
        let said = counts.filter { $0.0 > 0 }.map { "\($0.0) \($0.1)" }
        return said.isEmpty ? "nothing" : said.joined(separator: ", ")
    }
}

// MARK: - Values

// The values of a result with ``SyncOptions/resultDetail``. Values are JSON that coerces back to them (a date as
// `2024-02-29T18:29:59.999Z`, bytes as base64). A to-one relationship has the key of the referenced row.
extension SyncResult {
    /// The old and new value of an attribute or to-one relationship.
    public struct ValueChange: Sendable, Hashable, Codable {
        /// The old value; null for nil.
        public var old: JSONValue
        /// The new value; null for nil.
        public var new: JSONValue

        /// Creates a change from one value to another.
        package init(old: JSONValue, new: JSONValue) {
            self.old = old
            self.new = new
        }
    }

    /// An inserted or deleted row with its values.
    public struct Row: Sendable, Hashable, Codable {
        /// The key of the row.
        public var key: PrimaryKeyValue
        /// The attributes and to-one relationships by name, without those that are nil.
        public var values: [String: JSONValue]

        /// Creates a row with values.
        package init(key: PrimaryKeyValue, values: [String: JSONValue]) {
            self.key = key
            self.values = values
        }
    }

    /// A link between two rows: added, removed, or pending because the row it leads to is not stored yet.
    public struct Link: Sendable, Hashable, Codable {
        /// The entity of the row that has the relationship.
        public var entity: String
        /// The key of that row.
        public var key: PrimaryKeyValue
        /// The relationship. Of two inverse relationships, it is the to-one relationship; if neither is, the one in the payload.
        public var relationship: String
        /// The key of the linked row.
        public var target: PrimaryKeyValue

        /// Creates a link between two rows.
        package init(entity: String, key: PrimaryKeyValue, relationship: String, target: PrimaryKeyValue) {
            self.entity = entity
            self.key = key
            self.relationship = relationship
            self.target = target
        }
    }
}

extension SyncResult.Link {
    /// Sorts links by entity, key, relationship and target.
    package static func < (left: Self, right: Self) -> Bool {
        (left.entity, left.key, left.relationship, left.target)
            < (right.entity, right.key, right.relationship, right.target)
    }
}
