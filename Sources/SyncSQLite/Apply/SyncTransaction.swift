import GRDB
import SyncCore

/// One sync inside its transaction: a plan against the stored rows. ``apply()`` reads top to bottom.
struct SyncTransaction {
    let session: SyncSession
    private(set) var plan: ChangePlan
    let model: CompiledModel
    let pool: TextPool
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
    /// Links of which something was read that may lead nowhere.
    var doubtfulLinks: Set<Int> = []
    /// What is known of links since others wrote.
    var soundness: LinkSoundness
    var report: ChangeReport
    /// Whether new rows may lack what they must have, because a hook has not seen them yet.
    var admitsIncomplete = false
    /// Nil unless the caller asks for values.
    let history: RowHistory?
    /// Row keys of a parent's rows before the sync.
    var parentRows: [RowKey] = []
    var leaving = LeavingRows()
    /// Nodes without a key that met a row another node had met, and that node.
    var duplicates: [ChangePlan.RowReference: Int] = [:]
    var unresolved: [SyncResult.UnresolvedReference] = []
    /// Passes of long loops in this phase, and how many writing will take if anybody wants to know.
    var steps = 0
    var expectedSteps: Int?

    /// Writes what differs, and says what changed.
    mutating func apply() throws -> SyncResult {
        try checkPredicate()
        try findParent()
        try refineEntities()
        try matchRows()
        try decideWhichRecordsCount()
        try removeDanglingLinks()
        try resolveForeignKeys()
        try resolveJoinTables()
        try removeDanglingPairs()
        try beginWriting()
        try writeRows()
        try writeJoinTables()
        try linkLateReferences()
        try settleRun()
        try deleteRows()
        try settleOrders()
        try reportMendedRows()
        try checkGuard()
        try settleFingerprints()
        pending.settle(db)
        try dropMarks()
        try notifyObservers()
        return try finishedResult()
    }

    /// Deletes one stored row, and says what went with it.
    mutating func delete(_ row: StoredRow) throws -> SyncResult {
        leaving.noteOutOfScope([row])
        try deleteRows()
        pending.settle(db)
        try notifyObservers()
        return try finishedResult()
    }

    init(_ plan: ChangePlan, _ session: SyncSession, _ pool: TextPool) throws {
        self.session = session
        self.plan = plan
        model = plan.model
        self.pool = pool
        columns = plan.model.trees.map { RowColumns($0, session.layout) }
        statements = StatementCache(session.db)
        storedLinks = StoredLinks(session.db, session.layout, columns, statements)
        records = CountingRecords(plan.mentions)
        lookups = plan.rows.map(NodeLookup.init)
        trees = plan.model.trees.map { TreeState($0, plan.rows[$0.id]) }
        pending = try PendingReferences(session.db, plan.model.trees.indices, session.arrivals)
        soundness = pending.start.flatMap { session.arrivals?.soundness(at: $0) } ?? LinkSoundness()
        report = ChangeReport(plan, collectsKeys: session.request.options.collectsKeys)
        history = session.request.options.collectsValues ? RowHistory() : nil
    }

    var db: Database { session.db }
    var layout: StoreLayout { session.layout }
    var arrivals: ArrivalWatch? { session.arrivals }
    var options: SyncOptions { session.request.options }
    var predicate: RecordPredicate? { session.request.predicate }

    /// Called at each step of a long loop: notices a cancelled task, and tells how far the sync is, every few thousand.
    @inline(__always)
    mutating func advance() throws {
        steps &+= 1
        if steps & 4095 == 0 { try tellProgress() }
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
