import GRDB
import SyncCore
import SyncStore

/// The foreign keys by which tables of other programs reference tables of the store.
///
/// SQLite rejects writes to a table with a foreign key to a missing table, or to columns that are not unique.
struct AppForeignKeys {
    private struct ForeignKey {
        let table: String
        var columns: [String]
        let target: String
        /// Whether the foreign key references the primary key without naming its columns.
        let isImplicit: Bool
    }

    private let db: Database
    private let map: MigrationMap

    init(_ db: Database, _ map: MigrationMap) { (self.db, self.map) = (db, map) }

    /// Checks that the migrated tables have the rows and keys that the foreign keys reference.
    ///
    /// - Throws: ``SyncError`` `modelMismatch`, with the location of each foreign key that does not fit.
    func check() throws {
        let problems = try all().compactMap { key in
            problem(of: key).map { message in
                SyncDiagnostic(
                    .incompatibleTable, path: "tables.\(key.table).\(key.columns.joined(separator: ", "))",
                    message: message)
            }
        }
        guard !problems.isEmpty else { return }
        throw SyncError(
            .modelMismatch, "foreign keys of other tables do not fit the new model", problems: problems,
            suggestion: "Rebuild the listed tables without these foreign keys, and migrate the store after that. "
                + "Or keep the referenced tables and keys in the model.")
    }

    /// Returns the foreign keys of tables of other programs that reference an old or a new table of the store.
    private func all() throws -> [ForeignKey] {
        let own = names(map.new).union(names(map.old))
        let rows = try Row.fetchAll(
            db,
            sql: """
                SELECT tables.name, keys.id, keys."table", keys."from", keys."to"
                FROM main.sqlite_schema AS tables, pragma_foreign_key_list(tables.name, 'main') AS keys
                WHERE tables.type = 'table' AND tables.name NOT GLOB 'sync_*'
                ORDER BY tables.name, keys.id, keys.seq
                """)
        var found: [ForeignKey] = []
        var last: (table: String, id: Int)?
        for row in rows {
            let (table, id, target): (String, Int, String) = (row[0], row[1], row[2])
            let column: String = row[3]
            guard !own.contains(table.foldedForSQL), own.contains(target.foldedForSQL) else { continue }
            if let last, last == (table, id) {
                found[found.count - 1].columns.append(column)
            } else {
                let referenced: String? = row[4]
                found.append(
                    ForeignKey(table: table, columns: [column], target: target, isImplicit: referenced == nil))
            }
            last = (table, id)
        }
        return found
    }

    private func names(_ layout: StoreLayout) -> Set<String> {
        Set((layout.tables.map(\.name) + layout.joinTables).map(\.foldedForSQL))
    }

    /// Returns the problem of a foreign key; nil if it fits.
    private func problem(of key: ForeignKey) -> String? {
        let target = key.target.foldedForSQL
        guard names(map.new).contains(target) else {
            return "references the table \(key.target), which the new model does not have"
        }
        if let old = map.old.model.hierarchies.first(where: { map.old[$0.id].name.foldedForSQL == target }) {
            guard let new = successor(of: old, named: target) else {
                return "references the table \(key.target), which has the rows of another entity in the new model"
            }
            if key.isImplicit, !hasSameKey(old, new) {
                return "references the primary key of \(key.target), which is another one in the new model"
            }
        }
        if isMismatch(key) {
            return "references columns of \(key.target) that are neither its primary key nor unique in the new model"
        }
        return nil
    }

    /// Returns the new table with the name of an old table; nil unless it has rows of the old table.
    private func successor(of old: EntityHierarchy, named name: String) -> EntityHierarchy? {
        map.new.model.hierarchies.first { new in
            map.new[new.id].name.foldedForSQL == name
                && new.entities.contains { id in
                    map.entities[id].map { map.old.model.entities[$0].table } == old.id
                }
        }
    }

    /// Returns whether the primary keys of two tables consist of the same attribute, or are both surrogate keys.
    private func hasSameKey(_ old: EntityHierarchy, _ new: EntityHierarchy) -> Bool {
        guard let before = old.keySlot, let after = new.keySlot else { return old.keySlot == nil && new.keySlot == nil }
        return new.entities.contains { map.slot(after, of: map.new.model.entities[$0]) == before }
    }

    /// Returns whether the referenced columns do not exist, or are not unique. SQLite reports this when it compiles the
    /// check, before it reads rows. Of several such foreign keys of a table, it reports one.
    private func isMismatch(_ key: ForeignKey) -> Bool {
        do {
            _ = try db.makeStatement(sql: "PRAGMA foreign_key_check(\(key.table.quoted))")
            return false
        } catch {
            let message = "foreign key mismatch - \(key.table.quoted) referencing \(key.target.quoted)"
            return (error as? DatabaseError)?.message == message
        }
    }
}
