import GRDB
import SyncCore
import SyncStore

/// New rows whose keys are the IDs of other rows at the service, because SQLite or the app chose the keys.
///
/// A reference of the service to such an ID means the other row. So the new row gets a temporary key before the
/// reference would become a link to it. If the client assigns IDs, or if the key is composite, an equal key means the same
/// row.
struct KeyCollisions {
    private let engine: SQLiteEngineStore
    private let db: Database
    private let tables: [TrackedTable]
    private var ledger: EngineLedger { EngineLedger(db) }

    init(_ engine: SQLiteEngineStore, _ db: Database) {
        (self.engine, self.db) = (engine, db)
        let all = engine.registration.clientAssignsIDs ? [] : engine.tables + engine.otherTables
        tables = all.filter { !$0.key.hasParts }
    }

    /// Gives temporary keys to the new rows with the IDs of nested records, and of rows that records reference. Call this
    /// method before the edits of rows are removed, because the new keys also apply to these edits.
    ///
    /// A row to be created again, also as another entity, keeps its key if it is only referenced: the reference means that
    /// row.
    func removeKeys(namedIn plan: PayloadGraph) throws {
        let named = tables.filter { table in plan[table.entity.table].nodes.contains { !$0.isRoot } }
        guard !named.isEmpty else { return }
        let numbers = try ledger.entitiesWithChanges()
        for table in named where numbers.contains(table.number) {
            let (given, referenced) = try keys(of: table, namedIn: plan)
            let rows = try ledger.newRows(
                among: given.union(referenced).map(\.value), ofEntities: [table.number], table.entity.table,
                engine.model.compiled)
            for row in rows where given.contains(row.key.exact) || !row.isKnownByKey {
                try KeyReplacement(engine, table, db).giveLocalKey(to: row.key)
            }
        }
    }

    /// Returns the keys of the nested records of a page, and of rows that its records only reference.
    private func keys(
        of table: TrackedTable, namedIn plan: PayloadGraph
    ) throws -> (given: Set<BinaryComparedValue>, referenced: Set<BinaryComparedValue>) {
        let (model, family) = (engine.model.compiled, Set(table.entity.family))
        var (given, referenced): ([RowKey], [RowKey]) = ([], [])
        plan.withTexts { texts in
            for node in plan[table.entity.table].nodes where !node.isRoot {
                let entity = Int(node.entity)
                guard family.contains(entity) || model.entity(table.entity.id, isKindOf: entity),
                    let key = RowKey(node.key, texts)
                else { continue }
                if node.isGiven { given.append(key) } else { referenced.append(key) }
            }
        }
        func tracked(_ keys: [RowKey]) throws -> Set<BinaryComparedValue> {
            Set(try keys.compactMap { try table.key.k(of: $0, in: db)?.exact })
        }
        return (try tracked(given), try tracked(referenced))
    }

    /// Gives temporary keys to the new rows with the keys of the service's pending references.
    func removeAwaitedKeys() throws {
        guard !tables.isEmpty, try ledger.hasPendingReferences() else { return }
        let layout = engine.stack.layout
        let numbers = Dictionary(
            (engine.tables + engine.otherTables).flatMap { table in table.entity.family.map { ($0, table.number) } }
        ) { first, _ in first }
        for table in tables where !table.key.isSurrogate {
            let awaited = try ledger.pendingReferences(toNewRowsOf: table, layout).filter { reference in
                try numbers[reference.ownerEntity].map { try ledger.isOfService(reference, $0, layout) } ?? false
            }
            guard !awaited.isEmpty else { continue }
            try engine.muted(in: db) {
                for key in Set(awaited.map(\.target)) {
                    try KeyReplacement(engine, table, db).giveLocalKey(to: key.databaseValue)
                }
            }
        }
    }
}

extension EngineLedger {
    /// Returns the numbers of the entities that have changes.
    func entitiesWithChanges() throws -> Set<Int> {
        Set(
            try db.all(
                Int.self,
                "SELECT e FROM sync_entity AS n WHERE EXISTS (SELECT 1 FROM sync_outbox AS c WHERE c.e = n.e)"))
    }

    /// Returns the new rows of a table with these keys. `numbers` has the numbers of their entities. `isKnownByKey`:
    /// whether the service had the row with this key.
    func newRows(
        among keys: [DatabaseValue], ofEntities numbers: [Int], _ table: TableID, _ model: CompiledModel
    ) throws -> [(key: DatabaseValue, isKnownByKey: Bool)] {
        guard !keys.isEmpty, !numbers.isEmpty else { return [] }
        let list = numbers.map { "\($0)" }.joined(separator: ", ")
        let sought = Set(keys.map(\.exact))
        let isKnown = Self.isKnownByKey("sync_outbox", table, model)
        var found: [(key: DatabaseValue, isKnownByKey: Bool)] = []
        try db.forEachEntry(
            "SELECT k, \(isKnown) FROM sync_outbox WHERE e IN (\(list)) AND kind = 'create' AND ", keys
        ) { row in
            guard sought.contains((row[0] as DatabaseValue).exact) else { return }
            found.append((row[0], try row.decode(Bool.self, atIndex: 1)))
        }
        return found
    }

    /// Returns the SQL condition that the service had a new row with its key: the row is to be created again, also as
    /// another entity of its table. `change` is the SQL name of its change.
    private static func isKnownByKey(_ change: String, _ table: TableID, _ model: CompiledModel) -> String {
        """
        (\(LocalEditTimes.isRestored("e = \(change).e AND k = \(change).k")) OR EXISTS (
          SELECT 1 FROM sync_known AS o WHERE o.k = \(change).k AND o.e IN (\(model.engineNumbers(of: table)))))
        """
    }

    func hasPendingReferences() throws -> Bool { try db.finds("SELECT 1 FROM sync_pending") }

    /// Returns the pending references with the keys of new rows, except rows to be created again.
    func pendingReferences(toNewRowsOf table: TrackedTable, _ layout: StoreLayout) throws -> [PendingReference] {
        let model = layout.model
        let names = layout.entityNames(of: [table.entity.table])
        return try db.rows(
            """
            SELECT p.owner_entity, p.owner_key, p.relationship, p.target_entity, p.target_key
            FROM sync_outbox AS c CROSS JOIN sync_pending AS p ON p.target_entity IN (\(names)) AND p.target_key = c.k
            WHERE c.e = ? AND c.kind = 'create' AND NOT \(Self.isKnownByKey("c", table.entity.table, model))
            """, table.number
        ).compactMap { row -> PendingReference? in
            guard let owner = model.entityID(try row.decode(String.self, atIndex: 0)), let ownerKey = RowKey(row[1]),
                let target = model.entityID(try row.decode(String.self, atIndex: 3)), let key = RowKey(row[4])
            else { return nil }
            return PendingReference(
                owner: StoredRow(table: model.entities[owner].table, key: ownerKey), ownerEntity: owner,
                relationship: try row.decode(String.self, atIndex: 2), targetEntity: target, target: key)
        }
    }

    /// Returns whether a pending reference comes from the service: its owner is known, and the reference is no local
    /// edit. `number` is the number of the owner's entity.
    func isOfService(_ reference: PendingReference, _ number: Int, _ layout: StoreLayout) throws -> Bool {
        let (model, key) = (layout.model, reference.owner.key.databaseValue)
        guard let relationship = model.entities[reference.ownerEntity].relationship(named: reference.relationship),
            try db.finds("SELECT 1 FROM sync_known WHERE e = ? AND k = ?", number, key)
        else { return false }
        switch layout[relationship.link] {
        case .foreignKey(_, let column, _):
            return try relationship.end == .second
                || !db.finds("SELECT 1 FROM sync_base WHERE e = ? AND k = ? AND field = ?", number, key, column)
        case .joinTable(let name, _, _, _, _):
            return try !db.finds(
                "SELECT 1 FROM sync_link WHERE link = ? AND owner = ? AND other = ?", name, key,
                reference.target.databaseValue)
        }
    }
}
