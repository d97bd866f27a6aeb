import Foundation
package import SyncCore

/// One sync inside its transaction: compares a payload graph with the stored rows, and writes the differences.
/// ``apply()`` lists the stages in order.
struct SyncTransaction {
    let store: any StoreSession
    let request: SyncRequest
    private(set) var graph: PayloadGraph
    let pool: TextPool
    let tables: SyncTables
    let progress: ProgressReporter
    let identities: RowIdentityCache
    /// The previous values of written rows; nil unless the caller asks for values.
    let previousValues: PreviousValues?
    let links: LinkChangeTracker
    /// The state from earlier pages; nil unless the payload belongs to a paged import.
    var pagedImport: PagedImportState?

    var effectiveRecords: EffectiveRecords
    /// References of the payload to rows that are not stored.
    private(set) var unresolvedLinks = UnresolvedLinks()
    var report: ResultBuilder
    /// The rows that a page of a paged import updated as a side effect.
    var updatedRows: [ResultBuilder.Identity: StoredRow] = [:]
    var deletionCandidates = DeletionCandidates()
    /// Nodes without a key that matched the row of another node, each with that other node.
    var duplicates: [PayloadGraph.RowReference: NodeID] = [:]
    /// The row keys of the parent's children before the sync, or before the paged import.
    var parentRows: [RowKey] = []
    var pendingReferences: [SyncResult.Link] = []
    /// Whether join rows of ordered lists got other positions.
    var reordersJoinRows = false
    /// The links that this sync added because the rows of pending references arrived.
    var resolvedLinks: [ResolvedLink] = []
    /// The rows of tables outside the model that foreign keys deleted or changed.
    var outsideReferences: [OutsideReferences] = []
    /// The number of omitted rows of each entity that are not deleted, because a record with an unreadable key may
    /// describe them.
    var skippedDeletions: [Int: Int] = [:]

    /// A link between two stored rows.
    struct ResolvedLink: Hashable {
        let link: AssociationID
        let rows: JoinKey
    }

    /// Runs all stages of the sync, and returns the change set.
    mutating func apply() throws -> SyncResult {
        store.scratch = pagedImport?.sessionScratch ?? [:]
        try checkPredicate()
        try findParent()
        try setSubEntities()
        try matchRows()
        try resolveEffectiveRecords()
        try removeDanglingLinks()
        try resolveForeignKeys()
        let joinTableChanges = try resolveJoinTables()
        try writeRows(andJoinRows: joinTableChanges)
        try resolvePendingReferences()
        try finishPagedImport()
        try deleteRows()
        try resolvePositions()
        return try finish()
    }

    /// Deletes stored rows and returns the change set.
    mutating func delete(_ rows: Set<StoredRow>) throws -> SyncResult {
        deletionCandidates.addOmittedFromScope(rows)
        try deleteRows()
        return try finish()
    }

    init(_ graph: PayloadGraph, _ session: SyncSession, _ pool: TextPool) throws {
        store = session.store
        request = session.request
        self.graph = graph
        self.pool = pool
        tables = SyncTables(graph, pool)
        progress = ProgressReporter(session.request.options.progress, session.request.cancellation)
        identities = RowIdentityCache(store, graph.model)
        previousValues = session.request.options.collectsValues ? PreviousValues(store, graph.model, identities) : nil
        links = LinkChangeTracker(store, graph.model)
        effectiveRecords = EffectiveRecords(graph.occurrences)
        report = ResultBuilder(graph, collectsKeys: session.request.options.collectsKeys)
        try store.begin(graph, tables, progress)
    }

    var model: CompiledModel { graph.model }
    var options: SyncOptions { request.options }
    var predicate: RowPredicate? { request.predicate }
    var rootEntity: CompiledEntity { model.entities[graph.entity] }

    /// Returns the payload's link assertions of an association, evaluated with the current row states.
    func statements(of id: AssociationID) -> LinkAssertions {
        let link = model[id]
        return LinkAssertions(
            graph[id], of: link, in: model, effectiveRecords, first: tables[link.first.table].statedRows,
            second: tables[link.second.table].statedRows)
    }

    mutating func addUnresolved(_ assertions: [LinkBatch.Assertion], _ link: AssociationID) {
        unresolvedLinks.add(assertions, link)
    }

    /// Merges nodes that matched the same row.
    mutating func mergeNodes() {
        graph = graph.merging(duplicates)
        tables.replaceBatches(graph)
        for (duplicate, kept) in duplicates {
            tables[duplicate.table].removeDuplicate(duplicate.node)
            tables[duplicate.table].useFirstValues(of: kept)
        }
    }

    /// Checks that the predicate is valid for the entity, even if the sync deletes nothing.
    func checkPredicate() throws {
        if let predicate { try store.check(predicate, on: rootEntity) }
    }

    /// Finds the stored row of the parent, and the keys of its children.
    ///
    /// - Throws: ``SyncError`` `parentNotFound`.
    mutating func findParent() throws {
        guard let parent = graph.parent else { return }
        let table = tables[parent.table]
        let entity = table.payloadEntity(of: parent.node)
        let key = RowKey(table.batch.nodes[parent.node.index].key, pool)
        let found = try key.flatMap { try store.rows(withKeys: [$0], of: entity).first ?? nil }
        guard let found, let row = try identities[StoredRow(table: parent.table, key: found)],
            model.entity(row.entity, isKindOf: entity.id)
        else {
            throw SyncError(
                .parentNotFound,
                "the parent \(entity.name) \(key.map { $0.recordKey(nil).description } ?? "") is not stored; sync it first",
                entity: entity.name)
        }
        parentRows = try pagedImport?.parentRows ?? links.targets(of: found, parent.link, from: parent.end)
    }
}

extension SyncTable {
    /// The row states and entities, as the link rule needs them.
    fileprivate var statedRows: LinkAssertions.Rows { .init(states: matches.rowStates, entities: matches.entities) }
}

/// A store inside a transaction, with the request of the caller. Every sync of a payload ends in ``apply(_:run:)``.
package struct SyncSession {
    package let store: any StoreSession
    package let model: CompiledModel
    package let request: SyncRequest

    package init(_ store: any StoreSession, _ model: CompiledModel, _ request: SyncRequest) {
        self.store = store
        self.model = model
        self.request = request
    }

    /// A copy of the session that reports no progress. It is for a part of a payload, because the total is unknown.
    package var withoutProgress: SyncSession {
        var request = request
        request.options.progress = nil
        return SyncSession(store, model, request)
    }

    /// Compares a payload with the stored rows and writes the differences. If it throws, the caller rolls back the
    /// transaction.
    package func apply(_ payload: MappedPayload) throws -> SyncResult {
        var run: PagedImportState?
        return try apply(payload, run: &run)
    }

    /// Compares a payload with the stored rows and writes the differences. If `run` is not nil, the payload is a page
    /// or the end of a paged import.
    ///
    /// - Parameter run: The state of the paged import, which the sync updates.
    package func apply(_ payload: MappedPayload, run: inout PagedImportState?) throws -> SyncResult {
        var graph = try rewritten(payload, run)
        if let memory = run {
            graph = graph.following(memory.rootRecords)
            if graph.page.hasNulls { run?.hasNulls = true }
            if memory.isEnding, memory.hasNulls { graph = graph.ofPart() }
        }
        return try graph.withTexts { pool in
            var sync = try SyncTransaction(graph, self, pool)
            swap(&sync.pagedImport, &run)
            defer { swap(&sync.pagedImport, &run) }
            return try sync.apply()
        }
    }

    /// Deletes stored rows of an entity, by the delete rules of the model.
    package func delete(_ rows: Set<StoredRow>, of entity: CompiledEntity) throws -> SyncResult {
        let graph = PayloadGraph(model: model, entity: entity.id, operations: [], payload: Data())
        return try graph.withTexts { pool in
            var sync = try SyncTransaction(graph, self, pool)
            return try sync.delete(rows)
        }
    }
}

// MARK: - Insert hook

// The insert hook may replace the records of new rows. The sync determines the new rows without writing. It repeats
// this until the replaced records add no new rows.
extension SyncSession {
    /// Returns the payload graph with the records that the hook replaced.
    ///
    /// - Parameter run: The state from earlier pages, which decides whether rows are new.
    func rewritten(_ payload: MappedPayload, _ run: PagedImportState?) throws -> PayloadGraph {
        var graph = payload.graph
        guard var rewriting = payload.rewriting else { return graph }
        while true {
            let new = try graph.withTexts { pool in
                var sync = try SyncTransaction(graph, self, pool)
                sync.pagedImport = run
                return try sync.newOccurrences()
            }
            guard let next = try rewriting.next(after: graph, newOccurrences: new) else { break }
            graph = next
        }
        return try rewriting.finalGraph(graph)
    }
}

extension SyncTransaction {
    /// Returns the indexes of the occurrences whose rows the sync would insert, even if required values are missing.
    fileprivate mutating func newOccurrences() throws -> [Int] {
        try checkPredicate()
        try findParent()
        try matchRows()
        try resolveEffectiveRecords(admittingIncomplete: true)
        return graph.occurrences.indices.filter { index in
            guard let node = graph.occurrences[index].node else { return false }
            return effectiveRecords.isEffective(Int32(truncatingIfNeeded: index))
                && tables[graph.occurrences[index].table].isPresent(node, as: .new)
        }
    }
}

// MARK: - ProgressReporter

/// Reports the progress of a sync every few thousand rows and links, and checks for cancellation at the same time.
package final class ProgressReporter {
    private static let interval = 4096

    private let notify: (@Sendable (SyncProgress) -> Void)?
    private let cancellation: CancellationFlag
    private var done = 0
    private var nextNotice = interval
    /// The number of rows and links to write; nil before the writing phase.
    private var expected: Int?

    package init(_ tell: (@Sendable (SyncProgress) -> Void)?, _ cancellation: CancellationFlag = .ofTask) {
        notify = tell
        self.cancellation = cancellation
    }

    /// Whether the caller observes the progress.
    var hasObserver: Bool { notify != nil }

    /// Counts completed rows or links of a long loop.
    ///
    /// - Throws: `CancellationError`.
    package func advance(by count: Int = 1) throws {
        done &+= count
        guard done >= nextNotice else { return }
        nextNotice = done - done % Self.interval + Self.interval
        try check()
        guard let notify else { return }
        guard let expected else { return notify(SyncProgress(.comparing, completed: done)) }
        notify(SyncProgress(.writing, completed: done, total: done <= expected ? expected : nil))
    }

    /// Checks for cancellation in a loop that does not count as progress.
    ///
    /// - Throws: `CancellationError`.
    package func check() throws { try cancellation.check() }

    /// Starts the writing phase.
    func beginWriting(expecting count: Int) {
        done = 0
        nextNotice = Self.interval
        expected = count
    }
}

/// Counts the iterations of one loop, and reports them in steps.
@usableFromInline
package struct ProgressCounter {
    private let steps: ProgressReporter
    @usableFromInline var count = 0

    package init(_ steps: ProgressReporter) { self.steps = steps }

    @inlinable
    @inline(__always)
    package mutating func advance() throws {
        count &+= 1
        if count & 1023 == 0 { try report() }
    }

    @usableFromInline
    func report() throws { try steps.advance(by: 1024) }

    /// Reports the remaining iterations.
    package func finish() throws { try steps.advance(by: count & 1023) }
}

// MARK: - Finish

extension SyncTransaction {
    /// Writes the remaining links, checks the written state, notifies observers and creates the result.
    mutating func finish() throws -> SyncResult {
        try reportRepairedRows()
        try countUpdatedRowsOnce()
        try writeLinks()
        try reportOutsideReferences(store.checkLinks())
        try checkDeletionLimit()
        try store.end(awaits: !unresolvedLinks.isEmpty)
        if !request.isDryRun { try notifyObservers() }
        pagedImport?.sessionScratch = store.scratch
        var result = report.makeResult(pendingReferences: pendingReferences)
        try previousValues?.add(to: &result)
        return result
    }

    /// Notifies observers once of the tables that changed, or of all tables if links changed.
    private func notifyObservers() throws {
        let wroteLinks = reordersJoinRows || report.linksAdded + report.linksRemoved > 0
        let changed = model.hierarchies.compactMap { hierarchy -> ChangedTable? in
            var changes: RowChangeKinds = wroteLinks ? .update : []
            for entity in hierarchy.entities {
                let reported = report.entities[entity]
                if reported.insertedCount > 0 { changes.insert(.insertion) }
                if reported.updatedCount > 0 { changes.insert(.update) }
                if reported.deletedCount > 0 { changes.insert(.deletion) }
            }
            return changes.isEmpty ? nil : ChangedTable(table: hierarchy.id, changes: changes)
        }
        guard !changed.isEmpty else { return }
        try store.notifyObservers(of: changed, andLinks: wroteLinks)
    }
}
