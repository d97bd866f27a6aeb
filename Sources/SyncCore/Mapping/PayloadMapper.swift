/// Turns records into a ``PayloadGraph``: names to slots, values to storage classes, nesting to links.
///
/// It never asks the store. One record at a time, depth first: a record's own values are merged into its node before
/// anything nested in it is looked at, so that mentions are merged in document order. Made for one payload, or piece of
/// one, and never copied.
///
/// It has the plan. What reads a record (``RecordReader``), states its links (``LinkAssertionBuilder``) and compares it with
/// others of its row (``DuplicateRecords``) is given the plan for that.
package struct PayloadMapper: ~Copyable {
    typealias Bytes = UnsafeBufferPointer<UInt8>

    /// How a record came to be in the payload, which decides what may be done with it and how it is identified.
    struct Context {
        var permission: AllowedOperations
        /// The mention of the record around it; -1 at the root.
        var mention: Int32 = -1
        /// The link it was reached through, the end it is at, and the node at the other: a to-one way back is not read
        /// from its JSON.
        var arrival: (link: AssociationID, end: CompiledAssociation.End, owner: NodeID)?
        /// What identifies it if it has no key; nil where it must have one.
        var owner: NodeBatch.OwnerLink?
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

    var plan: PayloadGraph
    let model: CompiledModel
    let options: SyncOptions
    let tables: MappingTables
    let layout: PayloadLayout?
    let tracksOccurrences: Bool
    var reader: RecordReader
    /// The row of the record being mapped, once it is known.
    var current: Mapped?
    /// The key of the only root record, where the caller knows it better than the record.
    var rootKey: PackedValue?
    /// What is known of the key of the root record that is being mapped.
    var rootKeyState = RootKeyState.lacking
    /// How many records of lists were mapped.
    var placedRecords = 0
    /// The place of the last statement about links; the root list's own is 0.
    var sequence: UInt32 = 0
    /// The types of resources seen so far, and the keys of resources that are not their ids.
    var knownTypes: [(type: [UInt8], entity: Int?)] = []
    var resourceKeys = ResourceKeys()
    /// Of records that are rows which earlier ones gave.
    var repeats: DuplicateRecords

    /// - Parameters:
    ///   - plan: One without records yet.
    ///   - watch: Finds the places of contradictions, in a payload that is mapped again because it has some.
    init(
        _ plan: PayloadGraph, options: SyncOptions, _ tables: MappingTables, layout: PayloadLayout? = nil,
        watch: InconsistentRecordFinder? = nil
    ) {
        self.plan = plan
        self.model = plan.model
        self.options = options
        self.tables = tables
        self.layout = layout
        reader = RecordReader(
            plan.model, tables, options, readsConnections: layout?.readsConnections == true)
        reader.path.firstRecord = plan.firstRecord
        reader.path.labels = plan.labels
        tracksOccurrences = plan.operations != .all || plan.model.canRefuseRows || options.willInsert != nil
        repeats = DuplicateRecords(watch, areKeptApart: tracksOccurrences)
    }

    /// Maps a record and everything nested in it. Nil if it is skipped, which is reported; what is nested in it is
    /// mapped all the same.
    mutating func record(
        _ tape: JSONTape, at token: Int, as asked: Int, _ context: Context, _ bytes: Bytes
    ) throws -> Mapped? {
        let entityID = tables.kinds.isEmpty ? asked : kind(tape, of: token, as: asked, context, bytes)
        if entityID < 0 { return nil }
        let entity = model.entities[entityID]
        let marks = reader.marks
        let firstDiagnostic = reader.diagnostics.reported.count
        let outer = current
        current = nil
        defer {
            reader.forget(from: marks)
            current = outer
        }
        try reader.read(tape, at: token, as: entityID, context, bytes, &plan)
        let key = key(of: entity, tape, context, from: marks, bytes)
        let (mapped, mention) = commit(key, as: entity, context, bytes)
        if let mapped {
            current = mapped
            if firstDiagnostic < reader.diagnostics.reported.count, let key = keyText(of: mapped, bytes) {
                reader.diagnostics.name(key, from: firstDiagnostic)
            }
        }
        for index in marks.candidates..<reader.candidates.count where reader.candidates[index].isChosen {
            try map(
                reader.candidates[index], tape, of: mapped, mention, as: entityID, context, kindsFrom: marks.kinds,
                bytes)
        }
        return mapped
    }

    /// The attribute values of one record, one slot each.
    mutating func attributes(_ tape: JSONTape, of entity: CompiledEntity, _ bytes: Bytes) throws -> [PackedValue] {
        try reader.read(tape, at: 0, as: entity.id, Context(permission: .full), bytes, &plan)
        return Array(reader.row.first(tables.attributes[entity.table.index].count))
    }

    // MARK: Nodes

    /// The key of the record just read; absent or null if it has none.
    @inline(__always)
    private mutating func key(
        of entity: CompiledEntity, _ tape: JSONTape, _ context: Context, from marks: RecordReader.Marks, _ bytes: Bytes
    ) -> PackedValue {
        if context.isRoot, let rootKey, entity.isKeyed {
            if let slot = entity.keySlot { reader.row[slot] = rootKey }
            return rootKey
        }
        return reader.key(of: entity, tape, context, from: marks, bytes, &plan)
    }

    /// Gives the values just read to their node. A record that is skipped has none: it says nothing of its own row, but
    /// mentions what is in it.
    private mutating func commit(
        _ key: PackedValue, as entity: CompiledEntity, _ context: Context, _ bytes: Bytes
    ) -> (mapped: Mapped?, mention: Int32) {
        let hasKey = key.kind != .absent && key.kind != .null
        let node = hasKey ? node(ofRecord: key, entity, context, bytes) : node(ofKeyless: entity, context, bytes)
        var mention: Int32 = -1
        if tracksOccurrences {
            mention = Int32(truncatingIfNeeded: plan.mentions.count)
            // What is nested in a record that is refused for its entity is mentioned only.
            let permission = node == nil && hasKey ? [] : context.permission
            plan.mentions.append(
                .init(
                    table: entity.table, parent: context.mention, node: node, permission: permission,
                    mark: reader.path.mark))
            if options.willInsert != nil {
                plan.recordPaths.append(reader.path.recordPath(bytes, reader.keyTables.all))
            }
        }
        guard let node else { return (nil, mention) }
        let table = entity.table.index
        var mapped = Mapped(table: entity.table, entity: entity.id, node: node, mention: mention)
        let values = reader.row.first(plan.rows[table].stride)
        if plan.rows[table].nodes[node.index].isGiven || repeats.isWatching {
            mapped.repetition = recordDuplicate(of: .init(table: entity.table, node: node), values, entity, bytes)
        }
        plan.rows[table].merge(values, into: node, permission: context.permission, mention: mention)
        return (mapped, mention)
    }

    /// - Returns: The number of the record among those that are noted; -1 if it is not.
    private mutating func recordDuplicate(
        of row: PayloadGraph.RowReference, _ values: UnsafeBufferPointer<PackedValue>, _ entity: CompiledEntity,
        _ bytes: Bytes
    ) -> Int32 {
        guard repeats.isWatching else { return repeats.add(row, values, &plan, bytes) }
        guard repeats.watches(row) else { return -1 }
        return repeats.addWatched(row, values, of: entity, at: reader.pathText(bytes), plan, bytes)
    }

    /// The node of a key, made if it is new. An id alone says nothing about the entity of the row.
    mutating func node(
        forKey key: PackedValue, keyOwner: Int, _ entity: CompiledEntity, _ bytes: Bytes
    ) -> (node: NodeID, isNew: Bool) {
        plan.arena.withUnsafeBufferPointer { arena in
            plan.rows[entity.table.index].node(
                forKey: key, keyOwner: keyOwner, entity: entity.id, TextPool(payload: bytes, arena: arena))
        }
    }

    /// The node of a record with a key: of the most specific entity that records give it as. Nil if another record has
    /// it as one that is no kin of this one.
    private mutating func node(
        ofRecord key: PackedValue, _ entity: CompiledEntity, _ context: Context, _ bytes: Bytes
    ) -> NodeID? {
        guard let keyOwner = entity.keyOwner else { return node(ofKeyless: entity, context, bytes) }
        if context.isRoot {
            plan.readableRootRecords += 1
            rootKeyState = .read
        }
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

    /// The node of a record without a key: known by its owner, or the row that it leads back to. Nil if it is neither.
    private mutating func node(ofKeyless entity: CompiledEntity, _ context: Context, _ bytes: Bytes) -> NodeID? {
        let isUnreadable = reader.hasUnreadableKey || reader.hasSomePart(entity)
        if context.isRoot, isUnreadable { rootKeyState = .unreadable }
        if let owner = context.owner, !isUnreadable {
            if let slot = entity.keySlot { reader.row[slot] = .absent }
            let (node, isNew) = plan.rows[entity.table.index].node(ownedBy: owner, entity: entity.id)
            if isNew { plan.ownedRows.append(.init(table: entity.table, node: node)) }
            return node
        }
        if let owner = context.wayBack, !reader.hasUnreadableKey { return owner }
        guard context.isReported || reader.hasUnreadableKey else { return nil }
        let missing = reader.missingPart.isEmpty ? "key" : reader.missingPart
        let key = entity.keySlot.map { reader.diagnostics.name(of: $0, entity) } ?? missing
        report(.recordWithoutKey, entity.id, bytes, "the record has no readable \(key); it is skipped")
        return nil
    }

    // MARK: Reports

    /// Reports a problem of the record being mapped.
    mutating func report(_ kind: SyncResult.Diagnostic.Kind, _ entity: Int, _ bytes: Bytes, _ message: String) {
        guard reader.diagnostics.admitsOne() else { return }
        reader.diagnostics.add(
            kind, entity, key: current.flatMap { keyText(of: $0, bytes) }, path: reader.pathText(bytes), message)
    }

    private func keyText(of record: Mapped, _ bytes: Bytes) -> String? {
        let node = plan[record.table].nodes[record.node.index]
        let type = model.keyType(of: Int(node.entity))
        return plan.arena.withUnsafeBufferPointer { arena in
            RowKey(node.key, TextPool(payload: bytes, arena: arena))?.recordKey(type).description
        }
    }
}
