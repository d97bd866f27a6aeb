import GRDB
import SyncCore
import SyncStore

// Local edits of lists that name rows which are not stored, if the links are sent with these rows. The edits stay in
// `sync_link` until the rows arrive, and are then edits of these rows. See ``PendingReferenceEdits``.
extension SQLiteEngineStore {
    /// Records the edits of rows that have arrived. Call this method while changes are captured.
    func applyEditsOfArrivedRows(in db: Database) throws {
        let ledger = EngineLedger(db)
        guard try ledger.hasJoinEdits() else { return }
        for table in tables {
            for joinTable in table.joinTables {
                for edit in try ledger.edits(ofArrivedRowsIn: joinTable.name, table, isUnchanged: true)
                where try ledger.knownRow(edit.key, table) != nil {
                    try setLinked(edit.isAdded, edit.key, to: edit.other, joinTable, in: db)
                    try ledger.insertUpdate(of: edit.key, table)
                }
            }
            for column in table.columns where column.destination != nil {
                let name = PendingReferenceEdits.linkName(table.table.name, column.name)
                for edit in try ledger.edits(ofArrivedRowsIn: name, table, isUnchanged: false) {
                    try apply(edit, to: column, of: table, in: db)
                    try ledger.deleteEdit(edit, inList: name)
                }
            }
        }
    }

    /// Sets or removes a reference to the row whose list was edited. The reference of the arrived row is the base value.
    /// If the row references another row, that reference stays, and the edit is logged.
    private func apply(
        _ edit: EngineLedger.ListEdit, to column: TrackedTable.Column, of table: TrackedTable, in db: Database
    ) throws {
        let (ledger, own) = (EngineLedger(db), edit.other)
        guard let value = try table.fieldReader.values(of: edit.key, in: db)?[column.name],
            try isThere(own, column, in: db), try !ledger.hasBase(column.name, edit.key, table)
        else { return }
        guard edit.isAdded else {
            guard column.isOptional, value.isExactly(own) else { return }
            return try table.table.set(column.name, to: nil, ofRow: edit.key, in: db)
        }
        if value.isNull { return try table.table.set(column.name, to: own, ofRow: edit.key, orIgnore: true, in: db) }
        guard value.isExactly(own) else {
            return try ConflictLog(db).add(
                table, edit.key, field: column.name, base: .null, local: own, remote: value, .danglingReference)
        }
        // The sync that stored the row has linked it. The service may not have the link.
        guard try ledger.knownRow(edit.key, table) != nil else { return }
        try ledger.setBase(.null, of: column.name, edit.key, table)
        try ledger.insertUpdate(of: edit.key, table)
    }
}

extension EngineLedger {
    /// An edit of a list: a row was added to or removed from the list of another row. The link is sent with the row.
    struct ListEdit {
        let key: DatabaseValue
        /// The key of the row that has the list.
        let other: DatabaseValue
        let isAdded: Bool
        /// The key of the row in the entry of the edit.
        fileprivate let recordedKey: DatabaseValue
    }

    func hasJoinEdits() throws -> Bool { try db.finds("SELECT 1 FROM sync_link") }

    /// Returns the edits of rows that are stored. `isUnchanged`: whether to return only edits of rows without a pending
    /// change.
    fileprivate func edits(
        ofArrivedRowsIn name: String, _ table: TrackedTable, isUnchanged: Bool
    ) throws -> [ListEdit] {
        let isChanged = "SELECT 1 FROM sync_outbox AS c WHERE c.e = \(table.number) AND c.k = l.owner"
        let rows = try db.rows(
            "SELECT owner, other, op > 0 FROM sync_link AS l WHERE link = ?"
                + (isUnchanged ? " AND NOT EXISTS (\(isChanged))" : ""), name)
        return try rows.compactMap { row -> ListEdit? in
            let key = try table.key.k(ofReference: row[0], in: db)
            guard try table.isStored(key, in: db) else { return nil }
            if isUnchanged, !key.isExactly(row[0]) {
                try db.run(
                    "UPDATE OR REPLACE sync_link SET owner = ? WHERE link = ? AND owner = ?", key, name,
                    row[0] as DatabaseValue)
            }
            return ListEdit(key: key, other: row[1], isAdded: try row.decode(atIndex: 2), recordedKey: row[0])
        }
    }

    fileprivate func deleteEdit(_ edit: ListEdit, inList name: String) throws {
        try db.run(
            "DELETE FROM sync_link WHERE link = ? AND owner = ? AND other = ?", name, edit.recordedKey, edit.other)
    }

    /// Replaces the key of a row whose list was edited. See ``PendingReferenceEdits``.
    func rekeyListEdits(
        in column: TrackedTable.Column, of table: TrackedTable, from old: DatabaseValue, to new: DatabaseValue
    ) throws {
        try db.run(
            "UPDATE OR REPLACE sync_link SET other = ? WHERE link = ? AND other = ?", new,
            PendingReferenceEdits.linkName(table.table.name, column.name), old)
    }
}
