import Foundation
package import SyncCore

/// One sync inside its transaction: a plan against the stored rows. ``apply()`` reads top to bottom.
struct SyncTransaction {
    let store: any StoreSession
    let request: SyncRequest
    private(set) var plan: PayloadGraph
    let pool: TextPool
    let tables: SyncTables
    let steps: ProgressReporter
    let identities: RowIdentityCache
    /// Nil unless the caller asks for values.
    let history: PreviousValues?
    let links: LinkChangeTracker
    /// What earlier pages of the same run said; nil unless the payload is one of them.
    var run: PagedImportState?
    let spilledMarks: SpilledRowFlags

    var records: EffectiveRecords
    /// References of the payload to rows that are not there.
    private(set) var awaited = UnresolvedLinks()
    var report: ResultBuilder
    var leaving = DeletionCandidates()
    /// Nodes without a key that met a row another node had met, and that node.
    var duplicates: [PayloadGraph.RowReference: NodeID] = [:]
    /// Row keys of a parent's rows before the sync.
    var parentRows: [RowKey] = []
    var unresolved: [SyncResult.UnresolvedReference] = []
    /// By entity: how many rows stay that the payload leaves out, because a record may be of them.
    var skippedDeletions: [Int: Int] = [:]

    /// Writes what differs, and says what changed.
    mutating func apply() throws -> SyncResult {
        store.memory = run?.storeMemory ?? [:]
        try checkPredicate()
        try findParent()
        try refineEntities()
        try matchRows()
        try decideWhichRecordsCount()
        try removeDanglingLinks()
        try resolveForeignKeys()
        let pairs = try resolveJoinTables()
        try writeRows(andPairs: pairs)
        try linkLateReferences()
        try finishPagedImport()
        try deleteRows()
        try resolvePositions()
        return try finish()
    }

    /// Deletes stored rows, and says what went with them.
    mutating func delete(_ rows: Set<StoredRow>) throws -> SyncResult {
        leaving.addOutOfScope(rows)
        try deleteRows()
        return try finish()
    }

    init(_ plan: PayloadGraph, _ session: SyncSession, _ pool: TextPool) throws {
        store = session.store
        request = session.request
        self.plan = plan
        self.pool = pool
        tables = SyncTables(plan, pool)
        steps = ProgressReporter(session.request.options.progress)
        identities = RowIdentityCache(store, plan.model)
        history = session.request.options.collectsValues ? PreviousValues(store, plan.model, identities) : nil
        links = LinkChangeTracker(store, plan.model)
        spilledMarks = SpilledRowFlags(store)
        records = EffectiveRecords(plan.mentions)
        report = ResultBuilder(plan, collectsKeys: session.request.options.collectsKeys)
        try store.begin(plan, tables, steps)
    }

    var model: CompiledModel { plan.model }
    var options: SyncOptions { request.options }
    var predicate: RowPredicate? { request.predicate }
    var rootEntity: CompiledEntity { model.entities[plan.entity] }

    /// What the payload states about a link, by what is known of rows by now.
    func statements(of id: AssociationID) -> LinkAssertions {
        let link = model[id]
        return LinkAssertions(
            plan[id], of: link, in: model, records, first: tables[link.first.table].statedRows,
            second: tables[link.second.table].statedRows)
    }

    mutating func addUnresolved(_ assertions: [LinkBatch.Assertion], _ link: AssociationID) {
        awaited.add(assertions, link)
    }

    /// Makes each row that several nodes met one node.
    mutating func mergeNodes() {
        plan = plan.merging(duplicates)
        tables.replaceBatches(plan)
        for (duplicate, kept) in duplicates {
            tables[duplicate.table].drop(duplicate.node)
            tables[duplicate.table].useFirstValues(of: kept)
        }
    }

    /// The predicate must be one on the entity, also where nothing is deleted by it.
    func checkPredicate() throws {
        if let predicate { try store.check(predicate, on: rootEntity) }
    }

    /// The parent must be stored.
    mutating func findParent() throws {
        guard let parent = plan.parent else { return }
        let table = tables[parent.table]
        let entity = table.wantedEntity(of: parent.node)
        let key = RowKey(table.batch.nodes[parent.node.index].key, pool)
        let found = try key.flatMap { try store.rows(withKeys: [$0], of: entity).first ?? nil }
        guard let found, let row = try identities[StoredRow(table: parent.table, key: found)],
            model.entity(row.entity, isKindOf: entity.id)
        else {
            throw SyncError(
                .parentNotFound,
                "the parent \(entity.name) \(key.map { $0.recordKey(nil).description } ?? "") is not stored",
                entity: entity.name)
        }
        parentRows = try run?.parentRows ?? links.targets(of: found, parent.link, from: parent.end)
    }
}

extension SyncTable {
    /// The rows as the rule for links asks for them.
    fileprivate var statedRows: LinkAssertions.Rows { .init(presence: met.presence, entities: met.entities) }
}

/// A store inside a transaction, its own or the caller's, and what is asked of it: where each way in meets the one route
/// from a plan to the rows, ``apply(_:)``.
package struct SyncSession {
    package let store: any StoreSession
    package let model: CompiledModel
    package let request: SyncRequest

    package init(_ store: any StoreSession, _ model: CompiledModel, _ request: SyncRequest) {
        self.store = store
        self.model = model
        self.request = request
    }

    /// The same for a part of a payload, which cannot tell how far the whole is.
    package var quiet: SyncSession {
        var request = request
        request.options.progress = nil
        return SyncSession(store, model, request)
    }

    /// Compares a payload with the stored rows and writes the difference. Throws without having to undo anything: whoever
    /// began the transaction rolls back.
    package func apply(_ payload: MappedPayload) throws -> SyncResult {
        var run: PagedImportState?
        return try apply(payload, run: &run)
    }

    /// - Parameter run: What earlier pages of the same run said; nil unless the plan is of one of them.
    package func apply(_ payload: MappedPayload, run: inout PagedImportState?) throws -> SyncResult {
        var plan = try rewritten(payload, run)
        if let memory = run {
            plan = plan.following(memory.rootRecords)
            if plan.page.hasNulls { run?.hasNulls = true }
            if memory.isEnding, memory.hasNulls { plan = plan.ofPart() }
        }
        return try plan.withTexts { pool in
            var sync = try SyncTransaction(plan, self, pool)
            swap(&sync.run, &run)
            defer { swap(&sync.run, &run) }
            return try sync.apply()
        }
    }

    /// Deletes stored rows of an entity by the delete rules of the model.
    package func delete(_ rows: Set<StoredRow>, of entity: CompiledEntity) throws -> SyncResult {
        let plan = PayloadGraph(model: model, entity: entity.id, operations: [], payload: Data())
        return try plan.withTexts { pool in
            var sync = try SyncTransaction(plan, self, pool)
            return try sync.delete(rows)
        }
    }
}

// MARK: - Hook

// A hook rewrites records that become new rows. Which those are is found out without writing anything, as often as its
// answers bring new ones.
extension SyncSession {
    /// - Parameter run: What earlier pages said, by which a page's rows are new or not.
    func rewritten(_ payload: MappedPayload, _ run: PagedImportState?) throws -> PayloadGraph {
        var plan = payload.plan
        guard var rewriting = payload.rewriting else { return plan }
        while true {
            let new = try plan.withTexts { pool in
                var sync = try SyncTransaction(plan, self, pool)
                sync.run = run
                return try sync.newOccurrences()
            }
            guard let next = try rewriting.next(after: plan, newOccurrences: new) else { break }
            plan = next
        }
        return try rewriting.settled(plan)
    }
}

extension SyncTransaction {
    /// The records that would become new rows, whether or not they have all that those need.
    fileprivate mutating func newOccurrences() throws -> [Int] {
        try checkPredicate()
        try findParent()
        try matchRows()
        try decideWhichRecordsCount(admittingIncomplete: true)
        return plan.mentions.indices.filter { index in
            guard let node = plan.mentions[index].node else { return false }
            return records.counts(Int32(truncatingIfNeeded: index))
                && tables[plan.mentions[index].table].isPresent(node, as: .new)
        }
    }
}

// MARK: - ProgressReporter

/// How far a sync is. Told to whoever wants to know every few thousand rows and links, when a cancelled task is noticed too.
package final class ProgressReporter {
    private static let interval = 4096

    private let tell: (@Sendable (SyncProgress) -> Void)?
    private var done = 0
    private var nextNotice = interval
    /// How much there is to write; nil before that is known.
    private var expected: Int?

    package init(_ tell: (@Sendable (SyncProgress) -> Void)?) { self.tell = tell }

    /// Whether anybody wants to know.
    var areTold: Bool { tell != nil }

    /// Called as a long loop goes on.
    ///
    /// - Throws: `CancellationError`.
    package func advance(by count: Int = 1) throws {
        done &+= count
        guard done >= nextNotice else { return }
        nextNotice = done - done % Self.interval + Self.interval
        if Task.isCancelled { throw CancellationError() }
        guard let tell else { return }
        guard let expected else { return tell(SyncProgress(.comparing, completed: done)) }
        tell(SyncProgress(.writing, completed: done, total: done <= expected ? expected : nil))
    }

    /// What is counted from here on is written.
    func beginWriting(expecting count: Int) {
        done = 0
        nextNotice = Self.interval
        expected = count
    }
}

// MARK: - Finishing

extension SyncTransaction {
    /// Everything is written: makes sure of it, and tells about it.
    mutating func finish() throws -> SyncResult {
        try reportMendedRows()
        try writeLinks()
        try store.checkLinks()
        try checkGuard()
        try store.end(awaits: !awaited.isEmpty)
        try dropMarks()
        if !request.isDryRun { try notifyObservers() }
        run?.storeMemory = store.memory
        var result = report.makeResult(unresolved: unresolved)
        try history?.add(to: &result)
        return result
    }

    /// Tells observers which tables changed, once.
    private func notifyObservers() throws {
        let wroteLinks = report.linksAdded + report.linksRemoved > 0
        let changed = model.trees.filter { tree in
            wroteLinks || tree.entities.contains { !report.entities[$0].isEmpty }
        }
        guard !changed.isEmpty else { return }
        try store.notifyObservers(of: changed.map(\.id), andPairs: wroteLinks)
    }
}
