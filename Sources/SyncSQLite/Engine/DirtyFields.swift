import GRDB
import SyncCore
import SyncStore

/// Determines which fields of a row are sent.
struct DirtyFields {
    private let table: TrackedTable
    private let sendsWholeRows: Bool
    /// The names of the synced columns and join tables. See ``SyncedColumns``.
    private let syncedColumns: Set<String>
    private let db: Database

    init(_ table: TrackedTable, sendsWholeRows: Bool, _ db: Database) throws {
        (self.table, self.sendsWholeRows, self.db) = (table, sendsWholeRows, db)
        syncedColumns = try SyncedColumns(table, db).names()
    }

    func all(of key: DatabaseValue, _ values: [String: DatabaseValue]) throws -> [OutgoingField] {
        try table.columns.map { field($0, values) } + table.joinTables.map { try field($0, key) }
    }

    /// Returns the fields to send: the edited fields, and the fields that are sent with them. Deletes the base value of
    /// a field that equals it. A field that is new in the model, or that has another JSON key than before, must be
    /// pulled before it is sent. Returns nil if fields differ and all of them must be pulled first.
    func dirty(
        of key: DatabaseValue, _ values: [String: DatabaseValue], _ bases: [String: EngineLedger.Base]
    ) throws -> [OutgoingField]? {
        let ledger = EngineLedger(db)
        func isInStep(_ column: String) -> Bool { syncedColumns.isEmpty || syncedColumns.contains(column) }
        var editedNames: Set<String> = []
        let lists = Set(table.joinTables.map(\.field))
        for (name, base) in bases where !lists.contains(name) {
            if let value = values[name], !value.isExactly(base.value) {
                editedNames.insert(name)
            } else {
                try ledger.setBase(nil, of: name, key, table)
            }
        }
        let editedJoinRows = try table.joinTables.filter { try isEdited($0, key) }
        let known = editedNames.filter(isInStep)
        let groups = table.groups.filter { !known.isDisjoint(with: $0) }
        let (names, joinTables) = (
            known.union(groups.joined().filter(isInStep)), editedJoinRows.filter { isInStep($0.name) }
        )
        guard !names.isEmpty || !joinTables.isEmpty else {
            return editedNames.isEmpty && editedJoinRows.isEmpty ? [] : nil
        }
        if table.registration.mergesWholeRow || sendsWholeRows {
            return try all(of: key, values).filter { field in
                names.contains(field.name) || syncedColumns.contains(field.joinTable?.name ?? field.name)
            }
        }
        return table.columns.filter { names.contains($0.name) }.map { field($0, values) }
            + (try joinTables.map { try field($0, key) })
    }

    /// Returns whether rows were added to, removed from or moved in a list. If not, deletes the base order of the list.
    private func isEdited(_ joinTable: TrackedTable.JoinTable, _ key: DatabaseValue) throws -> Bool {
        let ledger = EngineLedger(db)
        if let agreed = try ledger.baseOrder(of: joinTable, key, table),
            ListOrderMerge.isMoved(try LinkedRowList(joinTable).others(of: key, in: db), from: agreed)
        {
            return true
        }
        let isEdited = try ledger.hasJoinEdits(of: key, joinTable)
        if !isEdited { try ledger.setBaseOrder(nil, of: joinTable, key, table) }
        return isEdited
    }

    private func field(_ column: TrackedTable.Column, _ values: [String: DatabaseValue]) -> OutgoingField {
        OutgoingField(name: column.name, column: column, value: values[column.name] ?? .null)
    }

    private func field(_ joinTable: TrackedTable.JoinTable, _ key: DatabaseValue) throws -> OutgoingField {
        let others = try LinkedRowList(joinTable).others(of: key, in: db)
        return OutgoingField(
            name: joinTable.field, joinTable: joinTable, value: LinkedRowList.text(others), others: others)
    }
}

/// One field of a row, with its current value.
struct OutgoingField {
    let name: String
    var column: TrackedTable.Column?
    var joinTable: TrackedTable.JoinTable?
    let value: DatabaseValue
    /// The keys of the linked rows, if the field is a list.
    var others: [DatabaseValue] = []

    func matches(_ field: OutgoingSchema.Field) -> Bool {
        switch field {
        case .joinRows(let link, let end): joinTable?.link == link && joinTable?.end == end
        case .attribute, .toOne, .kind: column?.field == field
        }
    }
}
