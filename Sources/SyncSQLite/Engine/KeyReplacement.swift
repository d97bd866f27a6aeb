import GRDB
import SyncCore
import SyncStore

/// Replaces the key of a row, also in references to the row and in the engine's tables.
///
/// The new key is the key that the row has, or will have, at the service. If the old key belongs to another row there,
/// the new key is a temporary key.
struct KeyReplacement {
    private let engine: SQLiteEngineStore
    private let table: TrackedTable
    private let db: Database
    private var ledger: EngineLedger { EngineLedger(db) }

    init(_ engine: SQLiteEngineStore, _ table: TrackedTable, _ db: Database) {
        (self.engine, self.table, self.db) = (engine, table, db)
    }

    /// Adds changes to the outbox for the known rows that reference a row whose remote ID was replaced, also in lists.
    /// At the service, these rows still reference the former ID, which may belong to another row.
    func notifyReferencing(to new: DatabaseValue, formerly old: DatabaseValue) throws {
        for other in engine.tables {
            for column in other.columns where column.destination == table.entity.table {
                try ledger.insertUpdates(ofRowsReferencing: new, formerly: old, in: column, of: other)
            }
        }
        try notifyLists(containing: new)
    }

    /// Adds changes to the outbox for the known rows that reference a row that is created again, also in lists. Other
    /// devices removed these references when they deleted the row.
    func notifyReferencing(restored key: DatabaseValue) throws {
        for other in engine.tables {
            for column in other.columns where column.destination == table.entity.table && column.isOptional {
                try ledger.insertUpdates(ofRowsReferencing: key, formerly: .null, in: column, of: other)
            }
        }
        try notifyLists(containing: key)
    }

    private func notifyLists(containing key: DatabaseValue) throws {
        for other in engine.tables {
            for joinTable in other.joinTables where joinTable.destination == table.entity.table {
                try ledger.insertUpdates(ofListsContaining: key, joinTable, of: other)
            }
        }
    }

    /// Returns whether a row of another entity in the same table has the key. A service may assign the same ID to rows
    /// of different entities.
    func isOfAnotherEntity(_ k: DatabaseValue) throws -> Bool {
        guard table.isPart, try !table.isStored(k, in: db) else { return false }
        return try table.table.hasRow(k, in: db)
    }

    /// Gives rows the keys that the service assigned, if rows of other entities had these keys before and no longer
    /// have them.
    func assignFreedKeys() throws {
        guard table.isPart, !table.key.isSurrogate else { return }
        for (key, id) in try ledger.rowsWithUnusedID(of: table) {
            guard let id = table.key.rowKey(id), let new = try table.key.engineKey(of: id, in: db),
                try !isOfAnotherEntity(new), try !table.isStored(new, in: db)
            else { continue }
            try engine.muted(in: db) { _ = try rekey(key, to: id) }
        }
    }

    /// Gives a row a temporary key, because another row has its key at the service.
    func giveLocalKey(to k: DatabaseValue) throws {
        guard let key = try RowKey(engine.stack.makeTemporaryKey(for: table.entity, in: db)) else { return }
        try engine.insertNew(rekey(k, to: key), table, in: db)
        // In sent lists, the former key means the other row.
        try ledger.deleteFormerKey(k, of: table)
    }

    /// Replaces the key of a row. Returns the key of the row in the engine's tables afterwards.
    @discardableResult
    func rekey(_ old: DatabaseValue, to key: RowKey) throws -> DatabaseValue {
        if let row = try stored(old) {
            try engine.stack.checkIsFree(key, of: row.type, in: db)
            try KeyUpdate(engine.stack.layout, row.rowKey, row.type, db).rekey(to: key)
            try ledger.updateName(of: old, table)
        }
        // The engine's tables may have entries of a row that was deleted locally in the meantime.
        guard let new = try table.key.engineKey(of: key, in: db), !new.isExactly(old) else { return old }
        try ledger.rekey(old, to: new, table, among: engine.tables)
        try addArrival(of: key)
        return new
    }

    /// Records the arrival of a row if pending references refer to its new key.
    private func addArrival(of key: RowKey) throws {
        let names = engine.stack.layout.entityNames(of: [table.entity.table])
        let isPending = try db.finds(
            "SELECT 1 FROM sync_pending WHERE target_entity IN (\(names)) AND target_key = ?", key.databaseValue)
        if isPending { engine.stack.watch.recordArrival(in: db) }
    }

    private func stored(_ k: DatabaseValue) throws -> SyncRow? {
        guard try table.isStored(k, in: db), let key = try table.key.recordKey(k, in: db) else { return nil }
        return try engine.stack.fetch(table.entity, key: RowKey(key, table.key.type), in: db)
    }

    /// Unites a row that was created locally with a pulled row that is the same row at the service. The pulled row is
    /// deleted. The local row gets the key of the pulled row and the references to the pulled row. Edited columns of
    /// the pulled row are logged. Returns the key of the row in the engine's tables afterwards.
    func unite(_ old: DatabaseValue, with new: DatabaseValue) throws -> DatabaseValue {
        guard !old.isExactly(new), let key = try table.key.recordKey(new, in: db) else { return old }
        try logEdits(of: new)
        for (_, names) in engine.references(to: table) {
            try db.run("UPDATE OR IGNORE \(names.table) SET \(names.mine) = ? WHERE \(names.mine) = ?", old, new)
        }
        try AppReferences(to: table.table, engine.stack.layout, in: db).replace(new, by: old, orIgnore: true)
        for joinTable in engine.tables.flatMap(\.joinTables) where joinTable.destination == table.entity.table {
            try ledger.rekeyJoinEdits(of: joinTable, .other, from: new, to: old)
        }
        // Record the pulled row as deleted, so that the trigger does not log it.
        try ledger.setDeletion(of: new, table)
        try table.table.deleteRow(new, in: db)
        try ledger.deleteEntries(of: new, table)
        // A deleted row with a surrogate key has its entries under its name.
        if let name = try table.key.engineKey(of: RowKey(key, table.key.type), in: db) {
            try ledger.deleteEntries(of: name, table)
        }
        return try rekey(old, to: RowKey(key, table.key.type))
    }

    private func logEdits(of key: DatabaseValue) throws {
        guard let values = try table.fieldReader.values(of: key, in: db) else { return }
        for (field, base) in try ledger.bases(of: key, table).sorted(by: { $0.key < $1.key }) {
            guard let value = values[field], !value.isExactly(base.value) else { continue }
            try ConflictLog(db).add(
                table, key, field: field, base: base.value, local: value, remote: base.value,
                ConflictOutcome(winner: .local, reason: .duplicateRow))
        }
    }
}

/// Generates the SQL of a trigger that gives entries of the engine another key. Entries that have that key already give
/// way.
///
/// The statements need no conflict clause. In a trigger, the clause of the firing statement, such as `INSERT OR IGNORE`,
/// overrides the clauses `OR REPLACE` and `OR IGNORE` of the statements.
struct EntryMove {
    let table: String
    let column: String
    /// The SQL condition of the entries, apart from their key.
    let scope: String
    /// The other columns of a unique index with the key, apart from columns that ``scope`` determines. Nil if there is no
    /// such index.
    let identity: [String]?

    /// Returns the move of a row's entries in a table that identifies rows by entity and key.
    static func ofRow(in table: String, _ entity: Int) -> EntryMove {
        EntryMove(table: table, column: "k", scope: "\"e\" = \(entity)", identity: EngineSchema.identity(of: table))
    }

    /// Returns the statements. `old` and `new` are the SQL of the key of the entries and of their new key, `condition`
    /// the SQL condition for the move.
    func statements(from old: String, to new: String, if condition: String = "true") -> [String] {
        let (name, key) = (table.quoted, column.quoted)
        let move = "UPDATE \(name) SET \(key) = \(new) WHERE \(scope) AND \(key) = \(old) AND \(condition)"
        guard let identity else { return [move] }
        let same = identity.map { " AND o.\($0.quoted) = \(name).\($0.quoted)" }.joined()
        return [
            """
            DELETE FROM \(name) WHERE \(scope) AND \(key) = \(new) AND \(condition) AND EXISTS (
              SELECT 1 FROM \(name) AS o WHERE \(scope) AND o.\(key) = \(old) AND o.\(key) IS NOT \(name).\(key)\(same))
            """, move,
        ]
    }
}

extension CompiledModel {
    /// Returns the SQL query for the numbers of the registered entities whose rows are in a table.
    func engineNumbers(of table: TableID) -> String {
        let names = entities.filter { $0.table == table }.map(\.name.literal).joined(separator: ", ")
        return "SELECT e FROM sync_entity WHERE name IN (\(names))"
    }
}

// The engine replaces the temporary key of a new row when the service assigns an ID. Apps that kept the temporary key
// still find the row by it.
extension DataStack {
    /// Returns the condition that a row has this key now, or had it as its temporary key; nil if no row can have the
    /// key.
    func condition(_ key: RowKey, of entity: CompiledEntity, in db: Database) throws -> (String, StatementArguments)? {
        condition(try layout.laterKey(of: key, entity, in: db) ?? key, of: entity)
    }

    /// Returns the greatest integer that is recorded as a former temporary key in the entity's table; nil if there is
    /// none. It must not be used again, because it still identifies a row.
    func lastFormerKey(of entity: CompiledEntity, in db: Database) throws -> Int64? {
        guard let names = try EngineSchema.names(in: db) else { return nil }
        return try db.first(
            Int64.self,
            """
            SELECT max((
              SELECT old FROM \(names.formerKeys) AS a WHERE a.e = n.e AND old < \(TemporaryKey.integerBound) ORDER BY old DESC LIMIT 1))
            FROM (\(model.compiled.engineNumbers(of: entity.table))) AS n
            """)
    }
}

extension StoreLayout {
    /// Returns the current key of a row by its former temporary key. Returns nil if no row had that key, or if a stored
    /// row has it.
    func laterKey(of key: RowKey, _ entity: CompiledEntity, in db: Database) throws -> RowKey? {
        guard key.isLocal, entity.keySlot != nil, let names = try EngineSchema.names(in: db) else { return nil }
        let own = key.databaseValue
        if try self[entity.table].hasRow(own, in: db) { return nil }
        let numbers = model.engineNumbers(of: entity.table)
        return try EngineLedger(db).laterKey(than: own, ofEntities: numbers, from: names.formerKeys).flatMap {
            RowKey($0)
        }
    }

    /// Returns the current key of a row by its former temporary key, in the form of a condition.
    func laterKey(of key: PredicateConstant, _ entity: CompiledEntity, in db: Database) throws -> PredicateConstant? {
        let former: RowKey
        switch key {
        case .integer(let integer): former = .integer(integer)
        case .text(let text): former = .text(text)
        default: return nil
        }
        switch try laterKey(of: former, entity, in: db) {
        case .integer(let integer)?: return .integer(integer)
        case .text(let text)?: return .text(text)
        case .real?, nil: return nil
        }
    }
}

// MARK: - Collisions

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
    func removeKeys(namedIn graph: PayloadGraph) throws {
        let named = tables.filter { table in graph[table.entity.table].nodes.contains { !$0.isRoot } }
        guard !named.isEmpty else { return }
        let numbers = try ledger.entitiesWithChanges()
        for table in named where numbers.contains(table.number) {
            let (given, referenced) = try keys(of: table, namedIn: graph)
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
        of table: TrackedTable, namedIn graph: PayloadGraph
    ) throws -> (given: Set<BinaryComparedValue>, referenced: Set<BinaryComparedValue>) {
        let (model, family) = (engine.model.compiled, Set(table.entity.family))
        var (given, referenced): ([RowKey], [RowKey]) = ([], [])
        graph.withTexts { texts in
            for node in graph[table.entity.table].nodes where !node.isRoot {
                let entity = Int(node.entity)
                guard family.contains(entity) || model.entity(table.entity.id, isKindOf: entity),
                    let key = RowKey(node.key, texts)
                else { continue }
                if node.isGiven { given.append(key) } else { referenced.append(key) }
            }
        }
        func tracked(_ keys: [RowKey]) throws -> Set<BinaryComparedValue> {
            Set(try keys.compactMap { try table.key.engineKey(of: $0, in: db)?.exact })
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
