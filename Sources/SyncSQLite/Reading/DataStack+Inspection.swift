import Foundation
import GRDB
package import SyncCore
import SyncStore

/// Access to the internals of a store for the test kit.
extension DataStack {
    /// Returns the number of rows that the writing connection has changed since the connection was opened. If two calls
    /// return the same number, the connection changed no rows between the calls.
    package func totalChanges() async throws -> Int {
        try await database.writeWithoutTransaction { db in db.totalChangesCount }
    }

    /// Creates a store in an app database, in memory or in a file.
    package static func appDatabase(_ model: SyncModel, at path: String?, transformers: TransformerPolicy) throws
        -> DataStack
    {
        let app: any DatabaseWriter = try path.map { try DatabasePool(path: $0) } ?? DatabaseQueue()
        try app.write { db in
            try db.execute(sql: "CREATE TABLE IF NOT EXISTS appSettings (name TEXT PRIMARY KEY, value ANY)")
        }
        return try DataStack(model: model, in: app, transformers: transformers)
    }

    package func contents() async throws -> StoreDump {
        try await database.read { db in try StoreDump(db) }
    }

    /// Returns the problems that `foreign_key_check` and `integrity_check` of SQLite report; an empty array if there
    /// are none.
    package func damage() async throws -> [String] { try await danglingLinks() + brokenPages() }

    /// Returns a message for each pair of tables with dangling links.
    package func danglingLinks() async throws -> [String] {
        try await reading { db in
            let dangling = try Row.fetchAll(db, sql: "PRAGMA foreign_key_check").map { row in
                "a row of \(row["table"] as String? ?? "?") references a missing row of "
                    + "\(row["parent"] as String? ?? "?")"
            }
            return Array(Set(dangling)).sorted()
        }
    }

    /// Returns a message for each table and column of Sync that the database lacks, because another program removed it.
    package func missingColumns() async throws -> [String] {
        if hasExistingTables { return [] }
        let expected = try await DatabaseQueue().write { [layout] db in
            for statement in SchemaSQL(layout).statements { try db.execute(sql: statement) }
            return try Self.columns(db)
        }
        let found = try await reading { db in try Self.columns(db) }
        return expected.sorted { $0.key < $1.key }.flatMap { table, columns in
            guard let present = found[table] else { return ["the table \(table) is missing"] }
            return columns.filter { !present.contains($0) }.map { "the table \(table) lacks the column \($0)" }
        }
    }

    /// Returns the columns of each table.
    private static func columns(_ db: Database) throws -> [String: [String]] {
        let rows = try Row.fetchAll(
            db,
            sql: """
                SELECT t.name, c.name FROM sqlite_schema AS t JOIN pragma_table_info(t.name) AS c
                WHERE t.type = 'table' ORDER BY t.name, c.cid
                """)
        return Dictionary(grouping: rows) { $0[0] as String }.mapValues { $0.map { $0[1] as String } }
    }

    package func brokenPages() async throws -> [String] {
        try await reading { db in
            try String.fetchAll(db, sql: "PRAGMA integrity_check").filter { $0 != "ok" }
        }
    }
}

// MARK: - App tables

extension DataStack {
    /// Creates a store in memory with existing tables like those of an app; nil for a model that cannot use existing
    /// tables.
    ///
    /// The tables are not strict and have an additional column. Their foreign keys are immediate and lack
    /// `ON UPDATE CASCADE`.
    package static func withExistingTables(_ model: SyncModel, transformers: TransformerPolicy) throws -> DataStack? {
        let layout = StoreLayout(model.compiled)
        if layout.tables.contains(where: { $0.hasSurrogateKey && $0.hasEntityColumn }) { return nil }
        let queue = try DatabaseQueue()
        try queue.write { db in
            for statement in SchemaSQL(layout).statements where !SchemaSQL.ownTables.contains(statement) {
                if !statement.hasPrefix("CREATE VIEW") { try db.execute(sql: appLike(statement)) }
            }
        }
        return try DataStack(model: model, existingTablesIn: queue, transformers: transformers)
    }

    private static func appLike(_ statement: String) -> String {
        guard statement.hasPrefix("CREATE TABLE"), statement.hasSuffix(") STRICT") else { return statement }
        let lines = String(statement.dropLast(" STRICT".count))
            .replacing(" ON UPDATE CASCADE ON DELETE SET NULL DEFERRABLE INITIALLY DEFERRED", with: "")
            .replacing(" ON UPDATE CASCADE ON DELETE CASCADE DEFERRABLE INITIALLY DEFERRED", with: " ON DELETE CASCADE")
            .replacing(" (\n", with: " (\n  \"mine of the app\" TEXT NOT NULL DEFAULT 'app',\n", maxReplacements: 1)
        return lines
    }
}

// MARK: - Snapshot

/// A row with the values of its attributes and to-one relationships, as in a ``SyncResult``.
package struct SnapshotRow: Sendable, Hashable {
    /// The name of the entity of the row. In an inheritance hierarchy, this is the most specific entity.
    package let entity: String
    package let row: SyncResult.Row
}

extension DataStack {
    /// Returns a number that changes when another connection commits. Compare only numbers of the same connection.
    package func version() async throws -> Int {
        try await database.writeWithoutTransaction { db in try Int.fetchOne(db, sql: "PRAGMA data_version") ?? 0 }
    }

    /// Fetches the rows of an entity with their to-one relationships, in one read transaction, ordered by key.
    ///
    /// - Throws: ``SyncError`` `unknownEntity`, `invalidPredicate` or `modelMismatch`. `keylessEntity` if the entity
    ///   has no primary key.
    package func snapshot(of entity: String, where predicate: RowPredicate) async throws -> [SnapshotRow] {
        let links = try model.compiled.keyedEntity(named: entity).relationships.filter { !$0.isToMany }.map(\.name)
        let selection = try links.isEmpty ? nil : self.selection(of: entity, columns: links, where: predicate)
        return try await reading { [self] db in
            var rows = try fetch(entity, where: predicate, in: db).map { record in
                let values = record.attributes.compactMap { name in record[name].map { (name, $0.jsonForm) } }
                return (record, Dictionary(uniqueKeysWithValues: values))
            }
            if let selection {
                let cursor = RowReader(try RawStatement(db, selection.sql, arguments: selection.arguments))
                var index = 0
                while try cursor.next(), index < rows.count {
                    for (column, link) in selection.columns.enumerated() {
                        rows[index].1[link.name] = cursor.value(column, as: link.type).jsonForm
                    }
                    index += 1
                }
            }
            return rows.map { record, values in
                let known = values.filter { $0.value != .null }
                return SnapshotRow(entity: record.entity, row: SyncResult.Row(key: record.key, values: known))
            }
        }
    }
}

// MARK: - Pending references

extension DataStack {
    /// Returns the pending references of the store, ordered by entity, key, relationship and position.
    ///
    /// - Throws: ``SyncError`` `databaseError`.
    package func pendingReferences() throws -> [SyncResult.Link] {
        try reading { db in try EngineTableCheck.located(in: db) { try self.pendingReferences(in: db) } }
    }

    /// Returns the pending references of the store, ordered by entity, key, relationship and position.
    package func pendingReferences() async throws -> [SyncResult.Link] {
        try await reading { db in try EngineTableCheck.located(in: db) { try self.pendingReferences(in: db) } }
    }

    private func pendingReferences(in db: Database) throws -> [SyncResult.Link] {
        let rows = try Row.fetchCursor(
            db,
            sql: """
                SELECT owner_entity, owner_key, relationship, target_entity, target_key FROM sync_pending
                ORDER BY owner_entity, owner_key, relationship, position
                """)
        var references: [SyncResult.Link] = []
        var readers: [String: RawStatement] = [:]
        while let row = try rows.next() {
            guard var owner = try RowKey(row.wholeValue(at: 1)), let target = try RowKey(row.wholeValue(at: 4)) else {
                continue
            }
            let entity: String = try row.decode(atIndex: 0)
            if let key = keyColumns(ofOwner: entity) {
                let reader = try readers[entity] ?? RawStatement(db, key.selection)
                readers[entity] = reader
                reader.bind(owner, at: 1)
                defer { reader.reset() }
                if try reader.step(), let found = key.key(reader, at: 0) { owner = found }
            }
            references.append(
                SyncResult.Link(
                    entity: entity, key: owner.recordKey(keyType(of: entity)), relationship: try row.decode(atIndex: 2),
                    target: target.recordKey(keyType(of: try row.decode(atIndex: 3)))))
        }
        return references
    }

    /// Returns the references that are still pending.
    func pendingReferences(
        among references: [SyncResult.Link], in db: Database
    ) throws -> [SyncResult.Link] {
        var statements: [String: (statement: RawStatement, owner: KeyColumns?)] = [:]
        return try references.filter { reference in
            let (statement, owner) = try statements[reference.entity] ?? pendingStatement(of: reference.entity, db)
            statements[reference.entity] = (statement, owner)
            let target = model.compiled.entityID(reference.entity)
                .flatMap { model.compiled.entities[$0].relationship(named: reference.relationship) }
                .map { model.compiled.entities[$0.destination].name }
            statement.bind(.text(reference.entity), at: 1)
            statement.bind(.text(reference.relationship), at: 2)
            statement.bind(RowKey(reference.target, target.flatMap(keyType)), at: 3)
            let key = RowKey(reference.key, keyType(of: reference.entity))
            if let owner {
                guard owner.bind(key, to: statement, at: 4) else { return false }
            } else {
                statement.bind(key, at: 4)
            }
            defer { statement.reset() }
            return try statement.step()
        }
    }

    /// Returns a statement that finds a pending reference by entity, relationship, target and key of the owner. Also
    /// returns the key columns if the leaves of that key are the last parameters.
    private func pendingStatement(
        of entity: String, _ db: Database
    ) throws -> (statement: RawStatement, owner: KeyColumns?) {
        let owner = keyColumns(ofOwner: entity)
        let statement = try RawStatement(
            db,
            """
            SELECT 1 FROM sync_pending
            WHERE owner_entity = ? AND relationship = ? AND target_key = ? AND owner_key = \(owner?.rowKey ?? "?")
            """)
        return (statement, owner)
    }

    /// Returns the key columns of an entity whose rows have a surrogate key as well, which `sync_pending` stores; nil
    /// for other entities.
    private func keyColumns(ofOwner entity: String) -> KeyColumns? {
        guard let id = model.compiled.entityID(entity) else { return nil }
        let entity = model.compiled.entities[id]
        return layout[entity.table].hasSurrogateKey ? KeyColumns(entity, layout) : nil
    }

    private func keyType(of entity: String) -> KeyType? {
        model.compiled.entityID(entity).flatMap { model.compiled.keyType(of: $0) }
    }
}

extension KeyColumns {
    /// A query for the key of the row with a surrogate key.
    fileprivate var selection: String {
        "SELECT \(expressions(of: table.name).joined(separator: ", ")) FROM \(table.name.quoted) "
            + "WHERE \(table.keyColumn.quoted) = ?"
    }

    /// An SQL expression for the surrogate key of the row with a key, whose leaves are parameters.
    fileprivate var rowKey: String {
        "(SELECT \(table.keyColumn.quoted) FROM \(table.name.quoted) WHERE \(condition(of: table.name)))"
    }
}

// MARK: - StoreDump

extension StoreDump {
    /// Reads all rows of a database, including the rows of internal tables.
    init(_ db: Database) throws {
        let names = try String.fetchAll(
            db, sql: "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\'")
        var tables: [String: [String]] = [:]
        for name in names {
            let columns = try db.columns(in: name).map { "quote(\($0.name.quotedDatabaseIdentifier))" }
            let row = columns.joined(separator: " || ', ' || ")
            tables[name] = try String.fetchAll(db, sql: "SELECT \(row) FROM \(name.quotedDatabaseIdentifier)")
        }
        self.init(tables)
    }
}
