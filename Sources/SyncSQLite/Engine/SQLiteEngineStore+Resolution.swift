import GRDB
package import SyncCore
import SyncStore

// Decisions of users: they resolve open conflicts, discard local changes, and restore rows that the service deleted.
extension SQLiteEngineStore {
    package func resolve(_ entity: String, key: JSONValue, field: String?, keeping side: SyncConflict.Side) async throws
    {
        let table = try table(entity)
        let own = try rowKey(key, table)
        let name = try field.map { try stored($0, table) }
        try await transaction { [self] db, _ in
            let key = try table.key.engineKey(of: own, in: db) ?? .null
            let log = ConflictLog(db)
            let conflicts = try log.open(of: key, table, name)
            guard !conflicts.isEmpty else { throw try nothingOpen(own, key, name, table, in: db) }
            for conflict in conflicts { try resolve(conflict, keeping: side, key, table, in: db) }
            try EngineLedger(db).endConflict(key, table)
        }
    }

    private func resolve(
        _ conflict: ConflictLog.OpenConflict, keeping side: SyncConflict.Side, _ key: DatabaseValue,
        _ table: TrackedTable, in db: Database
    ) throws {
        let log = ConflictLog(db)
        if let here = try log.value(of: conflict.field, table, key) {
            try log.show(here, in: conflict.id)
            if side == .local { try unlinkOthers(from: here, conflict.field, key, table, in: db) }
        }
        if side == .remote { try setToRemote(conflict.remote, conflict.field, key, table, in: db) }
        try log.close(conflict.id, side == .local ? .local : .remote, .resolved)
    }

    package func discardChange(of entity: String, key: JSONValue) async throws {
        let table = try table(entity)
        let own = try rowKey(key, table)
        try await transaction { [self] db, _ in
            let ledger = EngineLedger(db)
            guard let key = try table.key.engineKey(of: own, in: db), let change = try ledger.change(of: key, table)
            else {
                throw SyncError(.rowNotFound, "\(rowName(own, table)) has no pending change", entity: entity)
            }
            switch change.kind {
            case .create: _ = try stack.delete(entity, id: own.recordKey(table.key.type).json, in: db)
            case .update: try revert(key, table, in: db)
            case .delete:
                guard try ledger.isKnown(key, table) else {
                    throw SyncError(
                        .rowNotFound,
                        "\(rowName(own, table)) was deleted before the service confirmed that it has the row",
                        entity: entity
                    )
                }
                for row in try CascadeLinks(self, db).deletedRows(with: key, of: table) {
                    try undoDeletion(of: row, in: db)
                }
            }
        }
    }

    /// Restores a locally deleted row that the service has, as a local edit. The row gets its base values. Does nothing
    /// if the row has no pending deletion.
    func undoDeletion(of row: TrackedRow, in db: Database) throws {
        let ledger = EngineLedger(db)
        guard let table = table(of: row),
            try ledger.change(of: row.key, table)?.kind == .delete,
            let id = try table.key.recordKey(row.key, in: db)
        else { return }
        let own = RowKey(id, table.key.type)
        // The pull stores no values of locally deleted rows. The next pull gets them.
        if try ledger.knownRow(row.key, table)?.trust != .current { try ledger.clearCursor(of: table) }
        try insert(own, ledger.bases(of: row.key, table).mapValues(\.value), table, in: db)
        // An update without values resolves the pending references to the row.
        _ = try stack.update(table.entity.name, id: id.json, with: [:], in: db)
        if let key = try table.key.engineKey(of: own, in: db) { try revert(key, table, in: db) }
    }

    /// Resets the edited fields of a row to their base values, as a local edit. The change of the row is deleted,
    /// unless a request of it has no outcome yet, or a field cannot have its base value.
    private func revert(_ key: DatabaseValue, _ table: TrackedTable, in db: Database) throws {
        let ledger = EngineLedger(db)
        for conflict in try ConflictLog(db).open(of: key, table, nil) {
            try resolve(conflict, keeping: .remote, key, table, in: db)
        }
        guard let edited = try table.fieldReader.values(of: key, in: db) else { return }
        var row = try RowMerge(key, table, edited, nil, nil, syncedColumns: [], clock: 0, self, db)
        try row.revert()
        guard try ledger.keysWithRequests(among: [key], table).isEmpty,
            let values = try table.fieldReader.values(of: key, in: db)
        else {
            return
        }
        _ = try DirtyFields(table, self, db).dirty(of: key, values, ledger.bases(of: key, table))
        try ledger.finishMerge(key, table)
    }

    private func rowName(_ key: RowKey, _ table: TrackedTable) -> String {
        "\(table.entity.name) \(key.recordKey(table.key.type).description)"
    }

    private func rowKey(_ key: JSONValue, _ table: TrackedTable) throws -> RowKey {
        guard let own = table.key.rowKey(key) else {
            let (name, form) = (table.entity.name, stack.model.compiled.keyDescription(of: table.entity))
            throw SyncError(.rowNotFound, "\(key) is not a valid key of \(name), \(form)", entity: name)
        }
        return own
    }

    private func nothingOpen(
        _ own: RowKey, _ key: DatabaseValue, _ field: String?, _ table: TrackedTable, in db: Database
    ) throws -> SyncError {
        let winner = try ConflictLog(db).lastWinner(of: key, table, field)
        let row = rowName(own, table)
        let what = winner.map { "is already resolved: the \($0 == "remote" ? "remote" : "local") value is kept" }
        return SyncError(
            .rowNotFound, what.map { "the conflict of \(row) \($0)" } ?? "no conflict of \(row)",
            entity: table.entity.name)
    }

    private func stored(_ field: String, _ table: TrackedTable) throws -> String {
        let columns = table.columns
        if let column = columns.first(where: { $0.displayName == field }) ?? columns.first(where: { $0.name == field })
        {
            return column.name
        }
        if let joinTable = table.joinTables.first(where: { $0.isOrdered && $0.relationship == field }) {
            return joinTable.field
        }
        throw SyncError(
            .invalidOption, "\(table.entity.name) has no synced field '\(field)'", entity: table.entity.name)
    }

    /// Clears the references of other rows to the row that a one-to-one reference of this row keeps. Triggers capture the
    /// changes as local edits.
    private func unlinkOthers(
        from target: DatabaseValue, _ field: String, _ key: DatabaseValue, _ table: TrackedTable, in db: Database
    ) throws {
        guard let column = table.columns.first(where: { $0.name == field }), case .toOne(let id) = column.field,
            model.compiled[id].isOneToOne, column.isOptional
        else { return }
        let name = column.sql
        try db.run(
            "UPDATE \(table.sql) SET \(name) = NULL WHERE \(name) = ? AND \(table.keySQL) <> ?", target, key)
    }

    /// Writes the service's value of a field and deletes the base value, so that the field is not sent.
    private func setToRemote(
        _ value: DatabaseValue, _ field: String, _ key: DatabaseValue, _ table: TrackedTable, in db: Database
    ) throws {
        if let joinTable = table.joinTables.first(where: { $0.field == field }) {
            let list = LinkedRowList(joinTable)
            let stored = try list.others(of: key, in: db)
            let merged = ListOrderMerge.merged(leader: try LinkedRowList.keys(value), follower: stored, of: stored)
            try muted(in: db) { try list.order(merged, of: key, in: db) }
        } else {
            let column = table.columns.first { $0.name == field }
            guard try column.map({ try isThere(value, $0, in: db) }) ?? true else {
                throw SyncError(
                    .rowNotFound, "the row that the service references by '\(field)' is not stored",
                    entity: table.entity.name)
            }
            try muted(in: db) {
                try table.table.set(field, to: value, ofRow: key, in: db)
                if let column { try setPendingReference(to: nil, in: column, of: key, table, db) }
            }
        }
        try EngineLedger(db).setBase(nil, of: field, key, table)
    }

    package func restore(_ entity: String, key: JSONValue) async throws {
        let table = try table(entity)
        let own = try rowKey(key, table)
        try await transaction { [self] db, _ in
            let lines = try ConflictLog(db).lastDeletion(table.key.engineKey(of: own, in: db), table)
            guard !lines.isEmpty else {
                throw SyncError(
                    .rowNotFound, "the conflict log has no row with this key that the service deleted", entity: entity)
            }
            let values = Dictionary(lines.map { ($0.field, $0.value) }) { first, _ in first }
            let free = try freeKey(own, table, in: db)
            try insert(free, values, table, in: db)
            for joinTable in table.joinTables {
                try restore(
                    LinkedRowList.keys(values[joinTable.field] ?? .null), joinTable,
                    of: table.key.engineKey(of: free, in: db),
                    in: db)
            }
            if registration.clientAssignsIDs, free == own, let key = try table.key.engineKey(of: free, in: db) {
                let id = try table.json(key, in: db)
                // The row has the ID that the service deleted, so its create is marked as a restoration.
                try EngineLedger(db).setCreationID(CreationID(reviving: id, of: table), of: key, table)
            }
            try ConflictLog(db).setRestored(lines.map(\.id))
        }
    }

    /// Inserts a row. A reference to a row that is not stored becomes null.
    private func insert(
        _ key: RowKey, _ values: [String: DatabaseValue], _ table: TrackedTable, in db: Database
    ) throws {
        let parts = try table.key.values(of: key, in: db)
        let rest = table.columns.filter { column in
            values[column.name] != nil && !parts.contains { $0.column == column.name }
        }
        let names = (parts.map(\.column) + rest.map(\.name)).map(\.quoted).joined(separator: ", ")
        var arguments = parts.map(\.value)
        for column in rest {
            let value = try currentReference(values[column.name] ?? .null, in: column, db)
            arguments.append(try isThere(value, column, in: db) ? value : .null)
        }
        let marks = arguments.map { _ in "?" }.joined(separator: ", ")
        try db.run("INSERT INTO \(table.sql) (\(names)) VALUES (\(marks))", list: arguments)
    }

    /// Restores a list, without rows that are no longer stored.
    private func restore(
        _ others: [DatabaseValue], _ joinTable: TrackedTable.JoinTable, of key: DatabaseValue?, in db: Database
    ) throws {
        let destination = stack.layout[joinTable.destination]
        let others = try others.map { try currentElement($0, of: joinTable, db) }
        for other in others {
            try db.run(
                """
                INSERT OR IGNORE INTO \(joinTable.table.table) (\(joinTable.table.mine), \(joinTable.table.other))
                SELECT ?, \(destination.keySQL) FROM \(destination.sql)
                WHERE \(destination.keySQL) = ?
                """, key, other)
        }
        try LinkedRowList(joinTable).order(others, of: key ?? .null, in: db)
    }

    /// Returns the key for a restored row: its former key, or a temporary key if another row has the former key by now.
    /// Throws ``SyncError`` `rowNotFound` if another row has the former key, and the key is composite.
    private func freeKey(_ own: RowKey, _ table: TrackedTable, in db: Database) throws -> RowKey {
        guard let key = try table.key.engineKey(of: own, in: db), try table.isStored(key, in: db) else { return own }
        guard !table.key.hasParts, let free = try RowKey(stack.makeTemporaryKey(for: table.entity, in: db)) else {
            throw SyncError(.rowNotFound, "another row has this key now", entity: table.entity.name)
        }
        return free
    }

    /// Returns whether a column can have a value. A foreign key cannot if the referenced row is not stored.
    func isThere(_ value: DatabaseValue, _ column: TrackedTable.Column, in db: Database) throws -> Bool {
        guard let destination = column.destination, !value.isNull else { return true }
        return try stack.layout[destination].hasRow(value, in: db)
    }
}
