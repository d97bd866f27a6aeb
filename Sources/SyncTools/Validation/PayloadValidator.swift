import SyncCore

/// A validator that visits a payload like the mapper. It finds unmapped keys, duplicate keys with different values,
/// attributes that no key is read into, and primary keys of another type. It does not access the store.
/// ``findings(with:)`` adds the diagnostics of a plan.
struct PayloadValidator {
    typealias Bytes = UnsafeBufferPointer<UInt8>

    /// The identity of a diagnostic, to count repetitions.
    private struct Seen: Hashable {
        let kind: SyncDiagnostic.Kind
        let subject: Int
        var key = KeyEntry(table: -1, entry: -1)
        var otherKey = KeyEntry(table: -1, entry: -1)
    }

    /// A JSON key, by its entry in the key table of the object.
    struct KeyEntry: Hashable {
        let table: Int
        let entry: Int
    }

    /// An attribute of the current record, with the key and the value that are read into it.
    struct Filling {
        let slot: Int
        let key: KeyEntry
        let value: Int
    }

    let model: CompiledModel
    var keyTables: KeyTables
    let kinds: DiscriminatorResolver
    var path = PayloadPath()
    /// For each entity, whether a key of the payload is read into each slot; nil for an entity without records.
    var filled: [[Bool]?]
    var reached: [Int] = []
    /// The fillings of the current record and of the records around it.
    var fillings: [Filling] = []
    /// For each hierarchy and slot, the only JSON key that is read into the slot, or `several`.
    var keys: [[SlotKey]]
    var references: PendingReferenceLocator
    /// The entity of the missing owner, by the path of a root record. The key of such a record includes its owner.
    var ownerless: [String: String] = [:]
    /// Whether the payload lists the children of a parent.
    let hasParent: Bool
    /// Whether lists may be in `edges` or `nodes`.
    var readsConnections: Bool {
        get { keyTables.readsConnections }
        set { keyTables.readsConnections = newValue }
    }
    /// The relationships for which the payload has a key.
    var givenRelationships: Set<RelationshipName> = []
    /// The name that is most similar to an unmapped key, by the index of the diagnostic.
    private var likely: [Int: Likely] = [:]
    private var nearest: SimilarNameFinder
    private var findings: [SyncDiagnostic] = []
    /// The index of each diagnostic.
    private var indexes: [Seen: Int] = [:]

    /// A relationship, by the entity that declares it.
    struct RelationshipName: Hashable {
        let entity: Int
        let name: String
    }

    private struct Likely {
        let name: String
        let entity: Int
        let key: String
    }

    enum SlotKey: Equatable {
        case none, several
        case only(KeyEntry)
    }

    init(
        _ model: CompiledModel, hasParent: Bool, locating unresolved: [SyncResult.Link]
    ) {
        self.model = model
        self.hasParent = hasParent
        keyTables = KeyTables(model)
        kinds = DiscriminatorResolver(model)
        filled = Array(repeating: nil, count: model.entities.count)
        keys = model.hierarchies.map { Array(repeating: .none, count: $0.attributes.count) }
        references = PendingReferenceLocator(unresolved, in: model)
        nearest = SimilarNameFinder(model)
    }

    /// Returns all diagnostics, including those of a plan of the same payload.
    func findings(with result: SyncResult) -> [SyncDiagnostic] {
        advised + neverSeen + result.diagnostics.map { advising(correcting($0, result).withSuggestion) }
            + result.pendingReferences.map { SyncDiagnostic($0, path: references.path(of: $0) ?? "") }
    }

    /// Adds the suggestion to correct a record without a key, if other records of its entity have one. Then the primary
    /// key of the model is right.
    private func correcting(_ finding: SyncDiagnostic, _ result: SyncResult) -> SyncDiagnostic {
        guard finding.kind == .missingPrimaryKey, let entity = finding.entity.flatMap(model.entityID),
            model.entities[entity].family.contains(where: { result[model.entities[$0].name].describesRows })
        else { return finding }
        var finding = finding
        let records =
            finding.count == 1
            ? "the record at \(finding.path)" : "the \(finding.count) records, the first of which is at \(finding.path)"
        finding.suggestion = "add the key to \(records); other records of \(finding.entity ?? "") have one"
        return finding
    }

    /// Adds the suggestion to name a parent, if a root record lacks the part of its key that references its owner.
    private func advising(_ finding: SyncDiagnostic) -> SyncDiagnostic {
        let kinds: Set<SyncDiagnostic.Kind> = [
            .missingPrimaryKey, .deletionsSkipped, .cannotGenerateKey, .missingKeyPart,
        ]
        guard kinds.contains(finding.kind), let owner = ownerless[finding.path] else { return finding }
        var finding = finding
        finding.suggestion =
            "if all records belong to one \(owner), name it as the parent (--parent \(owner):id); or "
            + (finding.suggestion ?? "")
        return finding
    }

    /// The diagnostics, with a similar name as the suggestion for an unmapped key, if there is one. A name is not
    /// suggested if another key of the payload is read into its member.
    private var advised: [SyncDiagnostic] {
        var findings = findings
        for (index, likely) in likely where !isGiven(likely) {
            findings[index].suggestion = "did you mean '\(likely.name)'? If so, set its remoteKey to '\(likely.key)'"
        }
        return findings
    }

    /// Returns whether a JSON key of any entity in the hierarchy is read into a member. Entities share inherited
    /// members.
    private func isGiven(_ likely: Likely) -> Bool {
        let entity = model.entities[likely.entity]
        if let slot = entity.slotByName[likely.name] {
            return keys[entity.table.index][slot] != .none
        }
        guard let hop = entity.relationship(named: likely.name) else { return true }
        return givenRelationships.contains(RelationshipName(entity: hop.owner, name: hop.name))
    }

    /// The diagnostics of attributes without values, each for the entity that declares the attribute. An attribute has
    /// values if records of any entity that inherits it have values.
    private var neverSeen: [SyncDiagnostic] {
        var done: Set<[Int]> = []
        for id in reached {
            let entity = model.entities[id]
            for slot in entity.slots where filled[id]?[slot] == true {
                done.insert([owner(of: slot, in: entity).id, slot])
            }
        }
        var found: [SyncDiagnostic] = []
        for entity in reached.map({ model.entities[$0] }) {
            for slot in entity.slots {
                let owner = owner(of: slot, in: entity)
                guard done.insert([owner.id, slot]).inserted else { continue }
                let name = model[entity.table].attributes[slot].name
                found.append(
                    SyncDiagnostic(
                        .unusedAttribute, entity: owner.name, path: "entities.\(owner.name).attributes.\(name)",
                        message: "no record has a value for \(owner.name).\(name)",
                        suggestion: "if the JSON uses another key, set it as \"remoteKey\""))
            }
        }
        return found
    }

    /// Returns the entity that declares an attribute of an entity.
    private func owner(of slot: Int, in entity: CompiledEntity) -> CompiledEntity {
        var owner = entity
        while let parent = owner.parent.map({ model.entities[$0] }), parent.slots.contains(slot) { owner = parent }
        return owner
    }

    // MARK: Findings

    /// Adds the unmapped keys of JSON:API resources, which the plan reports.
    mutating func addUnmapped(_ keys: [SyncDiagnostic]) {
        for key in keys {
            var finding = key
            finding.suggestion =
                "add an attribute (or a relationship, if it is in 'relationships'), or ignore the key"
            findings.append(finding)
        }
    }

    mutating func addUnmapped(
        _ key: KeyEntry, _ tape: JSONTape, at value: Int, _ entity: CompiledEntity, _ bytes: Bytes
    ) {
        guard isNew(Seen(kind: .unmappedKey, subject: entity.id, key: key)) else { return }
        let table = keyTables.all[key.table]
        let name = (table.path + [text(of: key)]).joined(separator: ".")
        if let like = nearest.name(like: name, in: entity) {
            likely[findings.count] = Likely(name: like, entity: entity.id, key: name)
        }
        add(
            .unmappedKey, entity, bytes, "\(entity.name) has no attribute or relationship for the key '\(name)'",
            "add \(tape.hasRecords(at: value) ? "a relationship or a json attribute" : "an attribute"), or "
                + "ignore the key"
        )
    }

    mutating func addConflict(
        _ slot: Int, _ earlier: KeyEntry, _ later: KeyEntry, _ entity: CompiledEntity, _ bytes: Bytes
    ) {
        let seen = Seen(kind: .duplicateKeys, subject: slot, key: earlier, otherKey: later)
        guard isNew(seen) else { return }
        add(
            .duplicateKeys, entity, bytes,
            conflict(earlier, later, entity, model[entity.table].attributes[slot].name, "values"),
            "set the remoteKey of the attribute to one key, and add an attribute for the other")
    }

    mutating func addConflict(
        _ hop: CompiledRelationship, _ earlier: KeyEntry, _ later: KeyEntry, _ entity: CompiledEntity, _ bytes: Bytes
    ) {
        let seen = Seen(kind: .duplicateKeys, subject: -1, key: earlier, otherKey: later)
        guard isNew(seen) else { return }
        add(
            .duplicateKeys, entity, bytes, conflict(earlier, later, entity, hop.name, "rows"),
            "set the remoteKey of the relationship to one key, and add an attribute or relationship for the other")
    }

    private func conflict(
        _ earlier: KeyEntry, _ later: KeyEntry, _ entity: CompiledEntity, _ name: String, _ what: String
    ) -> String {
        "'\(text(of: earlier))' and '\(text(of: later))' both fill \(entity.name).\(name), with different \(what)"
    }

    /// Adds a diagnostic if a primary key is converted: from a string to a numeric type, or from a number to the type
    /// string.
    mutating func addKey(_ tape: JSONTape, at token: Int, _ entity: CompiledEntity, _ bytes: Bytes) {
        guard let slot = entity.keySlot else { return }
        let attribute = model[entity.table].attributes[slot]
        let isNumeric = [.integer, .double, .decimal].contains(attribute.type)
        let found: String
        switch tape.tokens[token].kind {
        case .string where isNumeric: found = "a string"
        case .number where attribute.type == .string: found = "a number"
        default: return
        }
        let stored = Coercion.storedValue(tape.value(at: token, in: bytes), as: attribute.type)
        guard let stored, !stored.isNull, isNew(Seen(kind: .convertedKeyType, subject: entity.id)) else { return }
        add(
            .convertedKeyType, entity, bytes,
            "a key of \(entity.name) is \(found), but \(attribute.name) is of type \(attribute.type.rawValue)",
            "keys are converted; if some cannot be, change the attribute's type")
    }

    func text(of key: KeyEntry) -> String { String(decoding: keyTables.all[key.table].names[key.entry], as: UTF8.self) }

    /// Returns whether a diagnostic is new, so that the caller must add it. Otherwise counts the repetition.
    private mutating func isNew(_ seen: Seen) -> Bool {
        if let index = indexes[seen] {
            findings[index].count += 1
            return false
        }
        indexes[seen] = findings.count
        return true
    }

    /// Adds a diagnostic at the current path.
    private mutating func add(
        _ kind: SyncDiagnostic.Kind, _ entity: CompiledEntity, _ bytes: Bytes, _ message: String,
        _ suggestion: String
    ) {
        findings.append(
            SyncDiagnostic(
                kind, entity: entity.name, path: path.text(bytes, keyTables.all), message: message,
                suggestion: suggestion))
    }
}

extension JSONTape {
    /// Returns whether a value is an object, or a list whose first element is one.
    fileprivate func hasRecords(at value: Int) -> Bool {
        let hasElements = tokens[value].kind == .array && Int(tokens[value].next) > value + 1
        return tokens[hasElements ? value + 1 : value].kind == .object
    }
}

/// A locator that finds the paths of the pending references of a plan in the payload.
struct PendingReferenceLocator {
    private struct Reference: Hashable {
        let entity: Int
        let relationship: String
        let target: String
    }

    private struct Relationship: Hashable {
        let entity: Int
        let name: String
    }

    private let model: CompiledModel
    private var relationships: Set<Relationship> = []
    private var requested: Set<Reference> = []
    private var paths: [Reference: String] = [:]

    init(_ unresolved: [SyncResult.Link], in model: CompiledModel) {
        self.model = model
        for reference in unresolved {
            guard let found = self.reference(reference) else { continue }
            requested.insert(found)
            relationships.insert(Relationship(entity: found.entity, name: found.relationship))
        }
    }

    private func reference(_ found: SyncResult.Link) -> Reference? {
        model.entityID(found.entity).map {
            Reference(entity: $0, relationship: found.relationship, target: "\(found.target)")
        }
    }

    /// Returns whether the path of any reference by a relationship is needed.
    func isRequested(_ relationship: String, of entity: Int) -> Bool {
        !relationships.isEmpty && relationships.contains(Relationship(entity: entity, name: relationship))
    }

    /// Adds the path of a reference by ID, if the path is needed and not known yet.
    mutating func add(
        _ id: JSONValue, by hop: CompiledRelationship, of entity: Int, at path: @autoclosure () -> String
    ) {
        let reference = Reference(
            entity: entity, relationship: hop.name, target: key(id, model.entities[hop.destination]))
        if requested.remove(reference) != nil { paths[reference] = path() }
    }

    private func key(_ id: JSONValue, _ entity: CompiledEntity) -> String {
        model.rowKey(id, of: entity)?.recordKey(model.keyType(of: entity.id)).description ?? ""
    }

    func path(of unresolved: SyncResult.Link) -> String? {
        reference(unresolved).flatMap { paths[$0] }
    }
}

extension SyncResult.EntityChanges {
    /// Whether the payload describes rows of the entity.
    fileprivate var describesRows: Bool { insertedCount > 0 || updatedCount > 0 || unchangedCount > 0 }
}
