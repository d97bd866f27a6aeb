import Foundation
import GRDB
public import SyncCore
import SyncStore

/// What a test kit asks of a store beyond its rows.
extension DataStack {
    /// How many rows the writing connection has changed since it was opened: the same number means nothing was written.
    package func totalChanges() async throws -> Int {
        try await database.writeWithoutTransaction { db in db.totalChangesCount }
    }

    /// A store that is a guest in the database of an app, in memory or in a file.
    package static func guest(_ model: SyncModel, at path: String?, transformers: TransformerPolicy) throws -> DataStack
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

    /// What SQLite finds wrong with the store, by `foreign_key_check` and `integrity_check`; empty if it is sound.
    package func damage() async throws -> [String] { try await danglingLinks() + brokenPages() }

    /// Which tables have rows that refer to rows that are not stored.
    package func danglingLinks() async throws -> [String] {
        try await reading { db in
            let dangling = try Row.fetchAll(db, sql: "PRAGMA foreign_key_check").map { row in
                "a row of \(row["table"] as String? ?? "?") refers to a missing row of \(row["parent"] as String? ?? "?")"
            }
            return Array(Set(dangling)).sorted()
        }
    }

    package func brokenPages() async throws -> [String] {
        try await reading { db in
            try String.fetchAll(db, sql: "PRAGMA integrity_check").filter { $0 != "ok" }
        }
    }
}

// MARK: - App tables

extension DataStack {
    /// A store in memory that adopts the tables of its model, which are made as an app might have: without strict
    /// types, with foreign keys that hold at once and do nothing, and with a column of the app's own in each.
    ///
    /// Nil for a model whose tables cannot be adopted.
    package static func adopted(_ model: SyncModel, transformers: TransformerPolicy) throws -> DataStack? {
        let layout = StoreLayout(model.compiled)
        if layout.tables.contains(where: { $0.hasHiddenKey && $0.hasEntityColumn }) { return nil }
        let queue = try DatabaseQueue()
        try queue.write { db in
            for statement in SchemaSQL(layout).statements where !SchemaSQL.ownTables.contains(statement) {
                if !statement.hasPrefix("CREATE VIEW") { try db.execute(sql: appLike(statement)) }
            }
        }
        return try DataStack(model: model, adopting: queue, transformers: transformers)
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

/// A row with all that a result says of one: attributes and to-one relationships.
package struct SnapshotRow: Sendable, Hashable {
    /// For an inheritance tree, the most specific one.
    package let entity: String
    package let row: SyncResult.Row
}

extension DataStack {
    /// Changes whenever another connection has committed something since this was asked on the same one.
    package func version() async throws -> Int {
        try await database.writeWithoutTransaction { db in try Int.fetchOne(db, sql: "PRAGMA data_version") ?? 0 }
    }

    /// The rows of an entity as they are at one moment, by key.
    ///
    /// - Throws: ``SyncError`` `unknownEntity`, `keylessEntity`: whose rows cannot be told from others a moment later;
    ///   `invalidPredicate`, `modelMismatch`.
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

// MARK: - Unresolved references

extension DataStack {
    /// The references to rows that are not stored yet, as the store remembers them: by entity, key, relationship and
    /// position.
    ///
    /// - Throws: ``SyncError`` `storeFailure`.
    public func unresolvedReferences() throws -> [SyncResult.UnresolvedReference] {
        try reading { db in try EngineDamage.located(in: db) { try self.unresolvedReferences(in: db) } }
    }

    /// The references to rows that are not stored yet.
    public func unresolvedReferences() async throws -> [SyncResult.UnresolvedReference] {
        try await reading { db in try EngineDamage.located(in: db) { try self.unresolvedReferences(in: db) } }
    }

    private func unresolvedReferences(in db: Database) throws -> [SyncResult.UnresolvedReference] {
        let rows = try Row.fetchAll(
            db,
            sql: """
                SELECT owner_entity, owner_key, relationship, target_entity, target_key FROM sync_pending
                ORDER BY owner_entity, owner_key, relationship, position
                """)
        return try rows.compactMap { row in
            guard let owner = RowKey(row[1] as DatabaseValue), let target = RowKey(row[4] as DatabaseValue) else {
                return nil
            }
            return SyncResult.UnresolvedReference(
                entity: try row.decode(atIndex: 0), key: owner.recordKey(keyType(of: try row.decode(atIndex: 0))),
                relationship: try row.decode(atIndex: 2),
                target: target.recordKey(keyType(of: try row.decode(atIndex: 3))))
        }
    }

    /// Those of the references that are still waiting for their rows.
    func waiting(
        _ references: [SyncResult.UnresolvedReference], in db: Database
    ) throws -> [SyncResult.UnresolvedReference] {
        let statement = try RawStatement(
            db,
            """
            SELECT 1 FROM sync_pending
            WHERE owner_entity = ? AND owner_key = ? AND relationship = ? AND target_key = ?
            """)
        return try references.filter { reference in
            let target = model.compiled.entityID(reference.entity)
                .flatMap { model.compiled.entities[$0].relationship(named: reference.relationship) }
                .map { model.compiled.entities[$0.destination].name }
            statement.bind(.text(reference.entity), at: 1)
            statement.bind(RowKey(reference.key, keyType(of: reference.entity)), at: 2)
            statement.bind(.text(reference.relationship), at: 3)
            statement.bind(RowKey(reference.target, target.flatMap(keyType)), at: 4)
            defer { statement.reset() }
            return try statement.step()
        }
    }

    private func keyType(of entity: String) -> KeyType? {
        model.compiled.entityID(entity).flatMap { model.compiled.keyType(of: $0) }
    }
}

// MARK: - StoreDump

/// Every row of a store as text, its own tables included, to tell whether anything changed.
package struct StoreDump: Sendable, Hashable {
    /// Table name → rows as SQL literals, in row order.
    package let tables: [String: [String]]

    init(_ db: Database) throws {
        let names = try String.fetchAll(
            db, sql: "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\'")
        var tables: [String: [String]] = [:]
        for name in names {
            let columns = try db.columns(in: name).map { "quote(\($0.name.quotedDatabaseIdentifier))" }
            let row = columns.joined(separator: " || ', ' || ")
            let rows = try String.fetchAll(db, sql: "SELECT \(row) FROM \(name.quotedDatabaseIdentifier)")
            tables[name] = rows.sorted()
        }
        self.tables = tables
    }

    /// A line for each table that differs: how many rows are gone and new, with one of each.
    package func differences(from earlier: StoreDump) -> [String] {
        Set(tables.keys).union(earlier.tables.keys).sorted().compactMap { name in
            let now = tables[name] ?? []
            let before = earlier.tables[name] ?? []
            guard now != before else { return nil }
            let gone = Set(before).subtracting(now).sorted()
            let new = Set(now).subtracting(before).sorted()
            let examples = gone.prefix(1).map { "-(\($0))" } + new.prefix(1).map { "+(\($0))" }
            return "\(name): \(before.count) rows before, \(now.count) after \(examples.joined(separator: " "))"
        }
    }
}
