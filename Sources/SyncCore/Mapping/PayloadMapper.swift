/// A mapper of records to a ``PayloadGraph``: JSON keys to slots, JSON values to packed values, and nesting to links.
///
/// The mapper never reads the store. Records are mapped one at a time, depth first. The values of a record are merged
/// into its node before its nested records are mapped. Records are thus merged in document order. A mapper serves one
/// payload or chunk and cannot be copied.
///
/// The mapper owns the graph and passes it to its parts. ``RecordReader`` reads a record, ``LinkAssertionBuilder``
/// asserts its links, and ``DuplicateRecords`` compares it with other records of its row.
package struct PayloadMapper: ~Copyable {
    typealias Bytes = UnsafeBufferPointer<UInt8>

    /// The surroundings of a record in the payload. They decide which operations are allowed, and what identifies the
    /// record.
    struct Context {
        var permission: AllowedOperations
        /// The occurrence of the enclosing record; -1 if there is none.
        var occurrence: Int32 = -1
        /// The association through which the record was reached, the record's end of it, and the node at the other end.
        /// A to-one relationship of the record back to that node asserts no link.
        var arrival: (link: AssociationID, end: CompiledAssociation.End, owner: NodeID)?
        /// The identity of the row if the record has no key; nil if the record needs a key.
        var owner: NodeBatch.OwnerLink?
        /// The node through which the enclosing record was reached, if this record is nested under the inverse
        /// relationship. Without a key, this record describes that node.
        var wayBack: NodeID?
        var isRoot = false
        /// Whether a missing key is reported. A key of the wrong type always is.
        var isReported = true
        /// Whether the record is a JSON:API resource, with its values in `attributes` and `relationships`.
        var isResource = false
        /// The token of the record's object key (`name`), and the slot that the name fills (`nameSlot`); -1 if there
        /// is none.
        var name: Int32 = -1
        var nameSlot: Int32 = -1
    }

    /// A mapped record: its node and its occurrence.
    struct Mapped {
        var table: TableID
        /// The entity that the record was read as.
        var entity: Int
        var node: NodeID
        var occurrence: Int32
        /// The number that ``DuplicateRecords`` gives the record; -1 if it gives none, as for the first record of a
        /// row.
        var repetition: Int32 = -1
    }

    var graph: PayloadGraph
    let model: CompiledModel
    let options: SyncOptions
    let tables: MappingTables
    let layout: PayloadLayout?
    let tracksOccurrences: Bool
    var reader: RecordReader
    /// The record that is being mapped, once its node is known; otherwise nil.
    var current: Mapped?
    /// The primary key of the only root record, if the caller states it; otherwise nil.
    var rootKey: PackedValue?
    /// The state of the primary key of the root record that is being mapped.
    var rootKeyState = RootKeyState.lacking
    /// The number of mapped records in a payload that is not plain.
    var listedRecords = 0
    /// The sequence number of the last statement about links. The root list has number 0.
    var sequence: UInt32 = 0
    /// The comparison of duplicate records.
    var repeats: DuplicateRecords

    /// Creates a mapper.
    ///
    /// - Parameters:
    ///   - graph: A graph without records.
    ///   - watch: Finds the paths of inconsistent records in a second mapping; nil in the first mapping.
    init(
        _ graph: PayloadGraph, options: SyncOptions, _ tables: MappingTables, layout: PayloadLayout? = nil,
        watch: InconsistentRecordFinder? = nil
    ) {
        self.graph = graph
        self.model = graph.model
        self.options = options
        self.tables = tables
        self.layout = layout
        reader = RecordReader(
            graph.model, tables, options, readsConnections: layout?.readsConnections == true)
        reader.resources = layout?.types.map { DocumentResources($0) }
        reader.path.firstRecord = graph.firstRecord
        reader.path.labels = graph.labels
        tracksOccurrences = graph.operations != .all || graph.model.canRejectRecords || options.willInsert != nil
        repeats = DuplicateRecords(watch, areKeptApart: tracksOccurrences)
    }

    /// Maps a record and the records nested in it.
    ///
    /// - Returns: Nil if the record is skipped. Its nested records are still mapped, unless its entity is unknown.
    mutating func record(
        _ tape: JSONTape, at token: Int, as asked: Int, _ context: Context, _ bytes: Bytes
    ) throws -> Mapped? {
        let entityID = tables.kinds.isEmpty ? asked : kind(tape, of: token, as: asked, context, bytes)
        if entityID < 0 { return nil }
        let entity = model.entities[entityID]
        let checkpoint = reader.checkpoint
        let firstDiagnostic = reader.diagnostics.reported.count
        let outer = current
        current = nil
        defer {
            reader.removeCandidates(after: checkpoint)
            current = outer
        }
        try reader.read(tape, at: token, as: entityID, context, bytes, &graph)
        if context.isRoot, rootKey != nil {
            try reader.ignoreNullParts(ofKeyOf: entity, tape, at: token, from: checkpoint, bytes)
        }
        let key = key(of: entity, tape, context, from: checkpoint, bytes)
        let (mapped, occurrence) = commit(key, as: entity, context, bytes)
        if let mapped {
            current = mapped
            if firstDiagnostic < reader.diagnostics.reported.count, let key = keyText(of: mapped, bytes) {
                reader.diagnostics.name(key, from: firstDiagnostic)
            }
        }
        for index in checkpoint.candidates..<reader.candidates.count where reader.candidates[index].isChosen {
            try map(
                reader.candidates[index], tape, of: mapped, occurrence, as: entityID, context,
                kindsFrom: checkpoint.kinds,
                bytes)
        }
        return mapped
    }

    /// Returns the attribute values of one record, one for each slot.
    mutating func attributes(_ tape: JSONTape, of entity: CompiledEntity, _ bytes: Bytes) throws -> [PackedValue] {
        try reader.read(tape, at: 0, as: entity.id, Context(permission: .full), bytes, &graph)
        return Array(reader.row.first(tables.attributes[entity.table.index].count))
    }

    // MARK: Nodes

    /// Returns the primary key of the record that was read last; absent or null if it has none.
    @inline(__always)
    private mutating func key(
        of entity: CompiledEntity, _ tape: JSONTape, _ context: Context, from checkpoint: RecordReader.Checkpoint,
        _ bytes: Bytes
    ) -> PackedValue {
        if context.isRoot, let rootKey, entity.isKeyed {
            if let slot = entity.keySlot { reader.row[slot] = rootKey }
            return rootKey
        }
        return reader.key(of: entity, tape, context, from: checkpoint, bytes, &graph)
    }

    /// Merges the values that were read last into the node of their record. A skipped record has no node, but has an
    /// occurrence if occurrences are tracked.
    private mutating func commit(
        _ key: PackedValue, as entity: CompiledEntity, _ context: Context, _ bytes: Bytes
    ) -> (mapped: Mapped?, occurrence: Int32) {
        let hasKey = key.kind != .absent && key.kind != .null
        let node = hasKey ? node(ofRecord: key, entity, context, bytes) : node(ofKeyless: entity, context, bytes)
        var occurrence: Int32 = -1
        if tracksOccurrences {
            occurrence = Int32(truncatingIfNeeded: graph.occurrences.count)
            // A record of the wrong entity gets no permission, so that the records nested in it are not effective.
            let permission = node == nil && hasKey ? [] : context.permission
            graph.occurrences.append(
                .init(
                    table: entity.table, parent: context.occurrence, node: node, permission: permission,
                    location: reader.path.location))
            if options.willInsert != nil {
                graph.recordPaths.append(reader.path.recordPath(bytes, reader.keyTables.all))
            }
        }
        guard let node else { return (nil, occurrence) }
        let table = entity.table.index
        var mapped = Mapped(table: entity.table, entity: entity.id, node: node, occurrence: occurrence)
        let values = reader.row.first(tables.attributes[table].count)
        if graph.rows[table].nodes[node.index].isGiven || repeats.hasFinder {
            mapped.repetition = recordDuplicate(of: .init(table: entity.table, node: node), values, entity, bytes)
        }
        graph.rows[table].merge(values, into: node, permission: context.permission, occurrence: occurrence)
        return (mapped, occurrence)
    }

    /// Compares a duplicate record with the earlier records of its row.
    ///
    /// - Returns: The number that ``DuplicateRecords`` gives the record; -1 if it gives none.
    private mutating func recordDuplicate(
        of row: PayloadGraph.RowReference, _ values: UnsafeBufferPointer<PackedValue>, _ entity: CompiledEntity,
        _ bytes: Bytes
    ) -> Int32 {
        guard repeats.hasFinder else { return repeats.add(row, values, &graph, bytes) }
        guard repeats.watches(row) else { return -1 }
        return repeats.addWatched(row, values, of: entity, at: reader.pathText(bytes), graph, bytes)
    }

    /// Returns the node of a primary key, and creates it if it is new. An ID does not determine the entity of its row,
    /// so records can change the node's entity later.
    mutating func node(
        forKey key: PackedValue, keyOwner: Int, _ entity: CompiledEntity, _ bytes: Bytes
    ) -> (node: NodeID, isNew: Bool) {
        graph.arena.withUnsafeBufferPointer { arena in
            graph.rows[entity.table.index].node(
                forKey: key, keyOwner: keyOwner, entity: entity.id, TextPool(payload: bytes, arena: arena))
        }
    }

    /// Returns the node of a record with a key. The node's entity becomes the most specific one that its records state.
    ///
    /// - Returns: Nil if another record of the row states an entity that is neither a subentity nor an ancestor of this
    ///   one. The record is then reported.
    private mutating func node(
        ofRecord key: PackedValue, _ entity: CompiledEntity, _ context: Context, _ bytes: Bytes
    ) -> NodeID? {
        guard let keyOwner = entity.keyOwner else { return node(ofKeyless: entity, context, bytes) }
        if context.isRoot {
            graph.readableRootRecords += 1
            rootKeyState = .read
        }
        let (node, isNew) = node(forKey: key, keyOwner: keyOwner, entity, bytes)
        let table = entity.table.index
        let known = Int(graph.rows[table].nodes[node.index].entity)
        if isNew || known == entity.id { return node }
        if !graph.rows[table].nodes[node.index].isGiven || model.entity(entity.id, isKindOf: known) {
            graph.rows[table].setEntity(entity.id, of: node)
        } else if !model.entity(known, isKindOf: entity.id) {
            report(
                .entityMismatch, entity.id, bytes,
                "another record with this key is of entity \(model.entities[known].name); this record is skipped")
            return nil
        }
        return node
    }

    /// Returns the node of a record whose key is missing: that of the context's `owner`, or `wayBack`. Otherwise
    /// returns nil, and reports the record, unless its key is missing and `isReported` is false.
    private mutating func node(ofKeyless entity: CompiledEntity, _ context: Context, _ bytes: Bytes) -> NodeID? {
        let isUnreadable = reader.hasUnreadableKey || reader.hasSomePart(entity)
        if context.isRoot, isUnreadable { rootKeyState = .unreadable }
        if let owner = context.owner, !isUnreadable {
            if let slot = entity.keySlot { reader.row[slot] = .absent }
            let (node, isNew) = graph.rows[entity.table.index].node(ownedBy: owner, entity: entity.id)
            if isNew { graph.ownedRows.append(.init(table: entity.table, node: node)) }
            return node
        }
        if let owner = context.wayBack, !reader.hasUnreadableKey { return owner }
        guard context.isReported || reader.hasUnreadableKey else { return nil }
        let missing = reader.missingPart.isEmpty ? "key" : reader.missingPart
        let key = entity.keySlot.map { reader.diagnostics.name(of: $0, entity) } ?? missing
        report(.missingPrimaryKey, entity.id, bytes, "the record has no readable \(key); the record is skipped")
        return nil
    }

    // MARK: Reports

    /// Reports a problem of the record that is being mapped.
    mutating func report(_ kind: SyncDiagnostic.Kind, _ entity: Int, _ bytes: Bytes, _ message: String) {
        guard reader.diagnostics.admitsOne() else { return }
        reader.diagnostics.add(
            kind, entity, key: current.flatMap { keyText(of: $0, bytes) }, path: reader.pathText(bytes), message)
    }

    private func keyText(of record: Mapped, _ bytes: Bytes) -> String? {
        let node = graph[record.table].nodes[record.node.index]
        let type = model.keyType(of: Int(node.entity))
        return graph.arena.withUnsafeBufferPointer { arena in
            RowKey(node.key, TextPool(payload: bytes, arena: arena))?.recordKey(type).description
        }
    }
}
