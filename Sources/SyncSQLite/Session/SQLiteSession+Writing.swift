import GRDB
package import SyncCore
package import SyncStore

// Inserts, updates and deletes, with one prepared statement each. Foreign keys are deferred, so the order of the tables
// does not matter.
extension SQLiteSession {
    package func insert(_ nodes: [NodeID], _ table: SyncTable) throws {
        let rowSQL = rowSQL(table.id)
        let inserted = rowSQL.inserted
        let insertion = try BulkInsertion(
            into: layout[table.id].name, names: inserted.map { rowSQL.names[$0] }, parameters: inserted.map { $0 + 1 },
            width: rowSQL.names.count, rowCount: nodes.count, in: db)
        let values = NodeBinding(table, rowSQL.columns, tables)
        var counter = ProgressCounter(steps)
        try insertion.insert(nodes.count) { row, statement, offset in
            try counter.advance()
            values.bindRow(of: nodes[row], to: statement, offset)
        } failed: { row, error in
            DatabaseErrorMapper.naming(values.name(of: nodes[row]), in: error)
        }
        try counter.finish()
    }

    /// Inserts a row that is not a node of a payload.
    ///
    /// - Parameter values: The values by attribute slot of the table.
    /// - Returns: The primary key of the row, or its surrogate key.
    func insert(_ values: [(slot: Int, value: DatabaseValue)], of entity: CompiledEntity) throws -> DatabaseValue {
        let table = layout[entity.table]
        var columns = values.map { table.columns[$0.slot] }
        var bound = values.map { ColumnValue.bound($0.value) }
        if table.hasEntityColumn {
            columns.append(TableLayout.entityColumn)
            bound.append(("?", entity.name.databaseValue))
        }
        let names = columns.map(\.quoted).joined(separator: ", ")
        let row = columns.isEmpty ? "DEFAULT VALUES" : "(\(names)) VALUES (\(bound.map(\.sql).joined(separator: ", ")))"
        try db.execute(
            sql: "INSERT INTO \(table.name.quoted) \(row)", arguments: StatementArguments(bound.map(\.value)))
        let key = model[entity.table].keySlot.flatMap { slot in values.first { $0.slot == slot } }
        return key?.value ?? db.lastInsertedRowID.databaseValue
    }

    package func update(_ nodes: [NodeID], _ table: SyncTable) throws {
        let rowSQL = rowSQL(table.id)
        let changed = table.matches.changed
        let values = NodeBinding(table, rowSQL.columns, tables)
        var updates: [[UInt8]: (columns: [TableColumn], statement: RawStatement)] = [:]
        var counter = ProgressCounter(steps)
        for node in nodes {
            try counter.advance()
            let mask = changed.mask(of: node)
            let update: (columns: [TableColumn], statement: RawStatement)
            if let known = updates[mask] {
                update = known
            } else {
                let written = changed.columns(mask).map(table.column)
                let names = written.map { "\(rowSQL.name(of: $0)) = ?" }.joined(separator: ", ")
                update = (
                    written,
                    try RawStatement(db, "UPDATE \(rowSQL.table) SET \(names) WHERE \(rowSQL.keyColumn) = ?")
                )
                updates[mask] = update
            }
            for (index, column) in update.columns.enumerated() {
                values.bind(column, of: node, to: update.statement, at: index + 1)
            }
            values.bindKey(of: node, to: update.statement, at: update.columns.count + 1)
            do { try update.statement.execute() } catch {
                throw DatabaseErrorMapper.naming(values.name(of: node), in: error)
            }
            if update.statement.hasWrittenNothing {
                try checkMissing(table.id) { values.bindKey(of: node, to: $0, at: 1) }
            }
        }
        try counter.finish()
    }

    package func setEntities(of rows: [(key: RowKey, entity: CompiledEntity, added: [Int])], in table: TableID) throws {
        let rowSQL = rowSQL(table)
        for (key, entity, added) in rows {
            let names = [TableLayout.entityColumn] + added.map { layout[table].columns[$0] }
            let defaults = added.map { slot in
                let attribute = model[table].attributes[slot]
                return ColumnValue.databaseValue(attribute.defaultValue ?? .null, as: attribute.type)
            }
            try db.run(
                """
                UPDATE \(rowSQL.table) SET \(names.map { "\($0.quoted) = ?" }.joined(separator: ", "))
                WHERE \(rowSQL.keyColumn) = ?
                """, list: [entity.name.databaseValue] + defaults + [key.databaseValue])
            if db.changesCount == 0 { try checkMissing(table) { $0.bind(key, at: 1) } }
        }
    }

    package func setKey(of row: RowKey, _ entity: CompiledEntity, to key: RowKey) throws -> RowKey {
        try KeyUpdate(layout, row, entity, db).rekey(to: key)
    }

    package func delete(_ rows: [StoredRow]) throws -> [OutsideReferences] {
        let references = try referencesFromOutside(to: rows)
        var deletions: [RawStatement?] = Array(repeating: nil, count: layout.tables.count)
        for (index, row) in rows.enumerated() {
            if index & 1023 == 1023 { try steps.check() }
            let rowSQL = rowSQL(row.table)
            let deletion =
                try deletions[row.table.index]
                ?? RawStatement(cachedIn: db, "DELETE FROM \(rowSQL.table) WHERE \(rowSQL.keyColumn) = ?")
            deletions[row.table.index] = deletion
            deletion.bind(row.key, at: 1)
            do {
                try deletion.execute()
            } catch {
                throw DatabaseErrorMapper.naming("\(row.key.recordKey(nil)) of \(layout[row.table].name)", in: error)
            }
            if deletion.hasWrittenNothing { try checkMissing(row.table) { $0.bind(row.key, at: 1) } }
        }
        return references
    }

    /// Returns the rows of tables outside the model that foreign keys will delete or change with the given rows.
    private func referencesFromOutside(to rows: [StoredRow]) throws -> [OutsideReferences] {
        let keys = rows.isEmpty ? [:] : try ForeignKeyList.of(db).outside(layout)
        var found: [OutsideReferences] = []
        for (table, keys) in keys {
            let deleted = rows.filter { $0.table == table }
            deletedKeys[table, default: []].formUnion(deleted.map(\.key))
            for key in keys {
                guard let effect = key.deleteAction.effect else { continue }
                var references = OutsideReferences(
                    table: key.table, columns: key.columnNames, effect: effect, target: table, count: 0)
                let count = try RawStatement(db, countSQL(of: key, table))
                for row in deleted {
                    count.bind(row.key, at: 1)
                    guard try count.step() else { continue }
                    let found = Int(count.integer(0))
                    count.reset()
                    if found > 0, references.count == 0 { references.targetKey = row.key }
                    references.count += found
                }
                if references.count > 0 { found.append(references) }
            }
        }
        return found.sorted { ($0.table, $0.columns) < ($1.table, $1.columns) }
    }

    /// Returns the SQL that counts the rows that reference a row by a foreign key.
    private func countSQL(of key: ForeignKey, _ table: TableID) -> String {
        let rowSQL = rowSQL(table)
        let isSame = key.columns.map { "p.\($0.referenced.quoted) = c.\($0.own.quoted)" }.joined(separator: " AND ")
        return """
            SELECT count(*) FROM \(rowSQL.table) AS p JOIN \(key.table.quoted) AS c ON \(isSame)
            WHERE p.\(rowSQL.keyColumn) = ?
            """
    }

    package func rowCount(ofTable name: String) throws -> Int {
        try db.first(Int.self, "SELECT count(*) FROM \(name.quoted)") ?? 0
    }

    /// Checks that a row is not stored, after an update or deletion of it that wrote nothing. A trigger or a foreign key
    /// may have deleted the row.
    ///
    /// - Parameter bindKey: Binds the key of the row to the first parameter of a statement.
    /// - Throws: ``SyncError`` `incompatibleTables` if the row is stored, so that a trigger cancelled the write.
    func checkMissing(_ table: TableID, _ bindKey: (RawStatement) -> Void) throws {
        let rowSQL = rowSQL(table)
        let statement = try RawStatement(
            cachedIn: db, "SELECT 1 FROM \(rowSQL.table) WHERE \(rowSQL.keyColumn) = ?")
        bindKey(statement)
        if try statement.step() { throw try TableTrigger.cancelledWrite(to: layout[table].name, in: db) }
    }
}

// MARK: - Rows

// Reads of stored rows, whether or not they have a node.
extension SQLiteSession {
    package func rows(withKeys keys: [RowKey], of entity: CompiledEntity) throws -> [RowKey?] {
        let rowSQL = rowSQL(entity.table)
        let statement = try statements.statement(
            "SELECT \(rowSQL.keyColumn) FROM \(rowSQL.table)" + keyCondition(entity))
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
        let rowSQL = rowSQL(table)
        var selected = [rowSQL.columns.entity == nil ? "NULL" : TableLayout.entityColumn.quoted]
        var keys: [Int: (columns: KeyColumns, first: Int)] = [:]
        for id in model[table].entities where model.entities[id].keyOwner == id {
            guard let key = KeyColumns(model.entities[id], layout) else { continue }
            keys[id] = (key, selected.count)
            selected += key.expressions(of: layout[table].name)
        }
        let statement = try statements.statement(
            "SELECT \(selected.joined(separator: ", ")) FROM \(rowSQL.table) WHERE \(rowSQL.keyColumn) = ?")
        return try rows.map { row in
            statement.bind(row, at: 1)
            defer { statement.reset() }
            guard try statement.step() else { return nil }
            let entity =
                try rowSQL.columns.entity == nil
                ? model[table].root : rowSQL.columns.entity(named: statement.string(0))
            let position = model.entities[entity].keyOwner.flatMap { keys[$0] }
            return StoredIdentity(entity: entity, key: position.flatMap { $0.columns.key(statement, at: $0.first) })
        }
    }

    package func values(of rows: [RowKey], in table: TableID) throws -> [StoredValues?] {
        let rowSQL = rowSQL(table)
        let columns = rowSQL.columns
        let statement = try statements.statement(rowSQL.select + " WHERE \(rowSQL.keyColumn) = ?")
        return try rows.map { row in
            statement.bind(row, at: 1)
            defer { statement.reset() }
            guard try statement.step() else { return nil }
            let entity = model.entities[try columns.entity(statement)]
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

    /// Keeps the statement open between two calls, so that SQLite chooses the order and each index can be used. An order
    /// by key would sort the rows of other indexes again in each call.
    package func rows(
        of entity: CompiledEntity, where predicate: RowPredicate?, after key: RowKey?, limit: Int
    ) throws -> [RowKey] {
        let previous = openRows
        openRows = nil
        let statement: RawStatement
        // Whether the rows up to the key are read already.
        var isPastKey = true
        if let previous, let key, previous.entity == entity.id, previous.predicate == predicate, previous.last == key {
            statement = previous.statement
        } else {
            previous?.statement.reset()
            statement = try self.statement(of: entity, where: predicate)
            isPastKey = key == nil
        }
        var found: [RowKey] = []
        while found.count < limit, try statement.step() {
            guard let next = statement.key(0) else { continue }
            if isPastKey { found.append(next) } else { isPastKey = next == key }
        }
        if found.count == limit, let last = found.last {
            openRows = OpenRows(entity: entity.id, predicate: predicate, statement: statement, last: last)
        } else {
            statement.reset()
        }
        return found
    }

    /// Returns the statement that selects the keys of the rows that satisfy a condition.
    ///
    /// Without a condition, it reads rows in the order of integer keys, because row flags are stored in that order.
    private func statement(of entity: CompiledEntity, where predicate: RowPredicate?) throws -> RawStatement {
        let rowSQL = rowSQL(entity.table)
        let condition = try predicate.map {
            try PredicateSQL($0, on: entity, layout: layout, alias: "scope", in: db)
        }
        let conditions = [condition?.sql, PredicateSQL.familyCondition(entity, layout: layout, alias: "scope")]
        let sql = conditions.compactMap { $0 }.map { "(\($0))" }.joined(separator: " AND ")
        let hasIntegerKeys = rowSQL.columns.hasSurrogateKey || rowSQL.columns.isOrderedByKey
        let order = predicate == nil && hasIntegerKeys ? " ORDER BY scope.\(rowSQL.keyColumn)" : ""
        let statement = try statements.statement(
            "SELECT scope.\(rowSQL.keyColumn) FROM \(rowSQL.table) AS scope WHERE \(sql.isEmpty ? "1" : sql)\(order)")
        for (index, value) in (condition?.databaseValues ?? []).enumerated() { statement.bind(value, at: index + 1) }
        return statement
    }

    package func rows(
        among rows: [RowKey], of entity: CompiledEntity, where predicate: RowPredicate
    ) throws -> Set<RowKey> {
        let rowSQL = rowSQL(entity.table)
        let scope = try PredicateSQL(predicate, on: entity, layout: layout, alias: "scope", in: db)
        let conditions = [scope.sql, PredicateSQL.familyCondition(entity, layout: layout, alias: "scope")]
        let condition = conditions.compactMap(\.self).map { " AND (\($0))" }.joined()
        var found: Set<RowKey> = []
        var statements: [String: Statement] = [:]
        for list in KeyList.lists(of: rows.map(\.databaseValue)) {
            let statement =
                try statements[list.placeholders]
                ?? db.makeStatement(
                    sql: """
                        SELECT scope.\(rowSQL.keyColumn) FROM \(rowSQL.table) AS scope
                        WHERE scope.\(rowSQL.keyColumn) IN (\(list.placeholders))\(condition)
                        """)
            statements[list.placeholders] = statement
            let cursor = try Row.fetchCursor(
                statement, arguments: list.arguments + StatementArguments(scope.databaseValues))
            let values = StatementColumns(statement)
            while try cursor.next() != nil {
                if let key = RowKey(values.wholeValue(at: 0)) { found.insert(key) }
            }
        }
        return found
    }

    package func check(_ predicate: RowPredicate, on entity: CompiledEntity) throws {
        _ = try PredicateSQL(predicate, on: entity, layout: layout, alias: "scope")
    }

    // MARK: Counting

    package func count(of entity: CompiledEntity, upTo limit: Int?) throws -> Int {
        let rowSQL = rowSQL(entity.table)
        let condition = rowSQL.columns.entity == nil ? "" : " WHERE sync_entity = \(entity.name.literal)"
        let rows = "FROM \(rowSQL.table)\(condition)"
        let sql = limit.map { "SELECT count(*) FROM (SELECT 1 \(rows) LIMIT \($0))" } ?? "SELECT count(*) \(rows)"
        return try Int.fetchOne(db, sql: sql) ?? 0
    }

    package func nextKey(of table: TableID) throws -> Int64 {
        let rowSQL = rowSQL(table)
        let hasSurrogateKey = rowSQL.columns.hasSurrogateKey
        let condition = hasSurrogateKey ? "" : " WHERE \(rowSQL.keyColumn) < \(TemporaryKey.integerBound)"
        let next = try Int64.fetchOne(db, sql: "SELECT max(\(rowSQL.keyColumn)) + 1 FROM \(rowSQL.table)\(condition)")
        return next ?? (hasSurrogateKey ? 1 : Int64.min + 1)
    }
}

// MARK: - BulkInsertion

/// Inserts rows into one table, with several rows in each statement where possible. This avoids most of SQLite's cost
/// per statement.
///
/// `OR FAIL` avoids the statement journal that SQLite needs to undo a statement of several rows. The statement journal
/// is not needed if the caller rolls back after any failure. Triggers would inherit `OR FAIL`, so rows of a table with
/// triggers are inserted one at a time.
struct BulkInsertion {
    private static let rowsPerStatement = 16

    private let db: Database
    private let table: String
    private let one: RawStatement
    private let many: RawStatement?
    /// The number of parameters of one row.
    private let width: Int

    /// - Parameters:
    ///   - names: The quoted columns.
    ///   - parameters: For each column, the number of its parameter in the first row, from 1 to `width`.
    init(
        into table: String, names: [String], parameters: [Int], width: Int, rowCount: Int, in db: Database
    ) throws {
        (self.table, self.width, self.db) = (table, width, db)
        // A parameter is numbered only if its number is not the next one, because SQLite searches all numbered
        // parameters linearly.
        var last = 0
        func parameter(_ number: Int) -> String {
            defer { last = number }
            return number == last + 1 ? "?" : "?\(number)"
        }
        func row(_ index: Int) -> String {
            "(" + parameters.map { parameter(index * width + $0) }.joined(separator: ", ") + ")"
        }
        let columns = "INTO \(table.quoted) (\(names.joined(separator: ", "))) VALUES "
        one = try RawStatement(cachedIn: db, "INSERT " + columns + row(0))
        last = 0
        let isInBulk = try rowCount >= Self.rowsPerStatement && !Self.hasTriggers(table, db)
        many =
            isInBulk
            ? try RawStatement(
                cachedIn: db, "INSERT OR FAIL " + columns + (0..<Self.rowsPerStatement).map(row).joined(separator: ", ")
            ) : nil
    }

    /// - Parameters:
    ///   - bind: Binds the row with an index to a statement, with an offset for its parameters.
    ///   - failed: Returns the error to throw for the failure of the row with an index.
    /// - Throws: ``SyncError`` `incompatibleTables` if a trigger cancelled the insertion of a row; the errors of `bind`
    ///   and `failed`.
    func insert(
        _ count: Int, _ bind: (Int, RawStatement, Int) throws -> Void,
        failed: (Int, any Error) -> any Error = { $1 }
    ) throws {
        var next = 0
        if let many {
            while next + Self.rowsPerStatement <= count {
                for row in 0..<Self.rowsPerStatement { try bind(next + row, many, row * width) }
                do {
                    try many.execute()
                } catch {
                    // `OR FAIL` keeps and counts the rows before the failed one.
                    throw failed(min(next + db.changesCount, count - 1), error)
                }
                next += Self.rowsPerStatement
            }
        }
        for row in next..<count {
            try bind(row, one, 0)
            do { try one.execute() } catch { throw failed(row, error) }
            if one.hasWrittenNothing { throw try TableTrigger.cancelledWrite(to: table, in: db) }
        }
    }

    /// Returns whether the table has triggers that an insert runs. The triggers of the engine run no statement while it
    /// writes.
    private static func hasTriggers(_ table: String, _ db: Database) throws -> Bool {
        let names = try String.fetchAll(
            db.cachedStatement(
                sql: """
                    SELECT name FROM sqlite_schema WHERE type = 'trigger' AND tbl_name = ?1 COLLATE NOCASE
                    UNION ALL SELECT '' FROM sqlite_temp_schema WHERE type = 'trigger' AND tbl_name = ?1 COLLATE NOCASE
                    """), arguments: [table])
        if names.isEmpty { return false }
        guard names.allSatisfy({ $0.hasPrefix(EngineSchema.triggerPrefix) }) else { return true }
        return try !CaptureSuppression.writing.isSet(in: db)
    }
}

extension ForeignKey.DeleteAction {
    /// What the action does with the rows of its table; nil if it denies the deletion.
    fileprivate var effect: OutsideReferences.Effect? {
        switch self {
        case .none, .restrict: nil
        case .setNull, .setDefault: .changed
        case .cascade: .deleted
        }
    }
}
