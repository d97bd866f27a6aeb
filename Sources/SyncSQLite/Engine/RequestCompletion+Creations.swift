import GRDB
import SyncCore
import SyncStore

// Completion of creates. The service may already have the row under another key, or the row may be deleted locally by
// now.
extension RequestCompletion {
    /// Completes a create of a row that the service already has. This request, an earlier one or another device created
    /// the row, possibly with other values.
    mutating func mergeDuplicate(_ row: RemoteRecord, _ old: DatabaseValue) throws {
        let sent = try ledger.sentFields(ofRequest: requestID)
        try ledger.deleteRequest(requestID, keepsValues: true)
        let isGone = try !table.isStored(old, in: db)
        let key = try replaceKey(row.id, old)
        self.key = key
        guard let values = try table.fieldReader.values(of: key, in: db) else {
            return try deletedMeanwhile(row, key, sent)
        }
        // The sent row is deleted locally. The row that was pulled before stays.
        if isGone {
            answer = Answer(table: table, row: row)
            return
        }
        let made = try LocalEditTimes(of: key, table, db)
        // A sent value is the base value of a field that was edited since. The base values of other fields are not
        // known.
        for field in sent {
            if let joinTable = joinTable(forField: field.name) {
                // A row that is created again keeps its base orders.
                if made.isRestored { continue }
                try ledger.setBaseOrder(
                    joinTable.isOrdered ? engine.sentKeys(field.value, joinTable, in: db) : nil, of: joinTable, key,
                    table
                )
            } else if let now = values[field.name], !now.isExactly(field.value),
                try !ledger.hasBase(field.name, key, table)
            {
                try ledger.setBase(
                    field.value, of: field.name, key, table, editTime: made.editTime(of: field.name, holding: now))
            }
        }
        // References that are left to a later request have no value at the service.
        let names = Set(sent.map(\.name))
        for column in table.columns where !names.contains(column.name) && column.destination != nil {
            if try ledger.hasBase(column.name, key, table) { continue }
            try setBase(column.name, key, to: .null, now: values[column.name])
        }
        try ledger.recheckAny(key, table)
        answer = Answer(table: table, row: row, isSame: true)
    }

    /// The number of other IDs that a row gets without an edit when it is created again. A service that accepts no new
    /// rows rejects them all.
    private static let maximumOtherIDs = 10

    /// Gives a row that is created again another ID, because the service does not accept the ID of a deleted row.
    ///
    /// The new ID is made of the old ID. Devices that create the row again therefore create only one row. Another
    /// device may have created the row with the new ID, and the service may have deleted that row too. Then the row
    /// gets a further ID, which is made of the new one.
    ///
    /// - Returns: Whether the row got another ID and is to be sent with it.
    mutating func givesOtherID(_ old: DatabaseValue) throws -> Bool {
        let creationID = CreationID(reviving: try table.json(old, in: db), of: table)
        guard engine.registration.clientAssignsIDs, case .single(let type) = table.key.type,
            let change = try ledger.change(of: old, table), change.kind == .create,
            change.creationID == creationID.text
        else { return false }
        let id: JSONValue
        switch type {
        case .string: id = .string(creationID.text(of: engine.registration.idLength))
        case .uuid: id = .string(creationID.uuid)
        default: return false
        }
        guard let new = table.key.rowKey(id), let key = try table.key.engineKey(of: new, in: db), !key.isExactly(old),
            let count = try ledger.addContention(of: old, table), count <= Self.maximumOtherIDs
        else { return false }
        let (table, replacement) = (table, KeyReplacement(engine, table, db))
        let moved = try engine.muted(in: db) {
            let moved: DatabaseValue
            if try table.isStored(key, in: db) {
                moved = try replacement.unite(old, with: key)
            } else {
                // If the row was pulled with that ID and deleted locally, it is this row, which stays.
                try ledger.deleteEntries(of: key, table)
                moved = try replacement.rekey(old, to: new)
            }
            try replacement.notifyReferencing(to: moved, formerly: old)
            return moved
        }
        try ledger.setCreationID(CreationID(reviving: table.json(moved, in: db), of: table), of: moved, table)
        try engine.insertNew(moved, table, in: db)
        self.key = moved
        return true
    }

    func isInUse(_ id: JSONValue, _ old: DatabaseValue) throws -> Bool {
        guard isCreate, let new = try table.key.engineKey(of: id, in: db), !new.isExactly(old) else { return false }
        return try table.isStored(new, in: db) && !isNew(new)
    }

    /// Returns whether the row with a key was created locally, and the service does not have it.
    private func isNew(_ key: DatabaseValue) throws -> Bool {
        try ledger.change(of: key, table)?.creationID != nil
    }

    /// Completes a request whose row was deleted in the meantime, so that the deletion is sent.
    ///
    /// The sent values become base values. With them, a merge finds the edits of other devices. If the row is inserted
    /// again before its deletion is sent, the base values also show which values were edited locally.
    mutating func deletedMeanwhile(_ row: RemoteRecord?, _ key: DatabaseValue, _ sent: [SentField]) throws {
        if try isDeletedByCascade(key) { return try pullAgain(row) }
        try record(row, key)
        try ledger.setDeletionOfSentRow(key, table)
        let values = Dictionary(sent.map { ($0.name, $0.value) }) { first, _ in first }
        for column in table.columns {
            guard let value = values[column.name] ?? (isCreate ? .null : nil) else { continue }
            try ledger.setBase(value, of: column.name, key, table)
        }
        for joinTable in table.joinTables {
            guard let value = values[joinTable.field] else { continue }
            try resolveJoinRows(joinTable, key, try engine.sentKeys(value, joinTable, in: db))
        }
    }

    /// Returns whether a cascade deleted the row in the meantime, because the service deleted another row. Then there is
    /// no deletion to send.
    func isDeletedByCascade(_ key: DatabaseValue) throws -> Bool {
        try !table.isStored(key, in: db) && ledger.change(of: key, table) == nil
    }

    /// Completes a request whose row a cascade deleted in the meantime. The service may still have the row.
    private mutating func pullAgain(_ row: RemoteRecord?) throws {
        if let row, row.record != nil {
            answer = Answer(table: table, row: row)
        } else {
            try ledger.clearCursor(of: table)
        }
    }

    /// Gives a new row the key that the service assigned. Returns the key of the row afterwards.
    func replaceKey(_ id: JSONValue?, _ old: DatabaseValue) throws -> DatabaseValue {
        guard isCreate, let id, let own = table.key.rowKey(id), let new = try table.key.engineKey(of: own, in: db),
            !new.isExactly(old)
        else { return old }
        let replacement = KeyReplacement(engine, table, db)
        if try replacement.isOfAnotherEntity(new) { return old }
        let isTaken = try isInUse(id, old)
        // The sent row is deleted locally, and a row with the assigned key was created or pulled since. Both are the
        // same row.
        if try !table.isStored(old, in: db), try isTaken || table.key.hasParts && table.isStored(new, in: db) {
            if try isTaken && wasDeleted(old, before: new) { try table.table.deleteRow(new, in: db) }
            try ledger.deleteEntries(of: old, table)
            return new
        }
        return try engine.muted(in: db) {
            if try isNew(new) { try replacement.giveLocalKey(to: new) }
            let key = try isTaken ? replacement.unite(old, with: new) : replacement.rekey(old, to: own)
            if RowKey(old)?.isLocal == false { try replacement.notifyReferencing(to: key, formerly: old) }
            return key
        }
    }

    /// Returns whether a deletion also applies to a pulled row with another key. The row was deleted before it was
    /// pulled, and the pulled row was not edited or referenced since.
    private func wasDeleted(_ old: DatabaseValue, before new: DatabaseValue) throws -> Bool {
        try ledger.wasDeleted(old, before: new, table)
            && !engine.references(to: table).contains { _, names in
                try db.finds("SELECT 1 FROM \(names.table) WHERE \(names.mine) = ?", new)
            }
    }
}
