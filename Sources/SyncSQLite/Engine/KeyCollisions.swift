import GRDB
import SyncCore
import SyncStore

/// New rows whose keys are the IDs of other rows at the service, because SQLite or the app chose the keys.
///
/// A reference of the service to such an ID means the other row. So the new row gets a temporary key before the
/// reference would become a link to it. If the client assigns IDs, or if the key is composite, an equal key means the
/// same row.
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

    /// Gives temporary keys to the new rows with the IDs of nested records, and of rows that records reference. Call
    /// this method before the edits of rows are removed, because the new keys also apply to these edits.
    ///
    /// A row to be created again, also as another entity, keeps its key if it is only referenced: the reference means
    /// that row.
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
    func removePendingKeys() throws {
        guard !tables.isEmpty, try db.hasPendingReferences() else { return }
        let layout = engine.stack.layout
        let numbers = Dictionary(
            (engine.tables + engine.otherTables).flatMap { table in table.entity.family.map { ($0, table.number) } }
        ) { first, _ in first }
        for table in tables where !table.key.isSurrogate {
            let pending = try ledger.pendingReferences(toNewRowsOf: table, layout).filter { reference in
                try numbers[reference.ownerEntity].map { try ledger.isOfService(reference, $0, layout) } ?? false
            }
            guard !pending.isEmpty else { continue }
            try engine.muted(in: db) {
                for key in Set(pending.map(\.target)) {
                    try KeyReplacement(engine, table, db).giveLocalKey(to: key.databaseValue)
                }
            }
        }
    }
}
