/// Reads one record at a time: the values of its attributes, and the JSON keys of its relationships.
///
/// The reader also has the key tables of the model, and the path of the value that is being mapped. A text whose stored
/// form differs from its JSON form is appended to the graph's arena.
struct RecordReader: ~Copyable {
    typealias Bytes = UnsafeBufferPointer<UInt8>

    /// A JSON key of a record that a relationship can be read from.
    struct Candidate {
        var relationship: Int
        var isIDKey: Bool
        var strength: Int
        var key: Int
        /// The index of the key table for the object with the key.
        var table: Int
        var value: Int
        /// The token of the key of the object around `key`, if that object has no key table of its own; -1 otherwise.
        var outerKey = -1
        /// Whether an object in the value only references a row, as JSON:API resource linkage does.
        var isReference = false
        /// The priority among the candidates of one relationship, lower first; nil until candidates are compared.
        var rank: Int?
        /// Whether the relationship is read from this key.
        var isChosen = true
    }

    /// The numbers of candidates and of sibling discriminators before a record is read.
    struct Checkpoint {
        let candidates: Int
        let kinds: Int
    }

    let model: CompiledModel
    let tables: MappingTables
    var keyTables: KeyTables
    var diagnostics: MappingDiagnostics
    var path = PayloadPath()
    /// The resources of the document; nil in formats other than JSON:API.
    var resources: DocumentResources?
    /// The values of the record that was read last.
    var row: ScratchRow
    /// Whether the record in `row` has a primary key of the wrong type.
    var hasUnreadableKey = false
    private(set) var candidates: [Candidate] = []
    private(set) var kindsBeside: [SiblingDiscriminator] = []
    /// The index of the best candidate so far, for each relationship; -1 between records.
    private var best: [Int]
    /// The text of the last composite key (`keyText`), and the name of the last part that a key lacked (`missingPart`).
    var keyText = CompositeKeyText()
    var missingPart = ""

    init(_ model: CompiledModel, _ tables: MappingTables, _ options: SyncOptions, readsConnections: Bool) {
        self.model = model
        self.tables = tables
        keyTables = KeyTables(model)
        keyTables.readsConnections = readsConnections
        diagnostics = MappingDiagnostics(of: model, options)
        row = ScratchRow(width: tables.maximumWidth)
        best = Array(repeating: -1, count: tables.relationships.map(\.count).max() ?? 0)
    }

    // MARK: Records

    /// The checkpoint before the next record.
    var checkpoint: Checkpoint { Checkpoint(candidates: candidates.count, kinds: kindsBeside.count) }

    /// Removes the candidates and sibling discriminators of a mapped record.
    mutating func removeCandidates(after checkpoint: Checkpoint) {
        if candidates.count > checkpoint.candidates { candidates.removeLast(candidates.count - checkpoint.candidates) }
        if kindsBeside.count > checkpoint.kinds { kindsBeside.removeLast(kindsBeside.count - checkpoint.kinds) }
    }

    /// Reads a record: attribute values into `row`, and the keys of relationships into `candidates`.
    mutating func read(
        _ tape: JSONTape, at object: Int, as entity: Int, _ context: PayloadMapper.Context, _ bytes: Bytes,
        _ graph: inout PayloadGraph
    ) throws {
        let first = candidates.count
        row.reset(tables.attributes[tables.tableOf[entity].index].count)
        hasUnreadableKey = false
        if context.isResource {
            try scanResource(tape, object: object, keyTable: entity, bytes, &graph)
        } else {
            try scan(tape, object: object, keyTable: entity, bytes, &graph)
        }
        if context.name >= 0 { try fillName(tape, context, as: entity, bytes, &graph) }
        if candidates.count > first + 1 { chooseCandidates(from: first, entity, tape, bytes) }
    }

    /// Reads the members of the GraphQL edge around a root record, so that unmapped keys are counted.
    mutating func readEdge(_ tape: JSONTape, of entity: Int, _ bytes: Bytes, _ graph: inout PayloadGraph) throws {
        row.reset(tables.attributes[tables.tableOf[entity].index].count)
        try scan(tape, object: 0, keyTable: keyTables.edges(of: entity), bytes, &graph)
    }

    /// Reads the members of an object: attribute values into `row`, and the keys of relationships into `candidates`.
    mutating func scan(
        _ tape: JSONTape, object: Int, keyTable: Int, _ bytes: Bytes, _ graph: inout PayloadGraph
    ) throws {
        let table = tables.tableOf[keyTables.all[keyTable].entity]
        var key = object + 1
        let end = Int(tape.tokens[object].next)
        var previous = -1
        while key < end {
            let entry = keyTables.entry(tape.tokens[key], keyTable, after: previous, bytes)
            previous = entry
            let found = keyTables.all[keyTable].entries[entry]
            if found.slot >= 0 {
                try fill(found.slot, of: table, strength: found.strength, tape, key: key, keyTable, bytes, &graph)
            } else {
                try fillTargets(entry, of: table, tape, key: key, keyTable, bytes, &graph)
            }
            key = Int(tape.tokens[key + 1].next)
        }
    }

    /// Reads a key that does not fill exactly one attribute.
    mutating func fillTargets(
        _ entry: Int, of table: TableID, _ tape: JSONTape, key: Int, _ keyTable: Int, _ bytes: Bytes,
        _ graph: inout PayloadGraph
    ) throws {
        if keyTables.all[keyTable].targets[entry].isEmpty {
            keyTables.countUnmapped(entry, keyTable)
        }
        for target in keyTables.all[keyTable].targets[entry] {
            switch target {
            case .attribute(let slot, let strength):
                if tape.tokens[key + 1].kind == .object, keyTables.isOnlyAround(slot, entry, keyTable) { continue }
                let strength = UInt8(truncatingIfNeeded: strength)
                try fill(slot, of: table, strength: strength, tape, key: key, keyTable, bytes, &graph)
            case .relationship(let index, let strength):
                addCandidate(index, isIDKey: false, strength, key: key, keyTable, value: key + 1)
            case .ids(let index, let strength):
                addCandidate(index, isIDKey: true, strength, key: key, keyTable, value: key + 1)
            case .kind(let relationship):
                if relationship >= 0 { kindsBeside.append(.init(relationship: relationship, value: key + 1)) }
            case .nested(let nested):
                let kind = tape.tokens[key + 1].kind
                if kind != .object, kind != .null, keyTables.overrides(nested, entry, keyTable) { continue }
                try descend(tape, key: key, of: keyTable, into: nested, bytes, &graph)
            case .ignored: break
            }
        }
    }

    /// Reads a nested object that contains values of the record. Null is the value of all attributes and relationships
    /// that are read from the object.
    ///
    /// - Parameter outer: The key table of the object with the key.
    private mutating func descend(
        _ tape: JSONTape, key: Int, of outer: Int, into keyTable: Int, _ bytes: Bytes, _ graph: inout PayloadGraph
    ) throws {
        let kind = tape.tokens[key + 1].kind
        switch kind {
        case _ where kind == .object || kind == .array && keyTables.all[keyTable].role == .edge:
            pushKey(tape, key)
            if keyTables.all[keyTable].role == .object {
                try scan(tape, object: key + 1, keyTable: keyTable, bytes, &graph)
            } else {
                for object in keyTables.objects(keyTable, tape, at: key + 1, bytes) {
                    try scan(tape, object: object, keyTable: keyTable, bytes, &graph)
                }
            }
            path.pop()
        case .null:
            let table = tables.tableOf[keyTables.all[keyTable].entity]
            for slot in keyTables.all[keyTable].members.slots {
                try fill(slot, of: table, strength: 0, tape, key: key, keyTable, bytes, &graph)
            }
            for relationship in keyTables.all[keyTable].members.relationships {
                addCandidate(relationship, isIDKey: false, 0, key: key, outer, value: key + 1)
            }
        default:
            let entity = keyTables.all[keyTable].entity
            guard !keyTables.all[keyTable].members.isEmpty else { return }
            let path = keyTables.all[keyTable].path.joined(separator: ".")
            try reportValue(
                entity, tape, key: key, bytes,
                "expected an object at \(path), found \(diagnostics.describe(tape, at: key + 1, bytes))")
        }
    }

    mutating func pushKey(_ tape: JSONTape, _ key: Int, _ table: Int = -1) {
        let token = tape.tokens[key]
        path.push(.key(offset: token.offset, length: Int(token.length), table: table))
    }

    // MARK: Attributes

    @inline(__always)
    mutating func fill(
        _ slot: Int, of table: TableID, strength: UInt8, _ tape: JSONTape, key: Int, _ keyTable: Int, _ bytes: Bytes,
        _ graph: inout PayloadGraph
    ) throws {
        guard row.admits(strength, in: slot) else { return }
        let attribute = tables.attributes[table.index][slot]
        if let value = value(tape, at: key + 1, for: slot, of: table, bytes, &graph) {
            row[slot] = value.kind == .null && attribute.isRequired ? .absent : value
            if attribute.isKey, value.kind == .integer { graph.rows[table.index].prefetch(value) }
        } else {
            row[slot] = .absent
            let entity = model.entities[keyTables.all[keyTable].entity]
            if entity.keySlots.contains(slot) { hasUnreadableKey = true }
            let conversion = attribute.hasConversion ? tables.conversions[table.index][slot] : nil
            let reason = conversion?.misfitReason(tape, at: key + 1, bytes)
            try reportValue(
                entity.id, tape, key: key, bytes,
                "\(diagnostics.describe(tape, at: key + 1, bytes)) does not fit \(diagnostics.name(of: slot, entity)), "
                    + diagnostics.expected(slot, entity, conversion) + (reason.map { ": \($0)" } ?? ""))
        }
    }

    /// Converts a JSON value to the type of an attribute. The attribute's transformers and format apply if it has any,
    /// otherwise the coercion table.
    ///
    /// - Returns: Nil if the value has the wrong type.
    @inline(__always)
    func value(
        _ tape: JSONTape, at token: Int, for slot: Int, of table: TableID, _ bytes: Bytes, _ graph: inout PayloadGraph
    ) -> PackedValue? {
        let attribute = tables.attributes[table.index][slot]
        if attribute.hasConversion, tape.tokens[token].kind != .null,
            let conversion = tables.conversions[table.index][slot]
        {
            return conversion.slot(tape, at: token, bytes, arena: &graph.arena)
        }
        if attribute.type == .transformable { return .null }
        return Coercion.slot(tape, at: token, as: attribute.type, bytes: bytes, arena: &graph.arena)
    }

    /// Fills an attribute from the object key of a record. The name overrides a value in the record, because it
    /// identifies the record.
    private mutating func fillName(
        _ tape: JSONTape, _ context: PayloadMapper.Context, as entityID: Int, _ bytes: Bytes,
        _ graph: inout PayloadGraph
    ) throws {
        let (token, slot) = (Int(context.name), Int(context.nameSlot))
        let entity = model.entities[entityID]
        let attribute = diagnostics.name(of: slot, entity)
        guard let value = value(tape, at: token, for: slot, of: entity.table, bytes, &graph), value.kind != .null
        else {
            if entity.keySlots.contains(slot) { hasUnreadableKey = true }
            row[slot] = .absent
            let name = diagnostics.describe(tape, at: token, bytes)
            let mapping = tables.attributes[entity.table.index][slot]
            let conversion = mapping.hasConversion ? tables.conversions[entity.table.index][slot] : nil
            let type = MappingDiagnostics.article(mapping.type) + (conversion?.limitText ?? "")
            return try reportName(
                .typeMismatch, entityID, bytes,
                "the object key \(name) does not fit \(attribute), \(type)")
        }
        if row[slot].kind != .null, graph.differ(row[slot], value, bytes) {
            try reportName(
                .objectKeyMismatch, entityID, bytes,
                "the record has a different \(attribute) than its object key; the object key is used")
        }
        hasUnreadableKey = hasUnreadableKey && !entity.keySlots.contains(slot)
        row[slot] = value
    }

    // MARK: Relationships

    /// Records that the candidates since an index are in an object without a key table.
    mutating func setOuterKey(_ key: Int, ofCandidatesFrom first: Int) {
        for index in first..<candidates.count { candidates[index].outerKey = key }
    }

    mutating func addCandidate(
        _ relationship: Int, isIDKey: Bool, _ strength: Int, key: Int, _ table: Int, value: Int,
        isReference: Bool = false
    ) {
        candidates.append(
            Candidate(
                relationship: relationship, isIDKey: isIDKey, strength: strength, key: key, table: table, value: value,
                isReference: isReference))
    }

    /// Ignores a candidate, so that its relationship stays unchanged.
    mutating func ignoreCandidate(_ index: Int) { candidates[index].isChosen = false }

    /// Chooses the key that each relationship of a record is read from. A value that fits the relationship takes
    /// precedence, then a key for IDs, then null. Among keys of equal precedence, the lowest strength wins, then the
    /// last key.
    private mutating func chooseCandidates(from first: Int, _ entity: Int, _ tape: JSONTape, _ bytes: Bytes) {
        for index in first..<candidates.count {
            let relationship = candidates[index].relationship
            let known = best[relationship]
            guard known >= 0 else {
                best[relationship] = index
                continue
            }
            let isBetter = rank(index, entity, tape, bytes) <= rank(known, entity, tape, bytes)
            candidates[isBetter ? known : index].isChosen = false
            if isBetter { best[relationship] = index }
        }
        for index in first..<candidates.count { best[candidates[index].relationship] = -1 }
    }

    private mutating func rank(_ index: Int, _ entity: Int, _ tape: JSONTape, _ bytes: Bytes) -> Int {
        if let rank = candidates[index].rank { return rank }
        let rank = rank(of: candidates[index], entity, tape, bytes)
        candidates[index].rank = rank
        return rank
    }

    private func rank(of candidate: Candidate, _ entity: Int, _ tape: JSONTape, _ bytes: Bytes) -> Int {
        if candidate.isIDKey { return 100 + candidate.strength }
        let relationship = tables.relationships[entity][candidate.relationship]
        let shape = RelationshipShape(
            tape, at: candidate.value, of: relationship, readsConnections: keyTables.readsConnections, bytes)
        if case .null = shape { return 200 + candidate.strength }
        return shape.fits(toMany: relationship.isToMany) ? candidate.strength : 300 + candidate.strength
    }

    // MARK: Reports

    /// Returns the JSON path of the value that is being mapped, as text.
    func pathText(_ bytes: Bytes, adding last: PayloadPath.Step? = nil) -> String {
        path.text(bytes, keyTables.all, adding: last)
    }

    /// Reports a problem of a record whose row is not known yet.
    mutating func report(_ kind: SyncDiagnostic.Kind, _ entity: Int, _ bytes: Bytes, _ message: String) {
        guard diagnostics.admitsOne() else { return }
        diagnostics.add(kind, entity, path: pathText(bytes), message)
    }

    /// Reports a value of the wrong type, or throws if the sync is strict.
    private mutating func reportValue(
        _ entity: Int, _ tape: JSONTape, key: Int, _ bytes: Bytes, _ message: String
    ) throws {
        guard diagnostics.isStrict || diagnostics.admitsOne() else { return }
        let token = tape.tokens[key]
        let path = pathText(bytes, adding: .key(offset: token.offset, length: Int(token.length)))
        if diagnostics.isStrict { throw diagnostics.error(entity, path: path, message) }
        diagnostics.add(.typeMismatch, entity, path: path, message)
    }

    private mutating func reportName(
        _ kind: SyncDiagnostic.Kind, _ entity: Int, _ bytes: Bytes, _ message: String
    ) throws {
        if diagnostics.isStrict { throw diagnostics.error(entity, path: pathText(bytes), message) }
        report(kind, entity, bytes, message)
    }
}
