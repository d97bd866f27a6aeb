import SyncCore

/// A builder of the result of a sync. It collects the changes by entity.
struct ResultBuilder {
    /// The entity and key of a row in a result.
    struct Identity: Hashable {
        var entity: Int
        var key: PrimaryKeyValue
    }

    private struct LateUpdate {
        var changed: Set<String> = []
        /// How the payload graph affects the row. A written row is already counted as inserted or updated.
        let outcome: RowOutcome
    }

    /// How the payload graph affects a row.
    enum RowOutcome {
        case notGiven
        case unchanged
        case written
    }

    let model: CompiledModel
    let collectsKeys: Bool
    private(set) var linksAdded = 0
    private(set) var linksRemoved = 0
    private(set) var root = SyncResult.RootCounts()
    private(set) var entities: [SyncResult.EntityChanges]
    private(set) var diagnostics: [SyncDiagnostic]
    /// The number of diagnostics beyond ``SyncResult/diagnosticLimit``.
    private var omittedDiagnosticCount = 0
    /// Updates of rows as a side effect, such as the loss of a link to a deleted row.
    private var lateUpdates: [Identity: LateUpdate] = [:]
    private let graph: PayloadGraph

    init(_ graph: PayloadGraph, collectsKeys: Bool) {
        self.graph = graph
        self.model = graph.model
        self.collectsKeys = collectsKeys
        entities = graph.model.entities.map { _ in .init() }
        diagnostics = graph.diagnostics
    }

    mutating func add(
        _ kind: SyncDiagnostic.Kind, _ entity: Int, key: RowKey?, path: String, _ message: String,
        suggestion: String? = nil
    ) {
        guard kind == .deletionsSkipped || diagnostics.count < SyncResult.diagnosticLimit else {
            omittedDiagnosticCount += 1
            return
        }
        diagnostics.append(
            SyncDiagnostic(
                kind, entity: model.entities[entity].name,
                key: key.map { $0.recordKey(model.keyType(of: entity)).description },
                path: path, message: message, suggestion: suggestion))
    }

    mutating func countLinks(added: Int = 0, removed: Int = 0) {
        linksAdded += added
        linksRemoved += removed
    }

    // MARK: Rows of the payload graph

    mutating func inserted(_ nodes: [NodeID], _ table: SyncTable) {
        let batch = table.batch
        if collectsKeys, table.hierarchy.entities.count == 1 {
            entities[table.hierarchy.root].inserted.reserveCapacity(nodes.count)
        }
        for node in nodes {
            let entity = Int(batch.nodes[node.index].entity)
            entities[entity].insertedCount += 1
            if batch.nodes[node.index].isRoot { root.inserted += 1 }
            if collectsKeys { entities[entity].inserted.append(table.reportedKey(of: node)) }
        }
    }

    mutating func updated(_ node: NodeID, _ table: SyncTable, _ changed: [String]) {
        let entity = table.entity(of: node)
        entities[entity].updatedCount += 1
        if table.batch.nodes[node.index].isRoot, table.values.exist(for: node) { root.matched += 1 }
        if collectsKeys {
            entities[entity].updated.append(.init(key: table.reportedKey(of: node), changedAttributes: changed))
        }
    }

    /// Counts rows that records describe and that did not change.
    mutating func unchanged(_ nodes: [NodeID], _ table: SyncTable) {
        let batch = table.batch
        if !table.hierarchy.hasSubEntities {
            entities[table.hierarchy.root].unchangedCount += nodes.count
        } else {
            for node in nodes { entities[table.entity(of: node)].unchangedCount += 1 }
        }
        root.matched += nodes.count { batch.nodes[$0.index].isRoot }
    }

    // MARK: Other rows

    mutating func updated(_ row: Identity, _ changed: [String], inPlan fate: RowOutcome) {
        if lateUpdates[row] == nil, fate == .unchanged { entities[row.entity].unchangedCount -= 1 }
        lateUpdates[row, default: LateUpdate(outcome: fate)].changed.formUnion(changed)
    }

    /// Returns how the payload graph affects a row that is updated as a side effect; nil for other rows.
    func outcome(ofUpdated row: Identity) -> RowOutcome? { lateUpdates[row]?.outcome }

    mutating func deleted(_ row: Identity, isRoot: Bool) {
        entities[row.entity].deletedCount += 1
        if isRoot { root.deleted += 1 }
        lateUpdates[row] = nil
        if collectsKeys { entities[row.entity].deleted.append(row.key) }
    }

    // MARK: Result

    /// Returns the result, and moves the collected changes into it.
    mutating func makeResult(pendingReferences: [SyncResult.Link]) -> SyncResult {
        let names = graph.roots.map { model.entities[$0.entity].name }
        var result = SyncResult(entity: names.count == 1 ? names[0] : names.joined(separator: ", "))
        result.nextPage = graph.page.next
        mergeLateUpdates()
        for id in entities.indices where !entities[id].isEmpty || entities[id].unchangedCount > 0 {
            // There may be millions of keys. They are moved, not copied, and sorted only if they are not in order.
            var changes = SyncResult.EntityChanges()
            swap(&changes, &entities[id])
            changes.inserted.sortIfNeeded { $0 < $1 }
            changes.updated.sortIfNeeded { $0.key < $1.key }
            changes.deleted.sortIfNeeded { $0 < $1 }
            result.entities[model.entities[id].name] = changes
        }
        result.root = root
        result.recordCount = graph.readableRootRecords
        result.duplicateRecordCount = graph.duplicateRecordCount
        result.inconsistentRecordCount = graph.inconsistentRecordCount
        result.linksAdded = linksAdded
        result.linksRemoved = linksRemoved
        result.diagnostics = diagnostics
        result.omittedDiagnosticCount = graph.omittedDiagnosticCount + omittedDiagnosticCount
        result.pendingReferences = pendingReferences
        result.unmappedKeys = graph.unmappedKeys
        return result
    }

    private mutating func mergeLateUpdates() {
        for (entity, rows) in Dictionary(grouping: lateUpdates, by: \.key.entity) {
            entities[entity].updatedCount += rows.count { $0.value.outcome != .written }
            guard collectsKeys else { continue }
            var places: [PrimaryKeyValue: Int] = [:]
            for (place, update) in entities[entity].updated.enumerated() { places[update.key] = place }
            let inserted = Set(entities[entity].inserted)
            for (row, update) in rows where !inserted.contains(row.key) {
                if let place = places[row.key] {
                    let known = entities[entity].updated[place].changedAttributes
                    entities[entity].updated[place].changedAttributes += update.changed.subtracting(known).sorted()
                } else {
                    entities[entity].updated.append(.init(key: row.key, changedAttributes: update.changed.sorted()))
                }
            }
        }
    }
}

extension Array {
    fileprivate mutating func sortIfNeeded(by precedes: (Element, Element) -> Bool) {
        if zip(self, dropFirst()).contains(where: { precedes($1, $0) }) { sort(by: precedes) }
    }
}

// MARK: - SyncTransaction+Ledger

// These functions record all link changes: a count, and the links themselves if the caller asks for values.
extension SyncTransaction {
    /// Records an added link between two stored rows.
    mutating func recordAddedLink(_ link: CompiledAssociation, _ first: StoredRow, _ second: StoredRow) throws {
        report.countLinks(added: 1)
        resolvedLinks.append(.init(link: link.id, rows: JoinKey(first: first.key, second: second.key)))
        guard let previousValues else { return }
        previousValues.recordAdded(
            named(link, try identities.end(first, link, .first), try identities.end(second, link, .second)))
    }

    /// Records a removed link from a row at one end to the row with a key at the other end.
    mutating func recordRemovedLink(
        _ link: CompiledAssociation, of row: StoredRow, at end: CompiledAssociation.End, to key: RowKey
    ) throws {
        report.countLinks(removed: 1)
        guard let previousValues else { return }
        let other = StoredRow(table: link.side(end.other).table, key: key)
        let (first, second) = end == .first ? (row, other) : (other, row)
        previousValues.recordRemoved(
            named(link, try identities.end(first, link, .first), try identities.end(second, link, .second)))
    }

    /// Removes a link that this sync has added from the result, because the sync deletes one of its rows.
    mutating func recordUndoneLink(_ link: CompiledAssociation, _ rows: JoinKey) throws {
        report.countLinks(added: -1)
        guard let previousValues else { return }
        let first = StoredRow(table: link.first.table, key: rows.first)
        let second = StoredRow(table: link.second.table, key: rows.second)
        previousValues.recordUndone(
            named(link, try identities.end(first, link, .first), try identities.end(second, link, .second)))
    }

    /// Records the removal of a foreign key of a stored row. Call it before the removal.
    mutating func recordRemovedTarget(_ link: CompiledAssociation, of row: StoredRow) throws {
        guard previousValues != nil, let key = try links.target(of: row.key, link.id) else {
            return report.countLinks(removed: 1)
        }
        try recordRemovedLink(link, of: row, at: .first, to: key)
    }

    /// Records the change of a foreign key of a node.
    mutating func recordTarget(
        of node: NodeID, _ table: SyncTable, _ link: CompiledAssociation, before: LinkTarget, after: LinkTarget
    ) throws {
        if after != .nowhere { recordAddedLink(link, node, after.node) }
        guard before != .nowhere else { return }
        guard previousValues != nil, let row = table.row(node) else { return report.countLinks(removed: 1) }
        try recordRemovedTarget(link, of: row)
    }

    /// Records the changes of a join table.
    mutating func recordLinkChanges(_ changes: JoinTableChanges) throws {
        guard previousValues != nil else {
            return report.countLinks(added: changes.added.count, removed: changes.removed.count)
        }
        let link = changes.link
        for joinRow in changes.added { recordAddedLink(link, joinRow.first, joinRow.second) }
        try identities.load(changes.removed.lazy.map { StoredRow(table: link.first.table, key: $0.first) })
        try identities.load(changes.removed.lazy.map { StoredRow(table: link.second.table, key: $0.second) })
        for joinRow in changes.removed {
            try recordRemovedLink(
                link, of: StoredRow(table: link.first.table, key: joinRow.first), at: .first, to: joinRow.second)
        }
    }

    private mutating func recordAddedLink(_ link: CompiledAssociation, _ first: NodeID, _ second: NodeID?) {
        report.countLinks(added: 1)
        guard let previousValues, let second else { return }
        previousValues.recordAdded(
            named(
                link, tables[link.first.table].identity(of: first), tables[link.second.table].identity(of: second)))
    }

    /// Reads the links and identities that are needed to record changes of the nodes' foreign keys.
    func loadEnds(of nodes: [NodeID], _ link: CompiledAssociation, _ table: SyncTable) throws {
        guard previousValues != nil else { return }
        let rows = nodes.lazy.filter { table.isPresent($0, as: .stored) }.compactMap(table.row)
        try links.load(rows.map(\.key), link.id, from: .first)
        try identities.load(rows)
        try identities.load(
            rows.map { try links.targets(of: $0.key, link.id, from: .first) }.joined()
                .map { StoredRow(table: link.second.table, key: $0) })
    }

    // MARK: Names in the result

    private func named(
        _ link: CompiledAssociation, _ first: ResultBuilder.Identity, _ second: ResultBuilder.Identity
    ) -> SyncResult.Link {
        var end = reportedEnd(of: link)
        if link.side(end).relationship == nil { end = end.other }
        let (owner, target) = end == .first ? (first, second) : (second, first)
        return SyncResult.Link(
            entity: model.entities[owner.entity].name, key: owner.key,
            relationship: link.side(end).relationship?.name ?? "", target: target.key)
    }

    /// Returns the end whose relationship the result names. For a foreign key, it is the first end. For a join table,
    /// it is the end whose links the payload gives last. If the payload gives none, it is the second end if that is at
    /// the root entity's table, and otherwise the first.
    private func reportedEnd(of link: CompiledAssociation) -> CompiledAssociation.End {
        if link.storage == .foreignKey { return .first }
        if let said = graph[link.id].assertions.last?.assertedBy ?? graph[link.id].replacements.last?.end {
            return said
        }
        return link.second.table == rootEntity.table ? .second : .first
    }
}
