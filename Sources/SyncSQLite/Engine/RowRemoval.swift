import GRDB
import SyncCore
import SyncStore

extension DataStack {
    /// Deletes the rows of an entity and its subentities. Other rows of its table stay, unless a foreign key action
    /// deletes them.
    func deleteRows(of entity: CompiledEntity, in db: Database) throws {
        let isPart = entity.family.count < layout.model[entity.table].entities.count
        let own = isPart ? " WHERE \(SchemaSQL.entityCondition(entity.family, layout))" : ""
        try db.execute(sql: "DELETE FROM \(layout[entity.table].sql)\(own)")
    }

    /// Deletes the pending references of rows that are no longer stored.
    func deletePendingReferencesOfMissingRows(in db: Database) throws {
        let dangling = DanglingLinks(layout: layout, db: db)
        for table in Set(layout.model.entities.map(\.table)) {
            try dangling.deletePendingReferences(ofMissingRowsIn: table)
        }
    }
}

extension SQLiteEngineStore {
    /// Removes the rows that the engine syncs, and their entries. It sends no deletions to the service. Rows and entries
    /// of entities that only other engines sync stay, except rows that cascades delete. The next pull restores these
    /// rows.
    func removeRows(in db: Database) throws {
        try CaptureSuppression.writing.set(in: db)
        let ledger = EngineLedger(db)
        // The entities that only other engines sync.
        let others = try ledger.entities().compactMap { number, name -> TrackedTable? in
            if self.tables.contains(where: { $0.number == number }) { return nil }
            return TrackedTable.ofOtherEngine(
                name, number: number, supportsCompositeIDs: true, sendsCascades: false, stack)
        }
        let all = tables + others
        for other in others {
            // Record earlier deletions first, to distinguish them from the rows that the cascades below delete.
            try ledger.repairSurrogateKeys(of: other, among: all)
            try other.auditMissing(in: db)
            for table in tables { try PreservedReferences(self, other, to: table, db).preserve() }
        }
        let counts = try others.map { try $0.count(in: db) }
        try db.execute(sql: "PRAGMA defer_foreign_keys = ON")
        for table in tables { try ledger.deleteJoinEdits(of: table) }
        for table in tables {
            try ledger.deleteEntries(of: table.number)
            try stack.deleteRows(of: table.entity, in: db)
        }
        for (other, count) in zip(others, counts) {
            try ledger.repairSurrogateKeys(of: other, among: all)
            try other.deleteMissing(in: db)
            // Rows that cascades deleted are pulled again.
            if try other.count(in: db) < count { try ledger.clearCursor(of: other) }
        }
        try stack.deletePendingReferencesOfMissingRows(in: db)
        try CaptureSuppression.clearAll(in: db)
    }
}

// Rows that belong to a deleted row and that the service changed after the deletion. The service still has such rows.
// The cascade deletes these rows locally. Therefore all rows of their entities must be pulled again.
extension SQLiteEngineStore {
    /// Returns the tables that have such rows, and the tables to which the deletion of these rows cascades. Call this
    /// method before the rows are deleted locally. `owned` has the tables to which their deletion cascades.
    func tablesChangedLater(
        below rows: ArraySlice<PageMerge.PulledRow>, _ owned: [(table: TrackedTable, names: LinkTable)], in db: Database
    ) throws -> [TrackedTable] {
        var found: Set<Int> = []
        func add(_ table: TrackedTable) {
            if found.insert(table.number).inserted { for (child, _) in self.owned(by: table) { add(child) } }
        }
        for (child, names) in owned {
            let isLater = try rows.contains { row, standing in
                try row.time.map { try EngineLedger(db).isChanged(child, names, of: standing.key, after: $0) } ?? false
            }
            if isLater { add(child) }
        }
        return tables.filter { found.contains($0.number) }
    }

    /// Returns the tables to which a deletion cascades, because their rows reference the deleted row.
    func owned(by table: TrackedTable) -> [(table: TrackedTable, names: LinkTable)] {
        references(to: table).filter { link, _ in
            link.storage == .foreignKey && link.second.relationship?.deleteRule == .cascade
        }.flatMap { link, names in tables.filter { $0.entity.table == link.first.table }.map { ($0, names) } }
    }
}
