import GRDB
import SyncCore
import SyncStore

/// The tables that triggers and foreign-key actions write when a sync changes the tables of a model, found once for
/// each version of the schema.
final class IndirectWrites: Sendable {
    /// Identifies the schema that a connection sees.
    struct Schema: Hashable {
        let file: String
        let connection: ObjectIdentifier
        let version: Int?
        /// The version of the temporary schema, which may contain triggers.
        let temporaryVersion: Int?
    }

    private struct Known: Equatable {
        let schema: Schema
        /// Whether the schema has triggers of the app, or foreign keys of tables that are not in the model.
        let mayExist: Bool
        /// By table, and one kind of change.
        var ofTables: [ChangedTable: Set<String>] = [:]
        var ofJoinTables: Set<String>?
    }

    private let known = Locked<Known?>(nil)

    /// Returns the tables that may have been written because a sync changed rows of tables, and links if `andLinks`.
    ///
    /// - Parameter isOwn: Whether the schema is committed. The schema of a caller's transaction is recorded when the
    ///   transaction commits.
    func tables(
        writtenWith changed: [ChangedTable], andLinks: Bool, _ layout: StoreLayout, _ schema: Schema, isOwn: Bool,
        in db: Database
    ) throws -> Set<String> {
        let former = known.value.flatMap { $0.schema == schema ? $0 : nil }
        var current = try former ?? Known(schema: schema, mayExist: Self.mayExist(layout, db))
        var written: Set<String> = []
        if current.mayExist {
            for change in changed.flatMap(\.kinds) {
                let found = try current.ofTables[change] ?? Self.find(change.statements(layout), in: db)
                current.ofTables[change] = found
                written.formUnion(found)
            }
            if andLinks {
                let found = try current.ofJoinTables ?? Self.find(layout.joinTableStatements, in: db)
                current.ofJoinTables = found
                written.formUnion(found)
            }
        }
        guard current != former else { return written }
        if isOwn {
            known.withLock { $0 = current }
        } else {
            db.afterNextTransaction(onCommit: { [known, current] _ in known.withLock { $0 = current } })
        }
        return written
    }

    private static func mayExist(_ layout: StoreLayout, _ db: Database) throws -> Bool {
        let tables = (layout.tables.map(\.name) + layout.joinTables).map(\.literal).joined(separator: ", ")
        return try Bool.fetchOne(
            db,
            sql: """
                SELECT EXISTS (
                  SELECT 1 FROM main.sqlite_schema
                  WHERE name NOT GLOB 'sync_*' AND (type = 'trigger'
                    OR type = 'table' AND name COLLATE NOCASE NOT IN (\(tables)) AND sql LIKE '%references%')
                  UNION ALL SELECT 1 FROM sqlite_temp_schema WHERE type = 'trigger')
                """) ?? false
    }

    /// Returns the tables that statements would write, with their triggers and foreign-key actions. SQLite reports
    /// these tables when it compiles a statement, and GRDB passes them to each observer. `EXPLAIN` writes nothing.
    ///
    /// Skips statements that SQLite cannot compile, for example because a trigger names a table that does not exist. A
    /// sync cannot have run such a statement, but it may have run its parts.
    private static func find(_ statements: [WriteStatement], in db: Database) throws -> Set<String> {
        let recorder = WriteRecorder()
        db.add(transactionObserver: recorder, extent: .databaseLifetime)
        defer { db.remove(transactionObserver: recorder) }
        func isCompiled(_ sql: String) throws -> Bool {
            do {
                try db.execute(sql: "EXPLAIN \(sql)")
                return true
            } catch let error as DatabaseError where error.resultCode == .SQLITE_ERROR {
                return false
            }
        }
        for statement in statements where try !isCompiled(statement.sql) {
            for part in statement.parts { _ = try isCompiled(part) }
        }
        return recorder.tables.filter { !$0.foldedForSQL.hasPrefix("sync_") }
    }
}

/// A statement that fires triggers and foreign-key actions.
private struct WriteStatement {
    let sql: String
    /// The statement for each column; empty if it cannot be divided.
    var parts: [String] = []

    init(_ sql: String) { self.sql = sql }

    /// Creates an update that leaves the values as they are; nil without columns.
    init?(updating columns: [String], of table: String) {
        guard !columns.isEmpty else { return nil }
        let (table, assignments) = (table.quoted, columns.map { "\($0.quoted) = \($0.quoted)" })
        sql = "UPDATE \(table) SET \(assignments.joined(separator: ", "))"
        parts = assignments.map { "UPDATE \(table) SET \($0)" }
    }
}

/// Records the tables that statements write.
private final class WriteRecorder: TransactionObserver {
    private(set) var tables: Set<String> = []

    func observes(eventsOfKind eventKind: DatabaseEventKind) -> Bool {
        tables.insert(eventKind.tableName)
        return false
    }

    func databaseDidChange(with event: DatabaseEvent) {}
    func databaseDidCommit(_ db: Database) {}
    func databaseDidRollback(_ db: Database) {}
}

extension ChangedTable {
    /// The changes, each with one kind.
    fileprivate var kinds: [ChangedTable] {
        [RowChangeKinds.insertion, .update, .deletion].filter(changes.contains)
            .map { ChangedTable(table: table, changes: $0) }
    }

    /// Statements that fire the triggers and foreign-key actions of the changes.
    fileprivate func statements(_ layout: StoreLayout) -> [WriteStatement] {
        let names = layout[table]
        let quoted = names.name.quoted
        var statements: [WriteStatement] = []
        if changes.contains(.insertion) { statements.append(WriteStatement("INSERT INTO \(quoted) DEFAULT VALUES")) }
        if changes.contains(.deletion) { statements.append(WriteStatement("DELETE FROM \(quoted)")) }
        if changes.contains(.update) {
            // A sync does not change keys, so it does not fire `ON UPDATE` of foreign keys that reference them.
            let hierarchy = layout.model[table]
            let keys = Set(layout.model.entities[hierarchy.root].keySlots)
            var columns = hierarchy.attributes.indices.filter { !keys.contains($0) }.map { names.columns[$0] }
            for (column, order) in layout.foreignKeyColumns(of: hierarchy) {
                columns += [column] + [order].compactMap(\.self)
            }
            if let update = WriteStatement(updating: columns, of: names.name) { statements.append(update) }
        }
        return statements
    }
}

extension StoreLayout {
    fileprivate var joinTableStatements: [WriteStatement] {
        links.flatMap { link -> [WriteStatement] in
            guard case .joinTable(let name, _, _, let firstOrder, let secondOrder) = link else { return [] }
            return [
                WriteStatement("INSERT INTO \(name.quoted) DEFAULT VALUES"),
                WriteStatement("DELETE FROM \(name.quoted)"),
                WriteStatement(updating: [firstOrder, secondOrder].compactMap(\.self), of: name),
            ].compactMap(\.self)
        }
    }
}
