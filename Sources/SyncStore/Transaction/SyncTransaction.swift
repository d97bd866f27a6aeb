import SyncCore

/// One sync inside its transaction: a plan against the stored rows. ``apply()`` reads top to bottom.
struct SyncTransaction {
    let store: any StoreSession
    let request: SyncRequest
    private(set) var plan: ChangePlan
    let pool: TextPool
    let tables: SyncTables
    let steps: SyncSteps
    let identities: RowIdentities
    /// Nil unless the caller asks for values.
    let history: RowHistory?
    let links: WorkingLinks
    /// What earlier pages of the same run said; nil unless the payload is one of them.
    var run: RunMemory?
    let spilledMarks: SpilledMarks

    var records: CountingRecords
    /// References of the payload to rows that are not there.
    private(set) var awaited = AwaitedReferences()
    var report: ChangeReport
    var leaving = LeavingRows()
    /// Nodes without a key that met a row another node had met, and that node.
    var duplicates: [ChangePlan.RowReference: NodeID] = [:]
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
        try settleRun()
        try deleteRows()
        try settleOrders()
        return try finish()
    }

    /// Deletes stored rows, and says what went with them.
    mutating func delete(_ rows: Set<StoredRow>) throws -> SyncResult {
        leaving.noteOutOfScope(rows)
        try deleteRows()
        return try finish()
    }

    init(_ plan: ChangePlan, _ session: SyncSession, _ pool: TextPool) throws {
        store = session.store
        request = session.request
        self.plan = plan
        self.pool = pool
        tables = SyncTables(plan, pool)
        steps = SyncSteps(session.request.options.progress)
        identities = RowIdentities(store, plan.model)
        history = session.request.options.collectsValues ? RowHistory(store, plan.model, identities) : nil
        links = WorkingLinks(store, plan.model)
        spilledMarks = SpilledMarks(store)
        records = CountingRecords(plan.mentions)
        report = ChangeReport(plan, collectsKeys: session.request.options.collectsKeys)
        try store.begin(plan, tables, steps)
    }

    var model: CompiledModel { plan.model }
    var options: SyncOptions { request.options }
    var predicate: RecordPredicate? { request.predicate }
    var rootEntity: CompiledEntity { model.entities[plan.entity] }

    /// What the payload states about a link, by what is known of rows by now.
    func statements(of id: LinkID) -> LinkStatements {
        let link = model[id]
        return LinkStatements(
            plan[id], of: link, in: model, records, first: tables[link.first.table].statedRows,
            second: tables[link.second.table].statedRows)
    }

    mutating func noteAwaited(_ assertions: [LinkBatch.Assertion], _ link: LinkID) { awaited.add(assertions, link) }

    /// Makes each row that several nodes met one node.
    mutating func mergeNodes() {
        plan = plan.merging(duplicates)
        tables.replaceBatches(plan)
        for (duplicate, kept) in duplicates {
            tables[duplicate.table].drop(duplicate.node)
            tables[duplicate.table].takeFirstValues(of: kept)
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
    fileprivate var statedRows: LinkStatements.Rows { .init(presence: met.presence, entities: met.entities) }
}
