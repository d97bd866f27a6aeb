import GRDB
import SyncCore
import SyncStore

/// Matches pulled rows with new local rows. Two rows with the same natural key are the same row.
struct NaturalKeyMatcher {
    private let engine: SQLiteEngineStore
    private let table: TrackedTable
    private let db: Database
    private typealias Slot = (name: String, column: String, type: AttributeType)
    private let slots: [Slot]
    private let rows: NewRows

    /// Returns nil if the entity has no natural key, or if the index is empty.
    init?(_ engine: SQLiteEngineStore, _ table: TrackedTable, _ db: Database) throws {
        guard !table.registration.naturalKey.isEmpty else { return nil }
        self.engine = engine
        self.table = table
        self.db = db
        slots = Self.slots(engine, table)
        rows = engine.memory.newRows(of: table.number)
        if rows.byNaturalKey == nil { try Self.read(into: rows, engine, table, nil, db) }
        if rows.byNaturalKey?.isEmpty != false { return nil }
    }

    private static func slots(_ engine: SQLiteEngineStore, _ table: TrackedTable) -> [Slot] {
        table.registration.naturalKey.compactMap { name in
            guard let slot = table.entity.slotByName[name] else { return nil }
            return (
                name, table.table.columns[slot], engine.model.compiled[table.entity.table].attributes[slot].type
            )
        }
    }

    /// `key`: nil to read all new rows.
    static func read(
        into rows: NewRows, _ engine: SQLiteEngineStore, _ table: TrackedTable, _ key: DatabaseValue?, _ db: Database
    ) throws {
        let slots = slots(engine, table)
        let found = try EngineLedger(db).newRows(of: table, slots.map(\.column), key)
        var natural = rows.byNaturalKey ?? [:]
        rows.byNaturalKey = nil
        for row in found {
            natural[slots.indices.map { (row[$0 + 1] as DatabaseValue).exact }, default: []].append(row[0])
        }
        rows.byNaturalKey = natural
    }

    /// Returns whether a row is still new and still has these values of its natural key.
    private func isNew(_ key: DatabaseValue, _ values: [DatabaseValue]) throws -> Bool {
        try EngineLedger(db).isNew(
            key, table, having: zip(slots, values).map { (column: $0.column, value: $1) })
    }

    /// Finds the new row with the natural key of a pulled record, and gives it the key of the record. `key` is the key
    /// of the pulled row in the engine's tables. Returns the key of the new row afterwards. Nil if no new row with
    /// another key matches, or if a row with the key of the record is stored.
    func matchNewRow(_ row: RemoteRecord, _ key: DatabaseValue) throws -> DatabaseValue? {
        guard let record = row.record, case .object = record, let id = table.key.rowKey(row.id) else { return nil }
        let values = try AttributeMapper(record, of: table.entity, in: engine.model).values
        let natural = slots.map { slot in
            values[slot.name].map { ColumnValue.databaseValue($0, as: slot.type) } ?? .null
        }
        guard natural.contains(where: { !$0.isNull }), let found = rows.byNaturalKey?[natural.map(\.exact)],
            let own = try found.last(where: { try isNew($0, natural) }), !own.isExactly(key),
            try !table.isStored(key, in: db)
        else { return nil }
        return try KeyReplacement(engine, table, db).rekey(own, to: id)
    }
}

/// The new rows of a table, by creation ID and by natural key. A run reads them once, unless the cache is discarded.
///
/// Rows that are no longer new stay in the index. ``CreationIDIndex`` and ``NaturalKeyMatcher`` therefore check each
/// row that they find.
final class NewRows {
    /// The keys of the rows by creation ID, or by the remote ID that is made of it; nil until they are read.
    var byCreationID: [String: DatabaseValue]?
    /// The keys of the rows by the values of the natural key; nil until they are read.
    var byNaturalKey: [[BinaryComparedValue]: [DatabaseValue]]?
}

extension SQLiteEngineStore {
    /// Adds a row to the index: a known row that is to be created again, or a new row whose key changed.
    func insertNew(_ key: DatabaseValue, _ table: TrackedTable, in db: Database) throws {
        let rows = memory.newRows(of: table.number)
        if rows.byCreationID != nil { try CreationIDIndex.read(into: rows, self, table, key, db) }
        if rows.byNaturalKey != nil { try NaturalKeyMatcher.read(into: rows, self, table, key, db) }
    }
}
