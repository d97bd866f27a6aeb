import GRDB
import SyncCore
import SyncStore

// Steps that run for each table avoid statements that make SQLite parse the whole schema. Otherwise the time would grow
// with the square of the number of tables.
extension StoreMigrator {
    /// An index or trigger on a table or view.
    struct Attachment {
        let type: String
        let name: String
        let sql: String

        /// Whether another program created the index or trigger.
        var isForeign: Bool { !name.hasPrefix("sync_") }
    }

    /// Renames the old tables that are not preserved. Drops their indexes and triggers, and the views of subentities.
    ///
    /// - Returns: The dropped indexes and triggers that other programs created.
    mutating func setAsideOldTables() throws -> [Attachment] {
        // With legacy renaming, foreign keys keep the original name of a renamed table, so they reference the new table
        // later.
        let isLegacy = try Bool.fetchOne(db, sql: "PRAGMA legacy_alter_table") ?? false
        try db.execute(sql: "PRAGMA legacy_alter_table = ON")
        defer { if !isLegacy { try? db.execute(sql: "PRAGMA legacy_alter_table = OFF") } }
        let attachments = try attachments()
        let kept = preservedTableNames
        let replaced = oldTableNames.enumerated().filter { !kept.contains($0.element) }
        for (_, name) in replaced { try recordForeignColumns(of: name) }
        var foreign: [Attachment] = []
        for hierarchy in map.old.model.hierarchies {
            for id in hierarchy.entities where id != hierarchy.root {
                let view = map.old.model.entities[id].name
                foreign += attachments[view.foldedForSQL, default: []].filter(\.isForeign)
                try db.execute(sql: "DROP VIEW IF EXISTS \(view.quoted)")
            }
        }
        for (index, name) in replaced {
            let attached = attachments[name.foldedForSQL, default: []]
            foreign += attached.filter(\.isForeign)
            renamed[name] = "sync_old_\(index)"
            try setAside(name, as: "sync_old_\(index)", without: attached)
        }
        return foreign
    }

    /// A table with at most this number of rows is copied instead of renamed.
    private static let copiedRows = 200

    /// Renames a table. SQLite parses the whole schema to rename a table, so a small table is copied and dropped
    /// instead.
    private func setAside(_ table: String, as name: String, without attached: [Attachment]) throws {
        let sample = "SELECT 1 FROM \(table.quoted) LIMIT \(Self.copiedRows + 1)"
        if try Int.fetchOne(db, sql: "SELECT count(*) FROM (\(sample))") ?? 0 <= Self.copiedRows {
            try db.execute(sql: "CREATE TABLE \(name.quoted) AS SELECT * FROM \(table.quoted)")
            try db.execute(sql: "DROP TABLE \(table.quoted)")
        } else {
            for attachment in attached { try db.execute(sql: "DROP \(attachment.type) \(attachment.name.quoted)") }
            try db.execute(sql: "ALTER TABLE \(table.quoted) RENAME TO \(name.quoted)")
        }
    }

    /// Returns all indexes and triggers except automatic indexes, by the case-folded name of their table or view.
    private func attachments() throws -> [String: [Attachment]] {
        let rows = try Row.fetchAll(
            db,
            sql: """
                SELECT tbl_name, type, name, sql FROM sqlite_schema
                WHERE type IN ('index', 'trigger') AND sql IS NOT NULL
                """)
        return Dictionary(grouping: rows) { ($0[0] as String).foldedForSQL }
            .mapValues { $0.map { Attachment(type: $0[1], name: $0[2], sql: $0[3]) } }
    }

    private var preservedTableNames: Set<String> {
        var names = Set(preservedTables.map { map.new[$0].name })
        for link in preservedJoinTables {
            if case .joinTable(let name, _, _, _, _) = map.new[link] { names.insert(name) }
        }
        return names
    }

    private var oldTableNames: [String] {
        map.old.tables.map(\.name)
            + map.old.links.compactMap { link in
                guard case .joinTable(let name, _, _, _, _) = link else { return nil }
                return name
            }
    }

    /// Records the loss of values in columns that another program added. The new table does not have these columns.
    private mutating func recordForeignColumns(of table: String) throws {
        guard let id = map.oldTables[table] else { return }
        let layout = map.old[id]
        var known = Set(layout.columns + [layout.keyColumn, TableLayout.entityColumn])
        for link in map.old.model[id].foreignKeys {
            if case .foreignKey(_, let column, let order) = map.old[link] {
                known.formUnion([column] + [order].compactMap(\.self))
            }
        }
        for column in try db.columns(in: table).map(\.name) where !known.contains(column) {
            let count = try Int.fetchOne(db, sql: "SELECT count(\(column.quoted)) FROM \(table.quoted)") ?? 0
            lose("tables.\(table).\(column)", "a column that Sync did not create", count, "value")
        }
    }
}
