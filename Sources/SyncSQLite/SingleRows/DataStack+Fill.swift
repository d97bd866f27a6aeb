public import GRDB
public import SyncCore
import SyncStore

extension DataStack {
    /// Fills the attributes of one row from a JSON record, by the rules of a sync. Its relationships are not touched.
    ///
    /// - Parameter predicate: Picks the row; nil for a new one, which gets the model's defaults.
    /// - Returns: The row as stored, and what in the record did not fit.
    /// - Throws: ``SyncError`` `rowNotFound` unless exactly one row matches, `keyTaken`, `recordExpected`, and what
    ///   ``insert(_:storedValues:links:)`` throws. Nothing is written then.
    @discardableResult
    public func fill(
        _ entity: String, with record: JSONValue, where predicate: RecordPredicate? = nil
    ) throws -> (row: SyncRecord, diagnostics: [SyncResult.Diagnostic]) {
        try writing { db in try self.fill(entity, with: record, where: predicate, in: db) }
    }

    /// Fills the attributes of one row from a JSON record.
    @discardableResult
    public func fill(
        _ entity: String, with record: JSONValue, where predicate: RecordPredicate? = nil
    ) async throws -> (row: SyncRecord, diagnostics: [SyncResult.Diagnostic]) {
        try await writing { db in try self.fill(entity, with: record, where: predicate, in: db) }
    }

    /// Fills the attributes of one row from a JSON record, inside ``write(_:)-(_)``.
    @discardableResult
    public func fill(
        _ entity: String, with record: JSONValue, where predicate: RecordPredicate? = nil, in db: Database
    ) throws -> (row: SyncRecord, diagnostics: [SyncResult.Diagnostic]) {
        guard let predicate else {
            let mapped = try AttributeMapper(record, of: model.compiled.entity(named: entity), in: model)
            return (try insert(entity, storedValues: mapped.values, in: db), mapped.diagnostics)
        }
        let rows = try fetch(entity, where: predicate, limit: 2, in: db)
        guard rows.count == 1, let row = rows.first else {
            throw SyncError(
                .rowNotFound, "\(rows.isEmpty ? "no row matches" : "several rows match"); one is to be filled",
                entity: entity)
        }
        let mapped = try AttributeMapper(record, of: row.type, in: model)
        let key = try write(mapped.values, to: row, row.type, db)
        guard let filled = try self.row(row.type, key, db) else {
            throw SyncError(.rowNotFound, "the row is gone", entity: entity)
        }
        return (filled, mapped.diagnostics)
    }

    private func row(_ entity: CompiledEntity, _ rowKey: DatabaseValue, _ db: Database) throws -> SyncRecord? {
        let select = RecordSQL(entity, layout)
        return try select.fetch(
            db, "SELECT \(select.columns) FROM \(select.from) WHERE \(select.rowKey) = ?", [rowKey]
        ).first
    }

    /// Writes the values that differ; the row's key afterwards.
    private func write(
        _ values: [String: StoredValue], to row: SyncRecord, _ entity: CompiledEntity, _ db: Database
    ) throws -> DatabaseValue {
        let tree = model.compiled[entity.table]
        let table = layout[entity.table]
        let keyNames = Set(entity.keySlots.map { tree.attributes[$0].name })
        var names: [String] = []
        var arguments: [DatabaseValue] = []
        var key = row.rowKey
        let given = values.filter { keyNames.contains($0.key) && !$0.value.isNull && row[$0.key] != $0.value }
        if !given.isEmpty {
            let record = JSONValue.object(given.map { .init($0.key, $0.value.jsonForm) })
            let current = RowKey(row.key, model.compiled.keyType(of: entity.id))
            key = try RowKeyChange(self, row, db).rekey(to: model.compiled.key(of: entity, in: record, else: current))
        }
        for (name, value) in values.sorted(by: { $0.key < $1.key })
        where row[name] != value && !keyNames.contains(name) {
            guard let slot = entity.slotByName[name] else { continue }
            let stored = ColumnValue.databaseValue(value, as: tree.attributes[slot].type)
            names.append("\(table.columns[slot].quoted) = ?")
            arguments.append(stored)
        }
        guard !names.isEmpty else { return key }
        try db.execute(
            sql: "UPDATE \(table.name.quoted) SET \(names.joined(separator: ", ")) WHERE \(table.keyColumn.quoted) = ?",
            arguments: StatementArguments(arguments + [key]))
        return key
    }
}
