import GRDB
import SyncCore
import SyncStore

/// The rows made here that are told from others by attributes that people see, and not only by a key: one that the server
/// has too is the same row.
struct NaturalKeys {
    private let engine: SQLiteEngine
    private let table: EngineTable
    private let db: Database
    private let slots: [(name: String, column: String, type: AttributeType)]
    private var created: [[ExactValue]: DatabaseValue] = [:]

    /// Nil for an entity without such a key, or if no rows are new here.
    init?(_ engine: SQLiteEngine, _ table: EngineTable, _ db: Database) throws {
        let names = table.registration.naturalKey
        guard !names.isEmpty else { return nil }
        self.engine = engine
        self.table = table
        self.db = db
        slots = names.compactMap { name in
            guard let slot = table.entity.slotByName[name] else { return nil }
            return (
                name, table.table.columns[slot], engine.model.compiled[table.entity.table].attributes[slot].type
            )
        }
        let columns = slots.map { "r.\($0.column.quoted)" }.joined(separator: ", ")
        let rows = try Row.fetchAll(
            db,
            sql: """
                SELECT c.k, \(columns) FROM sync_change c
                JOIN \(table.table.name.quoted) r ON r.\(table.table.keyColumn.quoted) = c.k
                WHERE c.e = ? AND c.kind = 'create'\(table.isOwn("r"))
                """, arguments: [table.number])
        for row in rows {
            created[slots.indices.map { (row[$0 + 1] as DatabaseValue).exact }] = row[0] as DatabaseValue
        }
        if created.isEmpty { return nil }
    }

    /// Gives a new row the key of the server's row that is the same.
    ///
    /// - Parameter key: What the server's row is known by.
    /// - Returns: What the new row is known by then; nil if there is none.
    func adopt(_ row: PulledPage.Row, _ key: DatabaseValue) throws -> DatabaseValue? {
        guard let record = row.record, case .object = record, let id = table.key.rowKey(row.id) else { return nil }
        let values = try AttributeMapper(record, of: table.entity, in: engine.model).values
        let natural = slots.map { slot in
            values[slot.name].map { ColumnValue.databaseValue($0, as: slot.type) } ?? .null
        }
        guard natural.contains(where: { !$0.isNull }), let own = created[natural.map(\.exact)], !own.isExactly(key),
            try !table.isStored(key, in: db)
        else { return nil }
        return try KeyAdoption(engine, table, db).rekey(own, to: id)
    }
}
