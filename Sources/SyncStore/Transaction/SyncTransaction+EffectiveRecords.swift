import Foundation
import SyncCore

// Decides which records are effective: the operations must allow them, and a new row needs its required values.
extension SyncTransaction {
    /// Decides which records are effective, and which nodes become new rows.
    ///
    /// - Parameter admittingIncomplete: Whether new rows may lack required values, because the insert hook has not seen
    ///   them yet.
    mutating func resolveEffectiveRecords(admittingIncomplete: Bool = false) throws {
        if graph.occurrences.isEmpty {
            for table in tables { admitNewRows(table, admittingIncomplete) { _ in true } }
        } else {
            try resolveOccurrences(admittingIncomplete)
        }
        try assignKeysToOwnedRows()
    }

    /// Decides which occurrences are effective. Records nested in a rejected record are rejected too, so the decision
    /// is repeated until nothing changes.
    private mutating func resolveOccurrences(_ admittingIncomplete: Bool) throws {
        while true {
            let refused = tables.map(\.skippedNodes.count)
            try setEffectiveOccurrences()
            for table in tables {
                table.resolveEffectiveValues { effectiveRecords.isEffective($0) }
                admitNewRows(table, admittingIncomplete) { table.values.exist(for: $0) }
            }
            if !admittingIncomplete { try skipRowsOfMissingTargets() }
            if refused == tables.map(\.skippedNodes.count) { break }
        }
        try compareRows()
    }

    /// Decides which occurrences the operations allow. The enclosing record must be effective, and the needed operation
    /// (insert or update) must be allowed. A record that may only be updated is also effective for a row that another
    /// record inserts, because the next sync would update that row.
    private mutating func setEffectiveOccurrences() throws {
        let someOnlyUpdate = graph.occurrences.contains { $0.permission == .update }
        var inserted: Set<PayloadGraph.RowReference> = []
        var insertedBefore: Int
        repeat {
            insertedBefore = inserted.count
            effectiveRecords.effectiveOccurrences = Array(repeating: false, count: graph.occurrences.count)
            for (index, occurrence) in graph.occurrences.enumerated() {
                let table = tables[occurrence.table]
                guard occurrence.parent < 0 || effectiveRecords.effectiveOccurrences[Int(occurrence.parent)] else {
                    continue
                }
                guard let node = occurrence.node else {
                    effectiveRecords.effectiveOccurrences[index] = !occurrence.permission.isEmpty
                    continue
                }
                if table.skippedNodes.contains(node) { continue }
                let isStored = table.isPresent(node, as: .stored)
                if isStored, try isInsertedBefore(node, table) {
                    effectiveRecords.effectiveOccurrences[index] = !occurrence.permission.isEmpty
                    continue
                }
                effectiveRecords.effectiveOccurrences[index] = occurrence.permission.contains(
                    isStored ? .update : .insert)
                guard someOnlyUpdate, !isStored else { continue }
                let row = PayloadGraph.RowReference(table: table.id, node: node)
                if effectiveRecords.effectiveOccurrences[index] { inserted.insert(row) }
                if occurrence.permission == .update {
                    effectiveRecords.effectiveOccurrences[index] = inserted.contains(row)
                }
            }
        } while inserted.count > insertedBefore
    }

    /// Returns whether an earlier page of the paged import inserted a row. In one payload, the row would be new.
    private func isInsertedBefore(_ node: NodeID, _ table: SyncTable) throws -> Bool {
        guard pagedImport != nil, let row = table.row(node) else { return false }
        return try rowFlags(of: row).contains(.inserted)
    }

    // MARK: New rows

    private mutating func admitNewRows(
        _ table: SyncTable, _ admittingIncomplete: Bool, where mayInsert: (NodeID) -> Bool
    ) {
        let batch = table.batch
        var states = table.matches.rowStates
        // The rule of the previous node's entity is reused, because consecutive nodes mostly have the same entity.
        var rule = NewRowRule(model.entities[table.hierarchy.root], table)
        for index in batch.nodes.indices where states[index] != .stored {
            let node = NodeID(index)
            states[index] = .missing
            guard batch.nodes[index].isGiven, mayInsert(node), !table.skippedNodes.contains(node) else { continue }
            let entity = Int(batch.nodes[index].entity)
            if entity != rule.entity.id { rule = NewRowRule(model.entities[entity], table) }
            if !admittingIncomplete, let problem = problem(withNew: node, table, rule) {
                table.skipNew(node)
                report.add(
                    problem.kind, entity, key: RowKey(batch.nodes[index].key, pool),
                    path: path(of: node, table), problem.message)
            } else {
                states[index] = .new
            }
        }
        table.matches.rowStates = states
    }

    /// The required values of a new row of one entity.
    private struct NewRowRule {
        let entity: CompiledEntity
        /// The slots that must have a value, without the slot of the key.
        let required: [Int]

        init(_ entity: CompiledEntity, _ table: SyncTable) {
            self.entity = entity
            required = entity.slots.filter { $0 != entity.keySlot && table.needsValue($0) }
        }
    }

    private func problem(withNew node: NodeID, _ table: SyncTable, _ rule: NewRowRule) -> (
        kind: SyncDiagnostic.Kind, message: String
    )? {
        let entity = rule.entity
        if entity.isAbstract {
            return (
                .entityMismatch, "cannot insert a row of \(entity.name): the entity is abstract; the record is skipped"
            )
        }
        if table.batch.nodes[node.index].ownerIndex != nil, let slot = entity.keySlot {
            let type = table.hierarchy.attributes[slot].type
            if ![.integer, .string, .uuid].contains(type) {
                return (
                    .cannotGenerateKey,
                    "cannot insert a row of \(entity.name) without a key: a key of type \(type) cannot be generated; the record is skipped"
                )
            }
        }
        if table.batch.nodes[node.index].ownerIndex != nil, entity.compositeKey != nil {
            return (
                .cannotGenerateKey,
                "cannot insert a row of \(entity.name) without a key: a composite key cannot be generated; the record is skipped"
            )
        }
        for slot in rule.required where table.lacksValue(slot, of: node) {
            let name = table.hierarchy.attributes[slot].name
            return (
                .missingRequiredValue,
                "cannot insert a row of \(entity.name) without a value for '\(name)'; the record is skipped"
            )
        }
        return nil
    }

    /// Rejects new rows whose composite key has a part that references a missing row.
    ///
    /// - Throws: ``SyncError`` `primaryKeyMissing` if the sync is strict.
    private mutating func skipRowsOfMissingTargets() throws {
        for table in tables {
            for link in table.hierarchy.foreignKeys where model[link].isKeyPart {
                let targets = tables[model[link].second.table]
                for (node, target) in keyTargets(link).sorted(by: { $0.key.index < $1.key.index })
                where table.isPresent(node, as: .new) && !isThere(target, targets, model[link].second) {
                    let name = model[link].first.relationship?.name ?? ""
                    let message = "the row referenced by '\(name)', a part of the key, is not stored"
                    if options.isStrict {
                        throw SyncError(
                            .primaryKeyMissing, message, entity: table.payloadEntity(of: node).name,
                            path: path(of: node, table))
                    }
                    table.skipNew(node)
                    table.matches.rowStates[node.index] = .missing
                    let key = RowKey(table.batch.nodes[node.index].key, pool)
                    report.add(
                        .missingKeyPart, table.payloadEntity(of: node).id, key: key, path: path(of: node, table),
                        "\(message); the record is skipped")
                }
            }
        }
    }

    /// Returns whether a row is stored, or will be, and is of the entity that the association requires.
    private func isThere(_ node: NodeID, _ table: SyncTable, _ side: CompiledAssociation.Role) -> Bool {
        switch table.rowState(of: node) {
        case .missing: false
        case .new: model.entity(table.payloadEntity(of: node).id, isKindOf: side.entity)
        case .stored: model.entity(table.entity(of: node), isKindOf: side.entity)
        }
    }

    /// Returns the referenced node of each node whose composite key contains this foreign key.
    func keyTargets(_ link: AssociationID) -> [NodeID: NodeID] {
        Dictionary(graph[link].assertions.lazy.map { ($0.first, $0.second) }, uniquingKeysWith: { first, _ in first })
    }

    /// Assigns surrogate keys to the new rows of tables with surrogate keys, and generated keys to other new rows
    /// without a key.
    private func assignKeysToOwnedRows() throws {
        for table in tables where !table.isEmpty && (table.hasSurrogateKey || !table.batch.owners.isEmpty) {
            var next: Int64?
            // Surrogate keys ascend with the primary keys, so that both indexes of a table grow at their ends.
            let new = table.hasSurrogateKey ? table.sortedByKey(table.nodes(.new)) : table.nodes(.new)
            for node in new {
                guard table.hasSurrogateKey || table.batch.nodes[node.index].ownerIndex != nil else { continue }
                let key = try newRowKey(table, table.payloadEntity(of: node), next: &next)
                table.keys.own(node, key)
            }
        }
    }

    private func newRowKey(_ table: SyncTable, _ entity: CompiledEntity, next: inout Int64?) throws -> RowKey {
        if !table.hasSurrogateKey {
            switch entity.keySlot.map({ table.hierarchy.attributes[$0].type }) {
            case .string: return .text(TemporaryKey.text())
            case .uuid: return .text(UUID().uuidString)
            default: break
            }
        }
        let value = try next ?? store.nextKey(of: table.id)
        next = value + 1
        return .integer(value)
    }
}

// MARK: - Entities

// A row that an earlier page inserted counts as new until the paged import ends. If a later record is of a subentity,
// the entity of the row therefore changes to it.
extension SyncTransaction {
    func setSubEntities() throws {
        guard pagedImport != nil else { return }
        for table in tables where table.hierarchy.hasSubEntities { try setSubEntities(table) }
    }

    private func setSubEntities(_ table: SyncTable) throws {
        var inserted: [(node: NodeID, row: StoredRow)] = []
        let rows = try rowsByKey(table)
        for (node, row) in rows {
            try progress.advance()
            if try rowFlags(of: row).contains(.inserted) { inserted.append((node, row)) }
        }
        try identities.load(inserted.map(\.row))
        var refined: [(key: RowKey, entity: CompiledEntity, added: [Int])] = []
        for (node, row) in inserted {
            let entity = table.payloadEntity(of: node)
            guard let found = try identities[row], found.entity != entity.id,
                model.entity(entity.id, isKindOf: found.entity)
            else { continue }
            let added = entity.slots.filter { !model.entities[found.entity].slots.contains($0) }
            guard added.allSatisfy({ !table.lacksValue($0, of: node) }) else { continue }
            refined.append((row.key, entity, added))
        }
        if !refined.isEmpty { try store.setEntities(of: refined, in: table.id) }
        identities.removeAll()
    }

    /// Returns the stored rows of the nodes that have a record and whose entity has a primary key.
    private func rowsByKey(_ table: SyncTable) throws -> [(node: NodeID, row: StoredRow)] {
        let batch = table.batch
        let given = table.nodes.filter { batch.nodes[$0.index].isGiven && table.payloadEntity(of: $0).isKeyed }
        var found: [(node: NodeID, row: StoredRow)] = []
        guard table.hasSurrogateKey else {
            for node in given { if let row = table.row(node) { found.append((node, row)) } }
            return found
        }
        for (entity, nodes) in Dictionary(grouping: given, by: { table.payloadEntity(of: $0).id }) {
            let keyed = nodes.compactMap { node in
                RowKey(batch.nodes[node.index].key, pool).map { (node: node, key: $0) }
            }
            let rows = try store.rows(withKeys: keyed.map(\.key), of: model.entities[entity])
            for ((node, _), row) in zip(keyed, rows) {
                if let row { found.append((node, StoredRow(table: table.id, key: row))) }
            }
        }
        return found
    }
}
