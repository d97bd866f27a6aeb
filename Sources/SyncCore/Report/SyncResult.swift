/// What a sync changed, or, for a dry run, would change.
public struct SyncResult: Sendable, Hashable, Codable {
    /// A stored row that differs from the payload, with the names of the attributes and to-one relationships written.
    public struct Update: Sendable, Hashable, Codable {
        /// The key of the row.
        public var key: PrimaryKeyValue
        /// The attributes and to-one relationships written, by name.
        public var changed: [String]
        /// What each of them was and is; nil unless ``SyncOptions/collectsValues`` asks for it.
        public var values: [String: ValueChange]?

        /// An update of one row.
        public init(key: PrimaryKeyValue, changed: [String], values: [String: ValueChange]? = nil) {
            self.key = key
            self.changed = changed
            self.values = values
        }
    }

    /// What happened to the rows of one entity.
    public struct EntityChanges: Sendable, Hashable, Codable {
        /// How many rows are new. Counts are kept also when keys are not collected.
        public var insertedCount = 0
        /// How many stored rows were written.
        public var updatedCount = 0
        /// How many rows were deleted, cascades included.
        public var deletedCount = 0
        /// Rows the payload gives in full or in part that are stored just so.
        public var unchangedCount = 0
        /// The keys of new rows, in key order.
        public var inserted: [PrimaryKeyValue] = []
        /// The stored rows written, in key order.
        public var updated: [Update] = []
        /// The keys of rows deleted, cascades included.
        public var deleted: [PrimaryKeyValue] = []
        /// The new rows with their values, in key order; nil unless ``SyncOptions/collectsValues`` asks for them.
        public var insertedRows: [Row]?
        /// The deleted rows with the values they had, in key order; nil unless ``SyncOptions/collectsValues`` asks for
        /// them.
        public var deletedRows: [Row]?

        /// No changes.
        public init() {}

        /// Whether nothing was written to the entity's rows.
        public var isEmpty: Bool { insertedCount == 0 && updatedCount == 0 && deletedCount == 0 }
    }

    /// The root records of the payload: how many were new, how many met a stored row (changed or not), and how many
    /// stored rows in scope they left out.
    public struct RootCounts: Sendable, Hashable, Codable {
        /// Root records that became new rows.
        public var inserted = 0
        /// Root records that met a stored row and could update it, whether anything differed or not.
        public var matched = 0
        /// Stored rows in scope that the payload does not mention.
        public var deleted = 0

        /// No root records.
        public init() {}
    }

    /// Links to a row that is not stored; it is linked when it arrives.
    public struct UnresolvedReference: Sendable, Hashable, Codable {
        /// The entity of the row that refers to another.
        public var entity: String
        /// The key of that row.
        public var key: PrimaryKeyValue
        /// The relationship the reference is of.
        public var relationship: String
        /// The key of the row that is not stored.
        public var target: PrimaryKeyValue

        /// A reference from one row to another.
        public init(entity: String, key: PrimaryKeyValue, relationship: String, target: PrimaryKeyValue) {
            self.entity = entity
            self.key = key
            self.relationship = relationship
            self.target = target
        }
    }

    /// A key of the payload that nothing in the model takes.
    public struct UnmappedKey: Sendable, Hashable, Codable {
        /// The entity of the records it was seen in.
        public var entity: String
        /// The key; dots walk into nested objects.
        public var key: String
        /// In how many records it was seen.
        public var count: Int

        /// A key and how often it was seen.
        public init(entity: String, key: String, count: Int) {
            self.entity = entity
            self.key = key
            self.count = count
        }
    }

    /// The entity that was synced.
    public var entity: String
    /// What became of the root records.
    public var root = RootCounts()
    /// How many root records could be read: they have a key.
    public var records = 0
    /// How many of them have the key of an earlier one, with which they are merged: ``records`` less these are the rows.
    public var repeatedRecords = 0
    /// How many records, at any depth, give another value for an attribute or a relationship of their row than an
    /// earlier record of the payload does; what comes later counts. Records of other pieces and pages are not compared.
    public var contradictions = 0
    /// By entity name; entities the payload does not reach are missing.
    public var entities: [String: EntityChanges] = [:]
    /// How many pairs of rows were linked.
    public var linksAdded = 0
    /// How many pairs of rows are linked no more.
    public var linksRemoved = 0
    /// The pairs of rows that were linked, in order; nil unless ``SyncOptions/collectsValues`` asks for them.
    public var addedLinks: [Link]?
    /// The pairs of rows that are linked no more, in order; nil unless ``SyncOptions/collectsValues`` asks for them.
    public var removedLinks: [Link]?
    /// What was skipped or kept, in document order.
    public var diagnostics: [SyncResult.Diagnostic] = []
    /// How many more diagnostics there were than are listed.
    public var omittedDiagnostics = 0
    /// The payload's references to rows that are not stored yet.
    public var unresolved: [UnresolvedReference] = []
    /// What the payload says the next page is asked for with: `links.next` of a JSON:API document, the `endCursor` of a
    /// GraphQL connection that has a next page; nil if it has none, or its form says nothing of pages.
    public var nextPage: String?
    /// Keys that nothing in the model takes.
    public var unmappedKeys: [UnmappedKey] = []

    /// A result without changes.
    public init(entity: String) { self.entity = entity }

    /// A result that was encoded, also before records were counted.
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
        diagnostics = try fields.decode([SyncResult.Diagnostic].self, forKey: .diagnostics)
        omittedDiagnostics = try fields.decode(Int.self, forKey: .omittedDiagnostics)
        unresolved = try fields.decode([UnresolvedReference].self, forKey: .unresolved)
        nextPage = try fields.decodeIfPresent(String.self, forKey: .nextPage)
        unmappedKeys = try fields.decode([UnmappedKey].self, forKey: .unmappedKeys)
    }

    /// What happened to one entity's rows; all zero if the payload did not reach it.
    public subscript(entity: String) -> EntityChanges { entities[entity] ?? EntityChanges() }

    /// Adds an attribute to what was written of a row.
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

    /// Whether the store is as it was.
    public var isEmpty: Bool {
        entities.values.allSatisfy(\.isEmpty) && linksAdded == 0 && linksRemoved == 0
    }
}

/// How far the sync of one payload is. See ``SyncOptions/progress``.
public struct SyncProgress: Sendable, Hashable {
    /// What a sync does, in this order.
    public enum Phase: String, Sendable, Hashable, CaseIterable {
        /// Reads the JSON and maps it to rows; counted in bytes, or in records of a payload of values.
        case mapping
        /// Compares with what is stored; counted in rows and links.
        case comparing
        /// Writes the differences, deletions last; counted in rows and links.
        case writing
    }

    /// What the sync is doing.
    public var phase: Phase
    /// How much of it is done.
    public var completed: Int
    /// How much there is to do; nil if that is not known, as of comparing, and of deleting, which comes after the rest
    /// is written.
    public var total: Int?

    /// A point in a sync.
    public init(_ phase: Phase, completed: Int, total: Int? = nil) {
        self.phase = phase
        self.completed = completed
        self.total = total
    }
}

// MARK: - Description

extension SyncResult: CustomStringConvertible {
    /// A line for each entity whose rows were written, and one for what else there is to say:
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
                "\(entity.isEmpty ? "" : "\(entity): ")nothing changed" + (unchanged > 0 ? " of \(unchanged)" : ""))
        }
        let rest = [
            Self.count(linksAdded, "link", " added"), Self.count(linksRemoved, "link", " removed"),
            Self.count(contradictions, "contradiction"), Self.count(unresolved.count, "reference", " waiting"),
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

// What a result has besides keys and counts if ``SyncOptions/collectsValues`` asks for it. Values are as JSON that reads
// as them (a date as `2024-02-29T18:29:59.999Z`, bytes as base64); a to-one relationship has the key of its target.
extension SyncResult {
    /// A value before and after.
    public struct ValueChange: Sendable, Hashable, Codable {
        /// What the row had; null for nil.
        public var old: JSONValue
        /// What it has now; null for nil.
        public var new: JSONValue

        /// A change from one value to another.
        public init(old: JSONValue, new: JSONValue) {
            self.old = old
            self.new = new
        }
    }

    /// The values of a row that is new, or of one that was deleted.
    public struct Row: Sendable, Hashable, Codable {
        /// The key of the row.
        public var key: PrimaryKeyValue
        /// Attributes and to-one relationships by name. Those that are nil are left out.
        public var values: [String: JSONValue]

        /// A row and what it has.
        public init(key: PrimaryKeyValue, values: [String: JSONValue]) {
            self.key = key
            self.values = values
        }
    }

    /// Two rows that were linked, or are linked no more.
    public struct Link: Sendable, Hashable, Codable {
        /// The entity of the row that has the relationship.
        public var entity: String
        /// The key of that row.
        public var key: PrimaryKeyValue
        /// The relationship; of two that are inverse the to-one one, else the one that the payload speaks of, or that its
        /// entity has.
        public var relationship: String
        /// The key of the row it leads to.
        public var target: PrimaryKeyValue

        /// A link between two rows.
        public init(entity: String, key: PrimaryKeyValue, relationship: String, target: PrimaryKeyValue) {
            self.entity = entity
            self.key = key
            self.relationship = relationship
            self.target = target
        }
    }
}

extension SyncResult.Link: Comparable {
    /// By entity, key, relationship and target.
    public static func < (left: Self, right: Self) -> Bool {
        (left.entity, left.key, left.relationship, left.target)
            < (right.entity, right.key, right.relationship, right.target)
    }
}
