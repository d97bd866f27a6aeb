import GRDB
import SyncCore
import SyncStore

/// Determines which fields of a row are sent.
struct DirtyFields {
    private let table: TrackedTable
    private let sendsWholeRows: Bool
    /// The names of the synced columns and join tables. See ``SyncedColumns``.
    private let syncedColumns: Set<String>
    private let engine: SQLiteEngineStore
    private let db: Database

    init(_ table: TrackedTable, _ engine: SQLiteEngineStore, _ db: Database) throws {
        (self.table, self.engine, self.db) = (table, engine, db)
        sendsWholeRows = engine.registration.sendsWholeRows
        syncedColumns = try SyncedColumns(table, db).names()
    }

    func all(of key: DatabaseValue, _ values: [String: DatabaseValue]) throws -> [OutgoingField] {
        try table.columns.map { OutgoingField($0, values) }
            + table.joinTables.map { try list($0, key) }
    }

    private func list(_ joinTable: TrackedTable.JoinTable, _ key: DatabaseValue) throws -> OutgoingField {
        OutgoingField(joinTable, others: try engine.list(joinTable, of: key, table, in: db))
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
        return table.columns.filter { names.contains($0.name) }.map { OutgoingField($0, values) }
            + (try joinTables.map { try list($0, key) })
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
}

/// One field of a row, with its current value.
struct OutgoingField {
    let name: String
    var column: TrackedTable.Column?
    var joinTable: TrackedTable.JoinTable?
    let value: DatabaseValue
    /// The keys of the linked rows, if the field is a list. Includes pending references.
    var others: [DatabaseValue] = []

    init(_ column: TrackedTable.Column, _ values: [String: DatabaseValue]) {
        (name, self.column, value) = (column.name, column, values[column.name] ?? .null)
    }

    init(_ joinTable: TrackedTable.JoinTable, others: [DatabaseValue]) {
        (name, self.joinTable, self.others) = (joinTable.field, joinTable, others)
        value = LinkedRowList.text(others)
    }

    func matches(_ field: OutgoingSchema.Field) -> Bool {
        switch field {
        case .joinRows(let link, let end): joinTable?.link == link && joinTable?.end == end
        case .attribute, .toOne, .kind: column?.field == field
        }
    }
}

/// The columns and join tables of an entity that were pulled for all rows, from the key paths that the model uses now.
///
/// Columns that are new in the model, or that have other key paths now, are not included. Their differences are not
/// edits.
struct SyncedColumns {
    private let table: TrackedTable
    private let db: Database

    init(_ table: TrackedTable, _ db: Database) { (self.table, self.db) = (table, db) }

    /// The columns as they are recorded after all rows were pulled.
    private var current: [PulledColumn] {
        let columns = table.columns.map { ($0.name, $0.field) }
        let joinTable = table.joinTables.map { ($0.name, OutgoingSchema.Field.joinRows($0.link, $0.end)) }
        return (columns + joinTable).map { name, field in
            PulledColumn(name: name, members: table.members(of: field), isPulled: true)
        }.sorted { $0.name < $1.name }
    }

    func names() throws -> Set<String> {
        let pulled = try recorded()
        return Set(current.filter(pulled.contains).map(\.name))
    }

    /// Returns the key paths from which columns were pulled before the model got other key paths for them, by column.
    func formerPaths() throws -> [String: [[String]]] {
        let open = Set(current.map(\.name)).subtracting(try names())
        let former = try recorded().filter { $0.isPulled && open.contains($0.name) }
        return Dictionary(former.map { ($0.name, $0.paths) }) { first, _ in first }
    }

    private func recorded() throws -> Set<PulledColumn> {
        Set(PulledColumn.all(in: try EngineLedger(db).pulledColumns(of: table.number)))
    }

    /// Records that all rows were pulled, so that all columns are synced.
    func insertPulled() throws {
        guard try insert(current) else { return }
        try EngineLedger(db).setCaptured(table)
    }

    /// Requests a full pull if some columns are not synced and no such pull was requested before.
    func pullNew() throws {
        let noted = try recorded()
        var next = current
        for index in next.indices where !noted.contains(next[index]) { next[index].isPulled = false }
        guard !noted.isSuperset(of: next) else { return }
        // Their former key paths show which columns were edited before this engine captures changes.
        let open = Set(next.filter { !$0.isPulled }.map(\.name))
        let former = noted.filter { $0.isPulled && open.contains($0.name) }.sorted { $0.name < $1.name }
        _ = try insert(next + former)
        try EngineLedger(db).clearCursor(of: table)
        try EngineLedger(db).recheckAll(of: table)
    }

    /// Returns whether the recorded columns changed.
    private func insert(_ columns: [PulledColumn]) throws -> Bool {
        try EngineLedger(db).setPulledColumns(PulledColumn.text(columns), of: table.number)
    }
}

/// A column or join table of an entity, as `sync_entity` records it.
struct PulledColumn: Hashable {
    var name: String
    /// The key paths that the column is read from, as JSON.
    let members: String
    /// Whether all rows were pulled with these key paths. If false, such a pull was requested.
    var isPulled: Bool

    /// The key paths that the column is read from.
    var paths: [[String]] {
        guard case .array(let paths)? = try? JSONValue(parsing: members) else { return [] }
        return paths.compactMap { path in
            guard case .array(let keys) = path, !keys.isEmpty else { return nil }
            return keys.compactMap(\.string)
        }
    }

    /// Parses a text that ``text(_:)`` returned. Returns no columns if an earlier version of the library wrote the
    /// text.
    static func all(in text: String) -> [PulledColumn] {
        guard case .array(let columns)? = try? JSONValue(parsing: text) else { return [] }
        return columns.compactMap { column in
            guard case .array(let parts) = column, parts.count == 3, case .string(let name) = parts[0],
                case .string(let members) = parts[1], case .bool(let isPulled) = parts[2]
            else { return nil }
            return PulledColumn(name: name, members: members, isPulled: isPulled)
        }
    }

    static func text(_ columns: [PulledColumn]) -> String {
        JSONValue.array(columns.map { .array([.string($0.name), .string($0.members), .bool($0.isPulled)]) }).text
    }
}

// MARK: - Values

/// Reads the column values of one row. For a foreign key with a pending reference, the value is the key of the row that
/// is not stored yet.
///
/// Code that writes the foreign key must delete the pending reference.
struct FieldReader: Sendable {
    private let names: [String]
    /// The query, up to the list of keys.
    private let select: String
    /// The condition that rows belong to the entity, after the list of keys.
    private let own: String

    /// `family` is the SQL list of the names of the entities whose rows are read, `own` the SQL condition of their rows
    /// `r`, beginning with `AND`.
    init(_ columns: [TrackedTable.Column], of table: TableLayout, family: String, own: String) {
        let key = table.keySQL
        let values = columns.map { column in
            guard let relationship = column.relationship else { return "r.\(column.sql)" }
            return """
                coalesce((SELECT target_key FROM sync_pending WHERE owner_entity IN (\(family))
                  AND owner_key = +r.\(key) AND relationship = \(relationship.literal)), r.\(column.sql))
                """
        }
        names = columns.map(\.name)
        select =
            "SELECT \((["r.\(key)"] + values).joined(separator: ", ")) FROM \(table.sql) AS r WHERE r.\(key) IN "
        self.own = own
    }

    /// Returns the values by column; nil if the row is not stored.
    func values(of key: DatabaseValue, in db: Database) throws -> [String: DatabaseValue]? {
        try db.row("\(select)(?)\(own)", key).map(values)
    }

    /// Returns the values of the rows that are stored, by key and column.
    func values(of keys: [DatabaseValue], in db: Database) throws -> [BinaryComparedValue: [String: DatabaseValue]] {
        var found: [BinaryComparedValue: [String: DatabaseValue]] = [:]
        try db.forEachRow(select, keys, end: own) { found[$0[0].exact] = values($0) }
        return found
    }

    private func values(_ row: ResultRow) -> [String: DatabaseValue] {
        Dictionary(uniqueKeysWithValues: names.enumerated().map { ($1, row[$0 + 1]) })
    }
}

extension TableLayout {
    var sql: String { name.quoted }
    var keySQL: String { keyColumn.quoted }

    /// Returns whether the table has a row with a key, of whatever entity.
    func hasRow(_ key: DatabaseValue, in db: Database) throws -> Bool {
        try db.finds("SELECT 1 FROM \(sql) WHERE \(keySQL) = ?", key)
    }

    func deleteRow(_ key: DatabaseValue, in db: Database) throws {
        try db.run("DELETE FROM \(sql) WHERE \(keySQL) = ?", key)
    }

    /// Sets a column of a row. `orIgnore`: whether to keep the row unchanged if a constraint rejects the value.
    func set(
        _ column: String, to value: DatabaseValue?, ofRow key: DatabaseValue, orIgnore: Bool = false, in db: Database
    ) throws {
        try db.run(
            "UPDATE \(orIgnore ? "OR IGNORE " : "")\(sql) SET \(column.quoted) = ? WHERE \(keySQL) = ?", value, key)
    }
}
