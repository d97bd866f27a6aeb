import GRDB
package import SyncCore
package import SyncStore

// What is stored of rows, whether or not the plan has nodes of them.
extension SQLiteSession {
    package func rows(withKeys keys: [RowKey], of entity: CompiledEntity) throws -> [RowKey?] {
        let columns = columns(entity.table)
        let statement = try statements.statement(
            "SELECT \(columns.keyColumn) FROM \(columns.table)" + keyCondition(entity))
        let parts = entity.compositeKey.flatMap { _ in KeyColumns(entity, layout) }
        return try keys.map { key in
            if let parts {
                guard parts.bind(key, to: statement, at: 1) else { return nil }
            } else {
                statement.bind(key, at: 1)
            }
            defer { statement.reset() }
            return try statement.step() ? statement.key(0) : nil
        }
    }

    package func identities(of rows: [RowKey], in table: TableID) throws -> [StoredIdentity?] {
        let columns = columns(table)
        var selected = [columns.entity == nil ? "NULL" : TableLayout.entityColumn.quoted]
        var keys: [Int: (columns: KeyColumns, first: Int)] = [:]
        for id in model[table].entities where model.entities[id].keyOwner == id {
            guard let key = KeyColumns(model.entities[id], layout) else { continue }
            keys[id] = (key, selected.count)
            selected += key.expressions(of: layout[table].name)
        }
        let statement = try statements.statement(
            "SELECT \(selected.joined(separator: ", ")) FROM \(columns.table) WHERE \(columns.keyColumn) = ?")
        return try rows.map { row in
            statement.bind(row, at: 1)
            defer { statement.reset() }
            guard try statement.step() else { return nil }
            let entity = try columns.entity(statement, at: columns.entity == nil ? nil : 0)
            let place = model.entities[entity].keyOwner.flatMap { keys[$0] }
            return StoredIdentity(entity: entity, key: place.flatMap { $0.columns.key(statement, at: $0.first) })
        }
    }

    package func values(of rows: [RowKey], in table: TableID) throws -> [StoredValues?] {
        let columns = columns(table)
        let statement = try statements.statement(columns.select + " WHERE \(columns.keyColumn) = ?")
        return try rows.map { row in
            statement.bind(row, at: 1)
            defer { statement.reset() }
            guard try statement.step() else { return nil }
            let entity = model.entities[try columns.entity(statement, at: columns.entity)]
            let attributes = entity.slots.map { slot in
                let value = ColumnValue.storedValue(
                    statement.value(columns.attributes + slot), as: columns.types[slot], isKey: slot == entity.keySlot)
                return (slot: slot, value: value)
            }
            let targets = columns.targets.indices.compactMap { index in
                statement.key(columns.foreignKeys + index).map { (foreignKey: index, row: $0) }
            }
            return StoredValues(attributes: attributes, targets: targets)
        }
    }

    // MARK: Conditions

    /// How many rows are weighed at once.
    private static let rowsAtOnce = 4096

    package func rows(
        of entity: CompiledEntity, where predicate: RecordPredicate?, keeping: ([RowKey]) throws -> [RowKey]
    ) throws -> [RowKey] {
        let columns = columns(entity.table)
        let condition = try predicate.map { try PredicateSQL($0, on: entity, layout: layout, alias: "scope") }
        let conditions = [condition?.sql, PredicateSQL.familyCondition(entity, layout: layout, alias: "scope")]
        let sql = conditions.compactMap { $0 }.map { "(\($0))" }.joined(separator: " AND ")
        let statement = try RawStatement(
            db, "SELECT scope.\(columns.keyColumn) FROM \(columns.table) AS scope WHERE \(sql.isEmpty ? "1" : sql)",
            arguments: condition?.databaseValues ?? [])
        var kept: [RowKey] = []
        var read: [RowKey] = []
        while try statement.step() {
            guard let key = statement.key(0) else { continue }
            read.append(key)
            guard read.count >= Self.rowsAtOnce else { continue }
            kept += try keeping(read)
            read.removeAll(keepingCapacity: true)
        }
        return try kept + keeping(read)
    }

    package func rows(
        among rows: [RowKey], of entity: CompiledEntity, where predicate: RecordPredicate
    ) throws -> Set<RowKey> {
        let columns = columns(entity.table)
        let scope = try PredicateSQL(predicate, on: entity, layout: layout, alias: "scope")
        let conditions = [scope.sql, PredicateSQL.familyCondition(entity, layout: layout, alias: "scope")]
        let statement = try db.makeStatement(
            sql: "SELECT 1 FROM \(columns.table) AS scope WHERE scope.\(columns.keyColumn) = ?"
                + conditions.compactMap(\.self).map { " AND (\($0))" }.joined())
        return try Set(
            rows.filter { row in
                let arguments = StatementArguments([row.databaseValue] + scope.databaseValues)
                return try Row.fetchOne(statement, arguments: arguments) != nil
            })
    }

    package func check(_ predicate: RecordPredicate, on entity: CompiledEntity) throws {
        _ = try PredicateSQL(predicate, on: entity, layout: layout, alias: "scope")
    }

    // MARK: Counting

    package func count(of entity: CompiledEntity, upTo limit: Int?) throws -> Int {
        let columns = columns(entity.table)
        let condition = columns.entity == nil ? "" : " WHERE sync_entity = \(entity.name.literal)"
        let rows = "FROM \(columns.table)\(condition)"
        let sql = limit.map { "SELECT count(*) FROM (SELECT 1 \(rows) LIMIT \($0))" } ?? "SELECT count(*) \(rows)"
        return try Int.fetchOne(db, sql: sql) ?? 0
    }

    package func nextKey(of table: TableID) throws -> Int64 {
        let columns = columns(table)
        let condition = columns.hasHiddenKey ? "" : " WHERE \(columns.keyColumn) < \(LocalKey.integerBound)"
        let next = try Int64.fetchOne(db, sql: "SELECT max(\(columns.keyColumn)) + 1 FROM \(columns.table)\(condition)")
        return next ?? (columns.hasHiddenKey ? 1 : Int64.min + 1)
    }
}
