package import GRDB
public import SyncCore

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
    ) throws -> (row: Record, diagnostics: [Diagnostic]) {
        try writing { db in try self.fill(entity, with: record, where: predicate, in: db) }
    }

    package func fill(
        _ entity: String, with record: JSONValue, where predicate: RecordPredicate?, in db: Database
    ) throws -> (row: Record, diagnostics: [Diagnostic]) {
        let compiled = try model.compiled.entity(named: entity)
        let mapped = try AttributeMapper(record, of: compiled, in: model.compiled)
        guard let predicate else {
            return (try insert(entity, storedValues: mapped.values, in: db), mapped.diagnostics)
        }
        let rows = try fetch(entity, where: predicate, limit: 2, in: db)
        guard rows.count == 1, let row = rows.first else {
            throw SyncError(
                .rowNotFound, "\(rows.isEmpty ? "no row matches" : "several rows match"); one is to be filled",
                entity: entity)
        }
        let key = try write(mapped.values, to: row, compiled, db)
        guard let filled = try self.row(compiled, key, db) else {
            throw SyncError(.rowNotFound, "the row is gone", entity: entity)
        }
        return (filled, mapped.diagnostics)
    }

    private func rows(of entity: CompiledEntity, named key: String, _ value: DatabaseValue, _ db: Database) throws
        -> Int
    {
        let select = RecordSQL(entity, layout)
        let sql = "SELECT count(*) FROM \(select.from) WHERE \(select.column(key)) = ?"
        return try Int.fetchOne(db, sql: sql, arguments: [value]) ?? 0
    }

    private func row(_ entity: CompiledEntity, _ rowKey: DatabaseValue, _ db: Database) throws -> Record? {
        let select = RecordSQL(entity, layout)
        return try select.fetch(
            db, "SELECT \(select.columns) FROM \(select.from) WHERE \(select.rowKey) = ?", [rowKey]
        ).first
    }

    /// Writes the values that differ; the row's key afterwards.
    private func write(
        _ values: [String: StoredValue], to row: Record, _ entity: CompiledEntity, _ db: Database
    ) throws -> DatabaseValue {
        let tree = model.compiled.trees[entity.tree]
        let table = layout.tables[entity.tree]
        let keyName = entity.keySlot.map { tree.attributes[$0].name }
        var names: [String] = []
        var arguments: [DatabaseValue] = []
        var key = row.rowKey
        for (name, value) in values.sorted(by: { $0.key < $1.key }) where row[name] != value {
            guard let slot = entity.slotByName[name], name != keyName || !value.isNull else { continue }
            let stored = ColumnValue.databaseValue(value, as: tree.attributes[slot].type)
            if name == keyName {
                guard try rows(of: entity, named: name, stored, db) == 0 else {
                    throw SyncError(.keyTaken, "another row has this key", entity: entity.name)
                }
                if tree.keySlot == slot { key = stored }
            }
            names.append("\(name.quoted) = ?")
            arguments.append(stored)
        }
        guard !names.isEmpty else { return key }
        try db.execute(
            sql: "UPDATE \(table.name.quoted) SET \(names.joined(separator: ", ")) WHERE \(table.keyColumn.quoted) = ?",
            arguments: StatementArguments(arguments + [row.rowKey]))
        return key
    }
}
