import Foundation
import SyncCore

// Which records count: what the operations allow, and what a new row must have.
extension SyncTransaction {
    /// - Parameter admittingIncomplete: Whether new rows may lack what they must have, because a hook has not seen them yet.
    mutating func decideWhichRecordsCount(admittingIncomplete: Bool = false) throws {
        if plan.mentions.isEmpty {
            for table in tables { admitNewRows(table, admittingIncomplete) { _ in true } }
        } else {
            try decideMentions(admittingIncomplete)
        }
        try giveKeysToOwnedRows()
    }

    /// What is nested in a refused record does not count either, so this is repeated until no more are refused.
    private mutating func decideMentions(_ admittingIncomplete: Bool) throws {
        while true {
            let refused = tables.map(\.refused.count)
            try resolveEffectiveRecords()
            for table in tables {
                table.resolveEffectiveValues { records.counts($0) }
                admitNewRows(table, admittingIncomplete) { table.values.count(for: $0) }
            }
            if !admittingIncomplete { refuseRowsOfMissingTargets() }
            if refused == tables.map(\.refused.count) { break }
        }
        try compareRows()
    }

    /// A record counts if the record around it does and it may be inserted or updated, whichever it needs. One that may
    /// only be updated counts for a row that another record inserts too: the next time that row is stored.
    private mutating func resolveEffectiveRecords() throws {
        let someOnlyUpdate = plan.mentions.contains { $0.permission == .update }
        var inserted: Set<PayloadGraph.RowReference> = []
        var insertedBefore: Int
        repeat {
            insertedBefore = inserted.count
            records.counts = Array(repeating: false, count: plan.mentions.count)
            for (index, mention) in plan.mentions.enumerated() {
                let table = tables[mention.table]
                guard mention.parent < 0 || records.counts[Int(mention.parent)] else { continue }
                guard let node = mention.node else {
                    records.counts[index] = !mention.permission.isEmpty
                    continue
                }
                if table.refused.contains(node) { continue }
                let isStored = table.isPresent(node, as: .stored)
                if isStored, try isInsertedBefore(node, table) {
                    records.counts[index] = !mention.permission.isEmpty
                    continue
                }
                records.counts[index] = mention.permission.contains(isStored ? .update : .insert)
                guard someOnlyUpdate, !isStored else { continue }
                let row = PayloadGraph.RowReference(table: table.id, node: node)
                if records.counts[index] { inserted.insert(row) }
                if mention.permission == .update { records.counts[index] = inserted.contains(row) }
            }
        } while inserted.count > insertedBefore
    }

    /// Whether an earlier page of the run inserted a row, which is as new as if one payload had it.
    private func isInsertedBefore(_ node: NodeID, _ table: SyncTable) throws -> Bool {
        guard run != nil, let row = table.row(node) else { return false }
        return try marks(of: row).contains(.inserted)
    }

    // MARK: New rows

    private mutating func admitNewRows(
        _ table: SyncTable, _ admittingIncomplete: Bool, where mayInsert: (NodeID) -> Bool
    ) {
        let batch = table.batch
        var presence = table.met.presence
        // Of the entity of the node before, which mostly is the same.
        var rule = NewRowRule(model.entities[table.tree.root], table)
        for index in batch.nodes.indices where presence[index] != .stored {
            let node = NodeID(index)
            presence[index] = .missing
            guard batch.nodes[index].isGiven, mayInsert(node), !table.refused.contains(node) else { continue }
            let entity = Int(batch.nodes[index].entity)
            if entity != rule.entity.id { rule = NewRowRule(model.entities[entity], table) }
            if !admittingIncomplete, let problem = problem(withNew: node, table, rule) {
                table.refuseNew(node)
                report.add(
                    problem.kind, entity, key: RowKey(batch.nodes[index].key, pool),
                    path: path(of: node, table), problem.message)
            } else {
                presence[index] = .new
            }
        }
        table.met.presence = presence
    }

    /// What a new row of an entity must have.
    private struct NewRowRule {
        let entity: CompiledEntity
        /// The slots besides the key's that must have a value.
        let required: [Int]

        init(_ entity: CompiledEntity, _ table: SyncTable) {
            self.entity = entity
            required = entity.slots.filter { $0 != entity.keySlot && table.needsValue($0) }
        }
    }

    private func problem(withNew node: NodeID, _ table: SyncTable, _ rule: NewRowRule) -> (
        kind: SyncResult.Diagnostic.Kind, message: String
    )? {
        let entity = rule.entity
        if entity.isAbstract {
            return (.entityMismatch, "\(entity.name) is abstract, so a new row of it cannot be stored")
        }
        if table.batch.nodes[node.index].ownerPlace != nil, let slot = entity.keySlot {
            let type = table.tree.attributes[slot].type
            if ![.integer, .string, .uuid].contains(type) {
                return (.keyCannotBeMade, "a new \(entity.name) needs its key: one of type \(type) cannot be made here")
            }
        }
        if table.batch.nodes[node.index].ownerPlace != nil, entity.compositeKey != nil {
            return (.keyCannotBeMade, "a new \(entity.name) needs its key: one of several parts cannot be made here")
        }
        for slot in rule.required where table.lacksValue(slot, of: node) {
            let name = table.tree.attributes[slot].name
            return (.requiredValueMissing, "a new \(entity.name) needs a value for \(name); the record is refused")
        }
        return nil
    }

    /// A row whose key is made of another's cannot be without that.
    private mutating func refuseRowsOfMissingTargets() {
        for table in tables {
            for link in table.tree.foreignKeys where model[link].isKeyPart {
                let targets = tables[model[link].second.table]
                for (node, target) in keyTargets(link).sorted(by: { $0.key.index < $1.key.index })
                where table.isPresent(node, as: .new) && !isThere(target, targets, model[link].second) {
                    table.refuseNew(node)
                    table.met.presence[node.index] = .missing
                    let name = model[link].first.relationship?.name ?? ""
                    let key = RowKey(table.batch.nodes[node.index].key, pool)
                    report.add(
                        .keyPartMissing, table.wantedEntity(of: node).id, key: key, path: path(of: node, table),
                        "its \(name), which is a part of its key, is not stored; the record is refused")
                }
            }
        }
    }

    /// Whether a row is stored, or will be, as what a link leads to.
    private func isThere(_ node: NodeID, _ table: SyncTable, _ side: CompiledAssociation.Role) -> Bool {
        switch table.presence(of: node) {
        case .missing: false
        case .new: model.entity(table.wantedEntity(of: node).id, isKindOf: side.entity)
        case .stored: model.entity(table.entity(of: node), isKindOf: side.entity)
        }
    }

    /// The rows that the payload says the keys of others are made of, by a link that is a part of keys.
    func keyTargets(_ link: AssociationID) -> [NodeID: NodeID] {
        Dictionary(plan[link].assertions.lazy.map { ($0.first, $0.second) }, uniquingKeysWith: { first, _ in first })
    }

    /// Hidden keys for new rows of hidden-key tables, local keys for new rows that have no key of their own.
    private func giveKeysToOwnedRows() throws {
        for table in tables where !table.isEmpty && (table.hasHiddenKey || !table.batch.owners.isEmpty) {
            var next: Int64?
            // Hidden keys go up with the others, so that both indexes of a table grow at their ends.
            let new = table.hasHiddenKey ? table.sortedByKey(table.nodes(.new)) : table.nodes(.new)
            for node in new {
                guard table.hasHiddenKey || table.batch.nodes[node.index].ownerPlace != nil else { continue }
                let key = try newRowKey(table, table.wantedEntity(of: node), next: &next)
                table.keys.own(node, key)
            }
        }
    }

    private func newRowKey(_ table: SyncTable, _ entity: CompiledEntity, next: inout Int64?) throws -> RowKey {
        if !table.hasHiddenKey {
            switch entity.keySlot.map({ table.tree.attributes[$0].type }) {
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

// A row that an earlier page inserted is new until the run ends: a record that gives it as a sub-entity makes it one.
extension SyncTransaction {
    func refineEntities() throws {
        guard run != nil else { return }
        try loadMarks(
            of: tables.lazy.filter { !$0.hasHiddenKey }.flatMap { table in table.nodes.compactMap(table.row) })
        for table in tables where table.tree.hasSubEntities { try refineEntities(table) }
    }

    private func refineEntities(_ table: SyncTable) throws {
        var inserted: [(node: NodeID, row: StoredRow)] = []
        for (node, row) in try rowsByKey(table) {
            try steps.advance()
            if try marks(of: row).contains(.inserted) { inserted.append((node, row)) }
        }
        try identities.load(inserted.map(\.row))
        var refined: [(key: RowKey, entity: CompiledEntity, added: [Int])] = []
        for (node, row) in inserted {
            let wanted = table.wantedEntity(of: node)
            guard let found = try identities[row], found.entity != wanted.id,
                model.entity(wanted.id, isKindOf: found.entity)
            else { continue }
            let added = wanted.slots.filter { !model.entities[found.entity].slots.contains($0) }
            guard added.allSatisfy({ !table.lacksValue($0, of: node) }) else { continue }
            refined.append((row.key, wanted, added))
        }
        if !refined.isEmpty { try store.refine(refined, in: table.id) }
        identities.removeAll()
    }

    /// The rows of nodes that a record gives and that have a key.
    private func rowsByKey(_ table: SyncTable) throws -> [(node: NodeID, row: StoredRow)] {
        let batch = table.batch
        let given = table.nodes.filter { batch.nodes[$0.index].isGiven && table.wantedEntity(of: $0).isKeyed }
        var found: [(node: NodeID, row: StoredRow)] = []
        guard table.hasHiddenKey else {
            for node in given { if let row = table.row(node) { found.append((node, row)) } }
            return found
        }
        for (entity, nodes) in Dictionary(grouping: given, by: { table.wantedEntity(of: $0).id }) {
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
