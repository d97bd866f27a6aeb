import SyncCore

/// Walks a payload as the mapper does and notes which keys fill nothing, which attributes are never given, and how keys
/// are written. It knows no store: what a dry run reports is added to it.
struct PayloadValidator {
    typealias Bytes = UnsafeBufferPointer<UInt8>

    /// A finding that is counted where it comes again: what it is about, as numbers.
    private struct Seen: Hashable {
        let kind: SyncExamination.Finding.Kind
        let subject: Int
        var key = KeyEntry(table: -1, entry: -1)
        var otherKey = KeyEntry(table: -1, entry: -1)
    }

    /// A key, by its entry in the table of the object that has it.
    struct KeyEntry: Hashable {
        let table: Int
        let entry: Int
    }

    /// An attribute of the record being walked, with the key and the value that fill it.
    struct Filling {
        let slot: Int
        let key: KeyEntry
        let value: Int
    }

    let model: CompiledModel
    var keyTables: KeyTables
    let kinds: DiscriminatorResolver
    var path = PayloadPath()
    /// By entity: whether each of its slots was filled; nil for entities without records.
    var filled: [[Bool]?]
    var reached: [Int] = []
    /// Of the record being walked and those around it.
    var fillings: [Filling] = []
    /// By tree and slot: the only key that has filled it, or that several have.
    var keys: [[SlotKey]]
    var references: PendingReferenceLocator
    /// Root records that say nothing of the owner which is a part of their key: by their path, the owner's entity.
    var ownerless: [String: String] = [:]
    /// Whether the payload is of the children of a row.
    let hasParent: Bool
    /// Whether lists may stand in `edges` or `nodes`.
    var readsConnections: Bool {
        get { keyTables.readsConnections }
        set { keyTables.readsConnections = newValue }
    }
    /// The relationships that the payload has a key for.
    var taken: Set<Taken> = []
    /// By finding: what a key is like, and what it would take away from if it were to fill that.
    private var likely: [Int: Likely] = [:]
    private var nearest: NearestName
    private var findings: [SyncExamination.Finding] = []
    /// By what was seen: the index of its finding.
    private var indexes: [Seen: Int] = [:]

    /// A relationship, by the entity that declares it.
    struct Taken: Hashable {
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
        _ model: CompiledModel, hasParent: Bool, findingPlacesOf unresolved: [SyncResult.UnresolvedReference]
    ) {
        self.model = model
        self.hasParent = hasParent
        keyTables = KeyTables(model)
        kinds = DiscriminatorResolver(model)
        filled = Array(repeating: nil, count: model.entities.count)
        keys = model.trees.map { Array(repeating: .none, count: $0.attributes.count) }
        references = PendingReferenceLocator(unresolved, in: model)
        nearest = NearestName(model)
    }

    /// What was found, with what a dry run of the same payload reports.
    func findings(with result: SyncResult) -> [SyncExamination.Finding] {
        advised + neverSeen + result.diagnostics.map { advising(SyncExamination.Finding($0)) }
            + result.unresolved.map { SyncExamination.Finding($0, path: references.path(of: $0)) }
    }

    /// A root record may lack a part of its key that its owner would supply.
    private func advising(_ finding: SyncExamination.Finding) -> SyncExamination.Finding {
        guard finding.kind == .recordWithoutKey, let path = finding.path, let owner = ownerless[path] else {
            return finding
        }
        var finding = finding
        finding.advice =
            "if all records are of one \(owner), name it as their parent (--parent \(owner):id); or "
            + finding.advice
        return finding
    }

    /// With a likely name for each key that nothing takes, unless another key of the payload has that already.
    private var advised: [SyncExamination.Finding] {
        var findings = findings
        for (index, likely) in likely where !isTaken(likely) {
            findings[index].advice = "did you mean '\(likely.name)'? If so, give it the remoteKey '\(likely.key)'"
        }
        return findings
    }

    /// In any entity of the tree: they share what they inherit.
    private func isTaken(_ likely: Likely) -> Bool {
        let entity = model.entities[likely.entity]
        if let slot = entity.slotByName[likely.name] {
            return keys[entity.table.index][slot] != .none
        }
        guard let hop = entity.relationship(named: likely.name) else { return true }
        return taken.contains(Taken(entity: hop.owner, name: hop.name))
    }

    private var neverSeen: [SyncExamination.Finding] {
        reached.flatMap { id in
            let entity = model.entities[id]
            return entity.slots.filter { !(filled[id]?[$0] ?? false) }
                .map { model[entity.table].attributes[$0] }
                .map { attribute in
                    SyncExamination.Finding(
                        .attributeNeverSeen, entity: entity.name,
                        path: "entities.\(entity.name).attributes.\(attribute.name)",
                        message: "no record gives \(entity.name).\(attribute.name)",
                        advice: "if the JSON has it under another key, name that key with \"remoteKey\"")
                }
        }
    }

    // MARK: Findings

    /// Keys of resources that a dry run found nothing for.
    mutating func addUnmapped(_ keys: [SyncResult.UnmappedKey]) {
        for key in keys {
            var finding = SyncExamination.Finding(
                .unmappedKey, entity: key.entity, path: key.key,
                message: "nothing in \(key.entity) takes the key '\(key.key)'",
                advice: "add an attribute for it (a relationship, if it is among the relationships), or let it be")
            finding.count = key.count
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
            .unmappedKey, entity, bytes, "nothing in \(entity.name) takes the key '\(name)'",
            "add \(tape.hasRecords(at: value) ? "a relationship or a json attribute" : "an attribute") for it, or let it be"
        )
    }

    mutating func addConflict(
        _ slot: Int, _ earlier: KeyEntry, _ later: KeyEntry, _ entity: CompiledEntity, _ bytes: Bytes
    ) {
        let seen = Seen(kind: .conflictingKeys, subject: slot, key: earlier, otherKey: later)
        guard isNew(seen) else { return }
        add(
            .conflictingKeys, entity, bytes,
            conflict(earlier, later, entity, model[entity.table].attributes[slot].name, "values"),
            "give the attribute the remoteKey that is to count, and the other value an attribute of its own")
    }

    mutating func addConflict(
        _ hop: CompiledRelationship, _ earlier: KeyEntry, _ later: KeyEntry, _ entity: CompiledEntity, _ bytes: Bytes
    ) {
        let seen = Seen(kind: .conflictingKeys, subject: -1, key: earlier, otherKey: later)
        guard isNew(seen) else { return }
        add(
            .conflictingKeys, entity, bytes, conflict(earlier, later, entity, hop.name, "rows"),
            "give the relationship the remoteKey that is to count, and the other value a member of its own")
    }

    private func conflict(
        _ earlier: KeyEntry, _ later: KeyEntry, _ entity: CompiledEntity, _ name: String, _ what: String
    ) -> String {
        "'\(text(of: earlier))' and '\(text(of: later))' both fill \(entity.name).\(name), with different \(what)"
    }

    /// A key that is written as a text where keys are numbers, or the other way round.
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
        guard let stored, !stored.isNull, isNew(Seen(kind: .keyOfAnotherType, subject: entity.id)) else { return }
        add(
            .keyOfAnotherType, entity, bytes,
            "a key of \(entity.name) is written as \(found); \(attribute.name) is of type \(attribute.type.rawValue)",
            "nothing is lost while every key can be converted; if some cannot, change the attribute's type")
    }

    func text(of key: KeyEntry) -> String { String(decoding: keyTables.all[key.table].names[key.entry], as: UTF8.self) }

    /// Counts a finding that was noted before; otherwise it is to be noted now.
    private mutating func isNew(_ seen: Seen) -> Bool {
        if let index = indexes[seen] {
            findings[index].count += 1
            return false
        }
        indexes[seen] = findings.count
        return true
    }

    /// Adds a finding at the current path.
    private mutating func add(
        _ kind: SyncExamination.Finding.Kind, _ entity: CompiledEntity, _ bytes: Bytes, _ message: String,
        _ advice: String
    ) {
        findings.append(
            SyncExamination.Finding(
                kind, entity: entity.name, path: path.text(bytes, keyTables.all), message: message, advice: advice))
    }
}

extension JSONTape {
    /// Whether a value is an object, or a list that begins with one.
    fileprivate func hasRecords(at value: Int) -> Bool {
        let hasElements = tokens[value].kind == .array && Int(tokens[value].next) > value + 1
        return tokens[hasElements ? value + 1 : value].kind == .object
    }
}

/// Where references that a dry run could not resolve first stand in the payload.
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
    private var wanted: Set<Reference> = []
    private var paths: [Reference: String] = [:]

    init(_ unresolved: [SyncResult.UnresolvedReference], in model: CompiledModel) {
        self.model = model
        for reference in unresolved {
            guard let found = self.reference(reference) else { continue }
            wanted.insert(found)
            relationships.insert(Relationship(entity: found.entity, name: found.relationship))
        }
    }

    private func reference(_ found: SyncResult.UnresolvedReference) -> Reference? {
        model.entityID(found.entity).map {
            Reference(entity: $0, relationship: found.relationship, target: "\(found.target)")
        }
    }

    /// Whether the places of a relationship's references are asked for at all.
    func isWanted(_ relationship: String, of entity: Int) -> Bool {
        !relationships.isEmpty && relationships.contains(Relationship(entity: entity, name: relationship))
    }

    /// Adds the path of a reference by id, if it is requested and not known yet.
    mutating func add(
        _ id: JSONValue, by hop: CompiledRelationship, of entity: Int, at path: @autoclosure () -> String
    ) {
        let reference = Reference(
            entity: entity, relationship: hop.name, target: key(id, model.entities[hop.destination]))
        if wanted.remove(reference) != nil { paths[reference] = path() }
    }

    private func key(_ id: JSONValue, _ entity: CompiledEntity) -> String {
        model.rowKey(id, of: entity)?.recordKey(model.keyType(of: entity.id)).description ?? ""
    }

    func path(of unresolved: SyncResult.UnresolvedReference) -> String? {
        reference(unresolved).flatMap { paths[$0] }
    }
}
