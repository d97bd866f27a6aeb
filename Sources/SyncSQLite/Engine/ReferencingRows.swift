import GRDB
import SyncCore
import SyncStore

// Rows that are sent with a reference to a given row, in a to-one relationship or in a list.
extension SQLiteEngineStore {
    /// Unblocks the changes of rows that reference a row of a table, because that row is created again or known to be
    /// gone. The service may have rejected the changes because it did not have the row.
    func unblockRows(referencing key: DatabaseValue, of table: TrackedTable, in db: Database) throws {
        for other in tables {
            let rows = other.columns.filter { $0.destination == table.entity.table }.map { column in
                "SELECT \(other.keySQL) FROM \(other.sql) WHERE \(column.sql) = :key"
            }
            let owners = other.joinTables.filter { $0.destination == table.entity.table }.map { joinTable in
                "SELECT \(joinTable.table.mine) FROM \(joinTable.table.table) WHERE \(joinTable.table.other) = :key"
            }
            guard !rows.isEmpty || !owners.isEmpty else { continue }
            try EngineLedger(db).unblock(.rows(other, keys: (rows + owners).joined(separator: " UNION ALL "), key))
        }
    }

    /// Deletes the pending references to a row that the service deleted, and unblocks the changes of the rows with these
    /// references. Sets optional foreign keys to NULL. If a foreign key was edited locally, logs the edit, and restores
    /// the base value if that row is stored.
    func deletePendingReferences(to key: DatabaseValue, of table: TrackedTable, in db: Database) throws {
        let isPending = "target_entity IN (\(table.family)) AND target_key = ?"
        let owners = try db.rows(
            "SELECT owner_entity, owner_key, relationship FROM sync_pending WHERE \(isPending)", key)
        guard !owners.isEmpty else { return }
        try db.run("DELETE FROM sync_pending WHERE \(isPending)", key)
        for row in owners {
            guard let kind = try model.compiled.entityID(row.decode(atIndex: 0)) else { continue }
            let (owner, relationship): (DatabaseValue, String) = (row[1], try row.decode(atIndex: 2))
            for other in tables where other.entity.family.contains(kind) {
                for column in other.columns where column.relationship == relationship && column.isOptional {
                    try EngineLedger(db).clearUnedited(column, of: owner, other)
                    guard try EngineLedger(db).hasBase(column.name, owner, other) else { continue }
                    let base = try EngineLedger(db).base(of: column.name, owner, other) ?? .null
                    try ConflictLog(db).add(
                        other, owner, field: column.name, base: base, local: key, remote: base, .danglingReference)
                    guard !base.isNull, try isThere(base, column, in: db) else { continue }
                    try other.table.set(column.name, to: base, ofRow: owner, orIgnore: true, in: db)
                }
                try EngineLedger(db).unblock(.row(other, owner))
            }
        }
    }
}

// Foreign keys to rows that are not stored.
extension SQLiteEngineStore {
    /// Replaces the pending reference of a foreign key. `value` is the key or the name of a row that is not stored; nil
    /// to delete the pending reference.
    func setPendingReference(
        to value: DatabaseValue?, in column: TrackedTable.Column, of key: DatabaseValue, _ table: TrackedTable,
        _ db: Database
    ) throws {
        guard case .toOne(let link) = column.field, let relationship = column.relationship else { return }
        try db.run(
            "DELETE FROM sync_pending WHERE owner_entity IN (\(table.family)) AND owner_key = ? AND relationship = ?",
            key, relationship)
        let target = model.compiled.entities[model.compiled[link].second.entity]
        guard let value, let targetKey = try pendingKey(value, of: target, in: db) else { return }
        try db.run(
            """
            INSERT INTO sync_pending (owner_entity, owner_key, relationship, position, target_entity, target_key)
            VALUES (?, ?, ?, -1, ?, ?)
            """, table.kind(of: key, model.compiled, in: db).name, key, relationship, target.name,
            targetKey)
    }

    /// Returns the key of a row as `sync_pending` has it; nil if the row has no key. `key` is the key or the name of the
    /// row in the engine's tables.
    func pendingKey(_ key: DatabaseValue, of target: CompiledEntity, in db: Database) throws -> DatabaseValue? {
        guard let own = TrackedKey(target, stack.layout), let id = try own.recordKey(key, in: db) else { return nil }
        return RowKey(id, own.type).databaseValue
    }
}

// Foreign keys to rows with surrogate keys. Base values and pending references name the rows that are not stored.
extension SQLiteEngineStore {
    /// Returns a value of a foreign key with the current key of the referenced row. The result is the name of the row
    /// if it has a surrogate key and is not stored. Returns other values unchanged.
    func currentReference(
        _ value: DatabaseValue, in column: TrackedTable.Column, _ db: Database
    ) throws -> DatabaseValue {
        try surrogateKey(of: column.destination)?.engineKey(ofReference: value, in: db) ?? value
    }

    /// Returns the current key of a row in a list. The result is the name of the row if it has a surrogate key and is
    /// not stored.
    func currentElement(
        _ key: DatabaseValue, of joinTable: TrackedTable.JoinTable, _ db: Database
    ) throws -> DatabaseValue {
        try surrogateKey(of: joinTable.destination)?.engineKey(ofReference: key, in: db) ?? key
    }

    /// Returns whether a value of a foreign key is the name of a row. Only `sync_base` can store such a value, and not
    /// the column itself.
    func isName(_ value: DatabaseValue, in column: TrackedTable.Column) -> Bool {
        guard case .string = value.storage else { return false }
        return surrogateKey(of: column.destination) != nil
    }

    /// Returns the key of the rows of a table if they have surrogate keys.
    private func surrogateKey(of destination: TableID?) -> TrackedKey? {
        guard let destination else { return nil }
        return (tables + otherTables).first { $0.entity.table == destination && $0.key.isSurrogate }?.key
    }
}

// Rows whose references were not maintained, because a connection with foreign keys off, such as the `sqlite3` shell,
// deleted rows. The resulting changes are local edits.
extension SQLiteEngineStore {
    /// Applies the delete rules. Resets edited foreign keys that reference a row that does not exist.
    func removeDanglingReferences(in db: Database) throws {
        while try deleteOrphans(in: db) {}
        try EngineLedger(db).deleteUnsent()
        for table in tables {
            for column in table.columns where column.isOptional { try unlink(column, of: table, in: db) }
        }
    }

    /// Applies the delete rules once, to rows that reference a deleted row. Only pending deletions and deletions of
    /// unsent rows can have left such rows. Returns whether rows were changed. Their deletion may have left other
    /// orphans.
    private func deleteOrphans(in db: Database) throws -> Bool {
        let numbers = try EngineLedger(db).entitiesWithDeletions()
        guard !numbers.isEmpty else { return false }
        var count = 0
        for table in tables where numbers.contains(table.number) {
            // A deleted row with a surrogate key is recorded by its name, which foreign keys do not contain.
            for (link, names) in references(to: table) {
                let isDeleted =
                    table.key.isSurrogate ? "" : "\(EngineLedger.isDeletedKey(names.mine, of: table)) AND "
                let orphans = "\(isDeleted)\(names.mine) NOT IN (SELECT \(table.keySQL) FROM \(table.sql))"
                let goes = link.storage != .foreignKey || link.cascadesToFirst
                try db.run(
                    goes
                        ? "DELETE FROM \(names.table) WHERE \(orphans)"
                        : "UPDATE OR IGNORE \(names.table) SET \(names.mine) = NULL WHERE \(orphans)")
                count += db.changesCount
            }
        }
        return count > 0
    }

    /// Resets dangling foreign keys to their base value, or to NULL if the row with that key is not stored. Logs the
    /// dangling value.
    private func unlink(_ column: TrackedTable.Column, of table: TrackedTable, in db: Database) throws {
        guard let destination = column.destination.map({ stack.layout[$0] }) else { return }
        for (key, value) in try EngineLedger(db).danglingReferences(of: table, column, destination) {
            let base = try EngineLedger(db).storedBase(of: column, key, table, destination)
            try ConflictLog(db).add(
                table, key, field: column.name, base: base ?? .null, local: value, remote: .null, .danglingReference)
            try table.table.set(column.name, to: base, ofRow: key, in: db)
        }
    }
}

/// Preserves links from rows that stay to rows that are removed and that the next pull inserts again.
///
/// The links become pending references, which the next pull resolves, so that unlinking is not an edit. If a link was
/// edited, the edit is lost and logged.
struct PreservedReferences {
    private let engine: SQLiteEngineStore
    private let owners: TrackedTable
    private let targets: TrackedTable
    private let db: Database
    private var ledger: EngineLedger { EngineLedger(db) }

    /// - Parameters:
    ///   - owners: The table of the rows that stay.
    ///   - targets: The table of the rows that are removed.
    init(_ engine: SQLiteEngineStore, _ owners: TrackedTable, to targets: TrackedTable, _ db: Database) {
        (self.engine, self.owners, self.targets, self.db) = (engine, owners, targets, db)
    }

    func preserve() throws {
        for column in owners.columns where column.destination == targets.entity.table {
            guard case .toOne(let id) = column.field, let relationship = column.relationship else { continue }
            try revert(column)
            try insertPending(
                for: engine.model.compiled[id].second.entity, relationship, target: "r.\(column.sql)", position: "0")
        }
        for joinTable in owners.joinTables where joinTable.destination == targets.entity.table {
            let link = engine.model.compiled[joinTable.link]
            guard let relationship = link.side(joinTable.end).relationship?.name else { continue }
            try revert(joinTable)
            try insertPending(
                for: link.side(joinTable.end.other).entity, relationship, target: "p.\(joinTable.table.other)",
                position: joinTable.table.position.map { "ifnull(p.\($0), 0)" } ?? "0",
                from:
                    "JOIN \(joinTable.table.table) AS p ON p.\(joinTable.table.mine) = r.\(owners.keySQL)"
            )
        }
    }

    // MARK: Edits

    /// Resets edited foreign keys to removed rows to their base values, and logs the edits. The value becomes NULL if
    /// the row with that key is not stored.
    private func revert(_ column: TrackedTable.Column) throws {
        for row in try ledger.editedReferences(of: owners, column, to: targets) {
            let base = row[1] as DatabaseValue
            try log(row[0], column.name, base: base, local: row[2], remote: base)
            try ledger.setBase(nil, of: column.name, row[0], owners)
            let former = try row.decode(Bool.self, atIndex: 3) || !column.isOptional ? base : .null
            if engine.isName(former, in: column) { continue }
            try owners.table.set(column.name, to: former, ofRow: row[0], orIgnore: true, in: db)
        }
    }

    private func revert(_ joinTable: TrackedTable.JoinTable) throws {
        let edits = try ledger.editedLinks(of: owners, joinTable, to: targets)
        for (owner, edits) in Dictionary(grouping: edits, by: \.owner.exact) {
            let local = try LinkedRowList(joinTable).others(of: owner.value, in: db)
            for edit in edits {
                try engine.setLinked(!edit.isAdded, owner.value, to: edit.other, joinTable, in: db)
                try ledger.deleteJoinEdit(edit.other, of: owner.value, joinTable)
            }
            let remote = LinkedRowList.text(try LinkedRowList(joinTable).others(of: owner.value, in: db))
            try log(owner.value, joinTable.field, base: .null, local: LinkedRowList.text(local), remote: remote)
        }
    }

    private func log(
        _ key: DatabaseValue, _ field: String, base: DatabaseValue, local: DatabaseValue, remote: DatabaseValue
    ) throws {
        try ConflictLog(db).add(owners, key, field: field, base: base, local: local, remote: remote, .danglingReference)
    }

    // MARK: Pending references

    /// Inserts pending references for links to known rows, as if the service had sent the links.
    private func insertPending(
        for destination: Int, _ relationship: String, target: String, position: String, from join: String = ""
    ) throws {
        let entity = owners.entity.name.literal
        let kind = owners.table.hasEntityColumn ? "ifnull(r.\(TableLayout.entityColumn.quoted), \(entity))" : entity
        let rows = try ledger.knownTargets(
            of: owners, in: targets, kind: kind, target: target, position: position, join: join)
        guard !rows.isEmpty else { return }
        for row in rows {
            guard let id = try targets.key.recordKey(row[2], in: db) else { continue }
            try db.run(
                """
                INSERT INTO sync_pending (owner_entity, owner_key, relationship, position, target_entity, target_key)
                VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING
                """, try row.decode(String.self, atIndex: 1), row[0] as DatabaseValue, relationship,
                try row.decode(Int64.self, atIndex: 3), engine.model.compiled.entities[destination].name,
                RowKey(id, targets.key.type).databaseValue)
            try ledger.recheck(row[0], owners)
        }
        try ledger.clearCursor(of: owners)
    }
}
