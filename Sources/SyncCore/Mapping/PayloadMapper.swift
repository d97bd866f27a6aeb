/// Turns records into a ``ChangePlan``: names to slots, values to storage classes, nesting to links.
///
/// It never asks the store. One record at a time, depth first: a record's own values are merged into its node before
/// anything nested in it is looked at, so that mentions are merged in document order. Made for one payload, or piece of
/// one, and never copied.
package struct PayloadMapper: ~Copyable {
    typealias Bytes = UnsafeBufferPointer<UInt8>

    /// How a record came to be in the payload, which decides what may be done with it and how it is identified.
    struct Context {
        var permission: Permission
        /// The mention of the record around it; -1 at the root.
        var mention: Int32 = -1
        /// The link it was reached through, the end it is at, and the node at the other: a to-one way back is not read
        /// from its JSON.
        var arrival: (link: LinkID, end: Link.End, owner: NodeID)?
        /// What identifies it if it has no key; nil where it must have one.
        var owner: RowBatch.Owner?
        /// The owner of the child in which it stands as the way back: what it is without a key.
        var wayBack: NodeID?
        var isRoot = false
        /// Whether it is reported if it lacks its key: not where it belongs to a record that does.
        var isReported = true
        /// Whether it is a resource of a JSON:API document, whose values stand in `attributes` and `relationships`.
        var isResource = false
        /// The token of the name under which it stands, and the slot that this fills; -1 if there is none.
        var name: Int32 = -1
        var nameSlot: Int32 = -1
    }

    /// A key of a record that speaks for a relationship.
    struct Candidate {
        var relationship: Int
        var isIDKey: Bool
        var strength: Int
        var key: Int
        /// The table of the object that has the key.
        var table: Int
        var value: Int
        /// Whether an object there only names a row: the linkage of a resource.
        var isReference = false
        /// The lower, the more it has to say about its relationship.
        var rank = 0
        /// Whether it is the one that speaks for its relationship.
        var isChosen = false
    }

    var plan: ChangePlan
    var diagnostics: MappingDiagnostics
    let model: CompiledModel
    let options: SyncOptions
    let tables: MappingTables
    let tracksMentions: Bool
    var keyTables: KeyTables
    let layout: PayloadLayout?
    var scratch: ScratchRow
    /// Whether the record in the scratch row has a key, but none of its type.
    var hasUnreadableKey = false
    /// The key of the record in the scratch row; absent or null if it has none.
    private var recordKey = Slot.absent
    /// Where keys of several parts are put together, and what the last one lacked.
    var keyText = KeyPartsText()
    var missingPart = ""
    /// The keys of the record being mapped, and of those around it, that name the kind of a row they refer to.
    var kindsBeside: [KindBeside] = []
    /// The types of resources seen so far, and how many records of lists.
    var knownTypes: [(type: [UInt8], entity: Int?)] = []
    var placedRecords = 0
    var resourceKeys = ResourceKeys()
    var candidates: [Candidate] = []
    /// By relationship: the best candidate found so far; -1 between records.
    var best: [Int]
    var path = PayloadPath()
    /// The row of the record being mapped, once it is known.
    var current: Mapped?
    /// The key of the only root record, where the caller knows it better than the record.
    var rootKey: Slot?
    /// What is known of the key of the root record that is being mapped.
    var rootKeyState = RootKeyState.lacking
    /// The place of the last statement about links; the root list's own is 0.
    var sequence: UInt32 = 0
    /// Of records that are rows which earlier ones gave; and where they stand, once it is known which contradict each
    /// other.
    var repeats = RepeatedRecords()
    var watch: ContradictionWatch?
    private let isWatching: Bool

    /// - Parameters:
    ///   - plan: One without records yet.
    ///   - watch: Finds the places of contradictions, in a payload that is mapped again because it has some.
    init(
        _ plan: ChangePlan, options: SyncOptions, _ tables: MappingTables, layout: PayloadLayout? = nil,
        watch: ContradictionWatch? = nil
    ) {
        self.watch = watch
        isWatching = watch != nil
        self.plan = plan
        self.model = plan.model
        diagnostics = MappingDiagnostics(of: plan.model, options)
        self.options = options
        self.tables = tables
        self.layout = layout
        scratch = ScratchRow(width: tables.maximumWidth)
        keyTables = KeyTables(plan.model)
        keyTables.readsConnections = layout?.readsConnections == true
        best = Array(repeating: -1, count: tables.relationships.map(\.count).max() ?? 0)
        tracksMentions = plan.operations != .all || plan.model.canRefuseRows || options.willInsert != nil
        path.firstRecord = plan.firstRecord
        path.labels = plan.labels
    }

    /// A record's node, and the mention it makes.
    struct Mapped {
        var table: TableID
        /// The entity it was read as.
        var entity: Int
        var node: NodeID
        var mention: Int32
        /// Its number among the records that are rows which earlier ones gave; -1 for the first of a row.
        var repetition: Int32 = -1
    }

    /// Maps a record and everything nested in it. Nil if it is skipped, which is reported; what is nested in it is
    /// mapped all the same.
    mutating func record(
        _ tape: JSONTape, at token: Int, as asked: Int, _ context: Context, _ bytes: Bytes
    ) throws -> Mapped? {
        let entity = tables.kinds.isEmpty ? asked : kind(tape, of: token, as: asked, context, bytes)
        if entity < 0 { return nil }
        let firstCandidate = candidates.count
        let firstDiagnostic = diagnostics.reported.count
        let firstKind = kindsBeside.count
        let outer = current
        current = nil
        defer {
            candidates.removeLast(candidates.count - firstCandidate)
            if kindsBeside.count > firstKind { kindsBeside.removeLast(kindsBeside.count - firstKind) }
            current = outer
        }
        scratch.reset(tables.types[tables.tableOf[entity].index].count)
        hasUnreadableKey = false
        if context.isResource {
            try scanResource(tape, object: token, keyTable: entity, bytes)
        } else {
            try scan(tape, object: token, keyTable: entity, bytes)
        }
        if context.name >= 0 { try fillName(tape, context, as: entity, bytes) }
        if context.isRoot, let rootKey, let slot = model.entities[entity].keySlot { scratch[slot] = rootKey }
        chooseCandidates(from: firstCandidate, entity, tape, bytes)
        recordKey = key(of: model.entities[entity], tape, context, candidatesFrom: firstCandidate, bytes)
        let (mapped, mention) = commit(as: entity, context, bytes)
        if let mapped {
            current = mapped
            nameRecord(mapped, inDiagnosticsFrom: firstDiagnostic, bytes)
        }
        for index in firstCandidate..<candidates.count where candidates[index].isChosen {
            try map(candidates[index], tape, of: mapped, mention, as: entity, context, kindsFrom: firstKind, bytes)
        }
        return mapped
    }

    /// The attribute values of one record, one slot each.
    mutating func attributes(_ tape: JSONTape, of entity: CompiledEntity, _ bytes: Bytes) throws -> [Slot] {
        scratch.reset(tables.types[entity.table.index].count)
        try scan(tape, object: 0, keyTable: entity.id, bytes)
        return Array(scratch.first(tables.types[entity.table.index].count))
    }

    // MARK: Attributes

    /// Reads the members of an object: attributes into the scratch row, relationships into the candidates.
    mutating func scan(_ tape: JSONTape, object: Int, keyTable: Int, _ bytes: Bytes) throws {
        let table = tables.tableOf[keyTables.all[keyTable].entity]
        var key = object + 1
        let end = Int(tape.tokens[object].next)
        var previous = -1
        while key < end {
            let entry = keyTables.entry(tape.tokens[key], keyTable, after: previous, bytes)
            previous = entry
            let found = keyTables.all[keyTable].entries[entry]
            if found.slot >= 0 {
                try fill(found.slot, of: table, strength: found.strength, tape, key: key, keyTable, bytes)
            } else {
                try follow(entry, of: table, tape, key: key, keyTable, bytes)
            }
            key = Int(tape.tokens[key + 1].next)
        }
    }

    /// A key that fills something else than one attribute.
    mutating func follow(
        _ entry: Int, of table: TableID, _ tape: JSONTape, key: Int, _ keyTable: Int, _ bytes: Bytes
    ) throws {
        if keyTables.all[keyTable].targets[entry].isEmpty {
            keyTables.countUnmapped(entry, keyTable)
        }
        for target in keyTables.all[keyTable].targets[entry] {
            switch target {
            case .attribute(let slot, let strength):
                if tape.tokens[key + 1].kind == .object, keyTables.isOnlyAround(slot, entry, keyTable) { continue }
                let strength = UInt8(truncatingIfNeeded: strength)
                try fill(slot, of: table, strength: strength, tape, key: key, keyTable, bytes)
            case .relationship(let index, let strength):
                candidates.append(
                    Candidate(
                        relationship: index, isIDKey: false, strength: strength, key: key, table: keyTable,
                        value: key + 1))
            case .ids(let index, let strength):
                candidates.append(
                    Candidate(
                        relationship: index, isIDKey: true, strength: strength, key: key, table: keyTable,
                        value: key + 1))
            case .kind(let relationship):
                if relationship >= 0 { kindsBeside.append(.init(relationship: relationship, value: key + 1)) }
            case .nested(let nested):
                let kind = tape.tokens[key + 1].kind
                if kind != .object, kind != .null, keyTables.isInPlaceOf(nested, entry, keyTable) { continue }
                try descend(tape, key: key, into: nested, bytes)
            case .ignored: break
            }
        }
    }

    @inline(__always)
    mutating func fill(
        _ slot: Int, of table: TableID, strength: UInt8, _ tape: JSONTape, key: Int, _ keyTable: Int, _ bytes: Bytes
    ) throws {
        guard scratch.admits(strength, in: slot) else { return }
        let type = tables.types[table.index][slot]
        if let value = value(tape, at: key + 1, for: slot, of: table, as: type, bytes) {
            scratch[slot] = value.kind == .null && tables.isRequired[table.index][slot] ? .absent : value
            if slot == tables.keySlots[table.index], value.kind == .integer { plan.rows[table.index].prefetch(value) }
        } else {
            scratch[slot] = .absent
            let entity = model.entities[keyTables.all[keyTable].entity]
            if entity.keySlots.contains(slot) { hasUnreadableKey = true }
            let conversion = tables.hasConversions[table.index] ? tables.conversions[table.index][slot] : nil
            try reportValue(
                entity.id, tape, key: key, bytes,
                "\(diagnostics.describe(tape, at: key + 1, bytes)) does not fit \(diagnostics.name(of: slot, entity)), "
                    + diagnostics.expected(slot, entity, conversion))
        }
    }

    /// The value of an attribute: by its transformers and format if it has any, else by the coercion table.
    @inline(__always)
    mutating func value(
        _ tape: JSONTape, at token: Int, for slot: Int, of table: TableID, as type: AttributeType, _ bytes: Bytes
    ) -> Slot? {
        if tables.hasConversions[table.index], tape.tokens[token].kind != .null,
            let conversion = tables.conversions[table.index][slot]
        {
            return conversion.slot(tape, at: token, bytes, arena: &plan.arena)
        }
        if type == .transformable { return .null }
        return Coercion.slot(tape, at: token, as: type, bytes: bytes, arena: &plan.arena)
    }

    /// Walks into an object that dotted remote keys lead through. Null clears all attributes below.
    private mutating func descend(
        _ tape: JSONTape, key: Int, into keyTable: Int, _ bytes: Bytes
    ) throws {
        let kind = tape.tokens[key + 1].kind
        switch kind {
        case _ where kind == .object || kind == .array && keyTables.all[keyTable].role == .edge:
            let token = tape.tokens[key]
            path.push(.key(offset: token.offset, length: Int(token.length)))
            if keyTables.all[keyTable].role == .object {
                try scan(tape, object: key + 1, keyTable: keyTable, bytes)
            } else {
                for object in keyTables.objects(keyTable, tape, at: key + 1, bytes) {
                    try scan(tape, object: object, keyTable: keyTable, bytes)
                }
            }
            path.pop()
        case .null:
            let table = tables.tableOf[keyTables.all[keyTable].entity]
            for slot in keyTables.all[keyTable].slots {
                try fill(slot, of: table, strength: 0, tape, key: key, keyTable, bytes)
            }
        default:
            let entity = keyTables.all[keyTable].entity
            guard !keyTables.all[keyTable].slots.isEmpty else { return }
            let path = keyTables.all[keyTable].path.joined(separator: ".")
            try reportValue(
                entity, tape, key: key, bytes,
                "\(diagnostics.describe(tape, at: key + 1, bytes)) where an object with \(path).… is expected")
        }
    }

    // MARK: Nodes

    /// Gives the scratch row to its node. A record that is skipped has none: it says nothing of its own row, but
    /// mentions what is in it.
    private mutating func commit(
        as entityID: Int, _ context: Context, _ bytes: Bytes
    ) -> (mapped: Mapped?, mention: Int32) {
        let entity = model.entities[entityID]
        let node = node(of: entity, context, bytes)
        // What is nested in a record that is refused for its entity is mentioned only.
        let permission = node == nil && hasKey ? [] : context.permission
        var mention: Int32 = -1
        if tracksMentions {
            mention = Int32(truncatingIfNeeded: plan.mentions.count)
            plan.mentions.append(
                .init(
                    table: entity.table, parent: context.mention, node: node, permission: permission, mark: path.mark))
            if options.willInsert != nil { plan.recordPaths.append(path.recordPath(bytes, keyTables.all)) }
        }
        guard let node else { return (nil, mention) }
        let table = entity.table.index
        var mapped = Mapped(table: entity.table, entity: entity.id, node: node, mention: mention)
        if plan.rows[table].nodes[node.index].isGiven || isWatching {
            mapped.repetition = noteRecord(of: .init(table: entity.table, node: node), entity, bytes)
        }
        plan.rows[table].merge(
            scratch.first(tables.types[table].count), into: node, permission: context.permission, mention: mention)
        return (mapped, mention)
    }

    /// Whether the record in the scratch row has a key.
    private var hasKey: Bool { recordKey.kind != .absent && recordKey.kind != .null }

    /// The key of the record in the scratch row.
    @inline(__always)
    mutating func key(
        of entity: CompiledEntity, _ tape: JSONTape, _ context: Context, candidatesFrom first: Int, _ bytes: Bytes
    ) -> Slot {
        if let slot = entity.keySlot { return scratch[slot] }
        guard let key = entity.compositeKey else { return .absent }
        if context.isRoot, let rootKey { return rootKey }
        return partedKey(key, of: entity, tape, context, candidatesFrom: first, bytes)
    }

    private mutating func node(of entity: CompiledEntity, _ context: Context, _ bytes: Bytes) -> NodeID? {
        if let keyOwner = entity.keyOwner, hasKey {
            if context.isRoot {
                plan.readableRootRecords += 1
                rootKeyState = .read
            }
            return node(ofRecord: recordKey, keyOwner: keyOwner, entity, bytes)
        }
        if context.isRoot, hasUnreadableKey || hasSomePart(entity) { rootKeyState = .unreadable }
        if let owner = context.owner, !hasUnreadableKey, !hasSomePart(entity) {
            if let slot = entity.keySlot { scratch[slot] = .absent }
            let (node, isNew) = plan.rows[entity.table.index].node(ownedBy: owner, entity: entity.id)
            if isNew { plan.ownedRows.append(.init(table: entity.table, node: node)) }
            return node
        }
        if let owner = context.wayBack, !hasUnreadableKey { return owner }
        guard context.isReported || hasUnreadableKey else { return nil }
        let key = entity.keySlot.map { diagnostics.name(of: $0, entity) } ?? (missingPart.isEmpty ? "key" : missingPart)
        report(.recordWithoutKey, entity.id, bytes, "the record has no readable \(key); it is skipped")
        return nil
    }

    /// The node of a key, made if it is new. An id alone says nothing about the entity of the row.
    mutating func node(
        forKey key: Slot, keyOwner: Int, _ entity: CompiledEntity, _ bytes: Bytes
    ) -> (node: NodeID, isNew: Bool) {
        plan.arena.withUnsafeBufferPointer { arena in
            plan.rows[entity.table.index].node(
                forKey: key, keyOwner: keyOwner, entity: entity.id, TextPool(payload: bytes, arena: arena))
        }
    }

    /// The node of a record with a key: of the most specific entity that records give it as. Nil if another record has
    /// it as one that is no kin of this one.
    private mutating func node(
        ofRecord key: Slot, keyOwner: Int, _ entity: CompiledEntity, _ bytes: Bytes
    ) -> NodeID? {
        let (node, isNew) = node(forKey: key, keyOwner: keyOwner, entity, bytes)
        let table = entity.table.index
        let known = Int(plan.rows[table].nodes[node.index].entity)
        if isNew || known == entity.id { return node }
        if !plan.rows[table].nodes[node.index].isGiven || model.entity(entity.id, isKindOf: known) {
            plan.rows[table].setEntity(entity.id, of: node)
        } else if !model.entity(known, isKindOf: entity.id) {
            report(
                .entityMismatch, entity.id, bytes,
                "the payload has this row as \(model.entities[known].name) too; it is skipped")
            return nil
        }
        return node
    }

    // MARK: Reports

    /// Reports a problem of the record being mapped.
    mutating func report(_ kind: SyncResult.Diagnostic.Kind, _ entity: Int, _ bytes: Bytes, _ message: String) {
        guard diagnostics.admitsOne() else { return }
        diagnostics.add(
            kind, entity, key: current.flatMap { keyText(of: $0, bytes) }, path: path.text(bytes, keyTables.all),
            message)
    }

    /// Reports a value that does not fit, or fails the sync if it is strict.
    mutating func reportValue(_ entity: Int, _ tape: JSONTape, key: Int, _ bytes: Bytes, _ message: String) throws {
        guard diagnostics.isStrict || diagnostics.admitsOne() else { return }
        let token = tape.tokens[key]
        let path = path.text(bytes, keyTables.all, adding: .key(offset: token.offset, length: Int(token.length)))
        if diagnostics.isStrict { throw diagnostics.error(entity, path: path, message) }
        diagnostics.add(.valueDoesNotFit, entity, path: path, message)
    }

    @inline(__always)
    private mutating func nameRecord(_ record: Mapped, inDiagnosticsFrom first: Int, _ bytes: Bytes) {
        guard first < diagnostics.reported.count, let key = keyText(of: record, bytes) else { return }
        diagnostics.name(key, from: first)
    }

    private func keyText(of record: Mapped, _ bytes: Bytes) -> String? {
        let node = plan[record.table].nodes[record.node.index]
        let type = model.keyType(of: Int(node.entity))
        return plan.arena.withUnsafeBufferPointer { arena in
            RowKey(node.key, TextPool(payload: bytes, arena: arena))?.recordKey(type).description
        }
    }

    /// Whether both are values, and not the same.
    func areContrary(_ one: Slot, _ other: Slot, _ bytes: Bytes) -> Bool {
        plan.arena.withUnsafeBufferPointer { TextPool(payload: bytes, arena: $0).areContrary(one, other) }
    }
}
