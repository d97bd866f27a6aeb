import Foundation
import GRDB
import SyncCore

/// One sync inside its transaction: a plan against the stored rows. Reads top to bottom.
struct SyncTransaction {
    let db: Database
    private(set) var plan: ChangePlan
    let model: CompiledModel
    let layout: StoreLayout
    let pool: TextPool
    let options: SyncOptions
    let predicate: RecordPredicate?
    /// What earlier pages of the same run said; nil unless the payload is one of them.
    var run: RunMemory?
    /// The records that the plan leaves out because they are known; nil for a plan of all of them.
    var known: KnownPlaces?
    let columns: [RowColumns]
    let statements: StatementCache
    let storedLinks: StoredLinks
    let lookups: [NodeLookup]

    var trees: [TreeState]
    var records: CountingRecords
    var joins: [Int: JoinChanges] = [:]
    var pending: PendingReferences
    let arrivals: ArrivalWatch?
    /// Links of which something was read that may lead nowhere.
    var doubtfulLinks: Set<Int> = []
    /// What is known of links since others wrote.
    var soundness: LinkSoundness
    /// Rows that lost links to rows that are not stored, and which.
    var mended: [StoredRow: Set<String>] = [:]
    var report: ChangeReport
    /// Whether new rows may lack what they must have, because a hook has not seen them yet.
    var admitsIncomplete = false
    /// Nil unless the caller asks for values.
    let history: RowHistory?
    /// Row keys of a parent's rows before the sync.
    var parentRows: [RowKey] = []
    /// Unmentioned rows that a list of objects leaves out, and the links through which it does: to be deleted. The links
    /// are gone on the final state, though still stored.
    var leftOut: [StoredRow: Set<Int>] = [:]
    /// Unmentioned rows that lose links, and which.
    var unlinked: [StoredRow: Set<Int>] = [:]
    /// Rows without a key that lost a link.
    var orphans: Set<StoredRow> = []
    /// Rows deleted because the scope of the root, not a list or a rule, left them out.
    var rootDoomed: Set<StoredRow> = []
    /// Nodes without a key that met a row another node had met, and that node.
    var duplicates: [ChangePlan.RowReference: Int] = [:]
    var unresolved: [SyncResult.UnresolvedReference] = []
    /// Passes of long loops in this phase, and how many writing will take if anybody wants to know.
    var steps = 0
    var expectedSteps: Int?

    /// Applies a plan and says what changed. Throws without having to undo anything: the caller rolls back.
    static func apply(
        _ plan: ChangePlan, predicate: RecordPredicate?, options: SyncOptions, layout: StoreLayout,
        arrivals: ArrivalWatch, in db: Database, run: inout RunMemory?, knowing known: KnownPlaces? = nil
    ) throws -> SyncResult {
        let plan = try rewritten(plan, predicate, options, layout, db)
        return try plan.withTexts { pool in
            var sync = try SyncTransaction(plan, predicate, options, layout, pool, db, arrivals)
            sync.known = known
            swap(&sync.run, &run)
            defer { swap(&sync.run, &run) }
            try sync.checkPredicate()
            try sync.findParent()
            try sync.refineEntities()
            try sync.matchRows()
            try sync.decideWhichRecordsCount()
            try sync.removeDanglingLinks()
            try sync.resolveForeignKeys()
            try sync.resolveJoinTables()
            try sync.removeDanglingPairs()
            try sync.beginWriting()
            try sync.writeRows()
            try sync.writeJoinTables()
            try sync.linkLateReferences()
            try sync.settleRun()
            try sync.deleteRows()
            try sync.settleOrders()
            try sync.reportMendedRows()
            try sync.checkGuard()
            try sync.settleFingerprints()
            sync.pending.settle(db)
            try sync.dropMarks()
            try sync.notifyObservers()
            return try sync.finishedResult()
        }
    }

    static func apply(
        _ plan: ChangePlan, predicate: RecordPredicate?, options: SyncOptions, layout: StoreLayout,
        arrivals: ArrivalWatch, in db: Database
    ) throws -> SyncResult {
        var run: RunMemory?
        return try apply(
            plan, predicate: predicate, options: options, layout: layout, arrivals: arrivals, in: db, run: &run)
    }

    /// Deletes one stored row by the delete rules of the model.
    static func delete(
        _ row: Record, layout: StoreLayout, arrivals: ArrivalWatch, in db: Database
    ) throws -> SyncResult {
        let plan = ChangePlan(model: layout.model, entity: row.type.id, operations: [], payload: Data())
        return try plan.withTexts { pool in
            var sync = try SyncTransaction(plan, nil, SyncOptions(), layout, pool, db, arrivals)
            guard let key = RowKey(row.rowKey) else { return SyncResult(entity: row.entity) }
            sync.rootDoomed = [StoredRow(tree: row.type.tree, key: key)]
            try sync.deleteRows()
            sync.pending.settle(db)
            try sync.notifyObservers()
            return try sync.finishedResult()
        }
    }

    init(
        _ plan: ChangePlan, _ predicate: RecordPredicate?, _ options: SyncOptions, _ layout: StoreLayout,
        _ pool: TextPool, _ db: Database, _ arrivals: ArrivalWatch? = nil
    ) throws {
        self.db = db
        self.plan = plan
        self.model = plan.model
        self.layout = layout
        self.pool = pool
        self.options = options
        self.predicate = predicate
        columns = plan.model.trees.map { RowColumns($0, layout) }
        statements = StatementCache(db)
        storedLinks = StoredLinks(db, layout, columns, statements)
        records = CountingRecords(plan.mentions)
        lookups = plan.rows.map(NodeLookup.init)
        trees = plan.model.trees.map { TreeState($0, plan.rows[$0.id]) }
        pending = try PendingReferences(db, plan.model.trees.indices, arrivals)
        self.arrivals = arrivals
        soundness = pending.start.flatMap { arrivals?.soundness(at: $0) } ?? LinkSoundness()
        report = ChangeReport(plan, collectsKeys: options.collectsKeys)
        history = options.collectsValues ? RowHistory() : nil
    }

    /// Called in every long loop; notices a cancelled task every few thousand rows.
    @inline(__always)
    mutating func checkCancellation() throws {
        steps &+= 1
        if steps & 4095 == 0 { try report(steps) }
    }

    // The arrays of a state are reached one element at a time: a call on `trees[tree]` would copy the whole state.

    @inline(__always)
    func isPresent(_ node: Int32, _ tree: Int) -> Bool { trees[tree].presence[Int(node)] != .missing }

    /// What the payload states about a link, by what is known of rows by now.
    func statements(of link: Int) -> LinkStatements {
        LinkStatements(
            plan.links[link], of: model.links[link], in: model, records,
            first: trees[model.links[link].first.tree].rows,
            second: trees[model.links[link].second.tree].rows)
    }

    /// The value of a slot, from whichever version of the node counts.
    @inline(__always)
    func staged(_ slot: Int, of node: Int, _ tree: Int) -> Slot {
        let version = Int(trees[tree].values[node])
        if version < 0 { return .absent }
        let stride = plan.rows[tree].stride
        let mergedFrom = plan.rows[tree].versionCount
        if version < mergedFrom { return plan.rows[tree].slots[version * stride + slot] }
        return trees[tree].merged[(version - mergedFrom) * stride + slot]
    }

    /// Makes each row that several nodes met one node.
    mutating func mergeDuplicates() {
        guard !duplicates.isEmpty else { return }
        plan.merge(duplicates)
        for (node, kept) in duplicates {
            trees[node.tree].drop(node.node)
            trees[node.tree].values[kept] = plan.rows[node.tree].nodes[kept].firstVersion
        }
    }

    /// The predicate must be one on the entity, also where nothing is deleted by it.
    func checkPredicate() throws {
        guard let predicate else { return }
        _ = try PredicateSQL(predicate, on: model.entities[plan.entity], layout: layout, alias: "scope")
    }

    /// The parent must be stored.
    mutating func findParent() throws {
        guard let parent = plan.parent else { return }
        let entity = model.entities[Int(plan.rows[parent.tree].nodes[parent.node].entity)]
        let found = try storedRow(ofKey: plan.rows[parent.tree].nodes[parent.node].key, entity)
        guard let found, let row = try identity(of: found), model.entity(row.entity, isKindOf: entity.id) else {
            let key = RowKey(plan.rows[parent.tree].nodes[parent.node].key, pool)
            throw SyncError(
                .parentNotFound,
                "the parent \(entity.name) \(key.map { $0.recordKey(nil).description } ?? "") is not stored",
                entity: entity.name)
        }
        if let run { plan.follow(run.rootRecords) }
        parentRows = try run?.parentRows ?? storedLinks.targets(of: found, parent.link, from: parent.end)
    }
}
