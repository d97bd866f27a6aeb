import GRDB
import SyncCore

/// Brings the tables of one model to those of another: tables that differ are made anew and filled from the old ones.
///
/// Works inside a transaction of a connection that does not enforce foreign keys. Reads top to bottom.
struct StoreMigrator {
    let db: Database
    let map: MigrationMap
    let policy: MigrationPolicy
    var keys: MigratedKeys
    /// Trees of the new model whose table is just what it was.
    private(set) var keptTrees: Set<Int> = []
    /// Links of the new model whose join table is just what it was.
    private(set) var keptJoins: Set<Int> = []
    /// Old table → the name it has while new ones are filled from it.
    private(set) var renamed: [String: String] = [:]
    var losses: [SyncError.Problem] = []

    /// - Returns: What changed.
    /// - Throws: ``SyncError`` `modelMismatch` with every loss, unless losses are allowed, or if the rows cannot be those
    ///   of the new model; the caller rolls back.
    static func migrate(
        _ db: Database, from old: Model, to new: Model, policy: MigrationPolicy
    ) throws -> MigrationReport {
        var migrator = StoreMigrator(db, MigrationMap(from: old, to: new), policy)
        try migrator.findKeptTables()
        let extras = try migrator.setAsideOldTables()
        try migrator.createTables()
        try migrator.copyRows()
        try migrator.copyLinks()
        try migrator.clearDanglingLinks()
        try migrator.renameRememberedReferences()
        try migrator.dropOldTables()
        try migrator.createIndexesAndViews(extras)
        try migrator.refuseLosses()
        try migrator.checkForeignKeys()
        return MigrationReport(
            changes: ModelDifferences(stored: old, given: new).problems, losses: migrator.losses)
    }

    private init(_ db: Database, _ map: MigrationMap, _ policy: MigrationPolicy) {
        self.db = db
        self.map = map
        self.policy = policy
        keys = MigratedKeys(map)
    }

    // MARK: Tables

    private mutating func findKeptTables() throws {
        for tree in map.new.model.trees {
            guard let before = oldTree(named: map.new.tables[tree.id].name), isSame(tree, before) else { continue }
            keptTrees.insert(tree.id)
        }
        for link in map.new.model.links where link.storage == .joinTable {
            guard let sources = map.links[link.id], sources.count == 1, let source = sources.first, !source.isFlipped,
                JoinTableSQL.statements(link.id, map.new) == JoinTableSQL.statements(source.link, map.old),
                map.old.model.links[source.link].isSymmetric == link.isSymmetric,
                [Link.End.first, .second].allSatisfy({ end in
                    keys.isStable(map.old.model.links[source.link].side(end).tree)
                })
            else { continue }
            keptJoins.insert(link.id)
        }
    }

    private func oldTree(named name: String) -> EntityTree? {
        map.old.tables.firstIndex { $0.name == name }.map { map.old.model.trees[$0] }
    }

    /// Whether a table is the same, what its columns mean too.
    private func isSame(_ tree: EntityTree, _ before: EntityTree) -> Bool {
        let (new, old) = (TableSQL(tree, map.new), TableSQL(before, map.old))
        guard new.table == old.table, new.indexes == old.indexes, keys.isStable(before.id) else { return false }
        guard tree.attributes.map(\.type) == before.attributes.map(\.type),
            tree.attributes.map(\.isOptional) == before.attributes.map(\.isOptional)
        else { return false }
        let names = tree.entities.map { map.new.model.entities[$0].name }
        guard Set(names) == Set(before.entities.map { map.old.model.entities[$0].name }) else { return false }
        return tree.foreignKeys.allSatisfy { link in
            map.links[link]?.count == 1
                && (map.links[link]?.first).map { source in
                    !source.isFlipped && before.foreignKeys.contains(source.link)
                        && keys.isStable(map.old.model.links[source.link].second.tree)
                } ?? false
        }
    }

    /// An index or trigger that somebody else made on a table.
    struct Extra {
        let name: String
        let sql: String
    }

    /// Renames the tables that are not kept, and removes our views and indexes on them.
    private mutating func setAsideOldTables() throws -> [Extra] {
        // References to a renamed table must go on meaning the table of that name.
        try db.execute(sql: "PRAGMA legacy_alter_table = ON")
        defer { try? db.execute(sql: "PRAGMA legacy_alter_table = OFF") }
        for tree in map.old.model.trees {
            for id in tree.entities where id != tree.root {
                try db.execute(sql: "DROP VIEW IF EXISTS \(map.old.model.entities[id].name.quoted)")
            }
        }
        let kept = keptTableNames
        var extras: [Extra] = []
        for (index, name) in oldTableNames.enumerated() where !kept.contains(name) {
            try noteForeignColumns(of: name)
            let rows = try Row.fetchAll(
                db,
                sql: """
                    SELECT type, name, sql FROM sqlite_schema
                    WHERE tbl_name = ? AND type IN ('index', 'trigger') AND sql IS NOT NULL
                    """, arguments: [name])
            for row in rows {
                let (type, object, sql): (String, String, String) = (row[0], row[1], row[2])
                if !object.hasPrefix("sync_") { extras.append(Extra(name: object, sql: sql)) }
                try db.execute(sql: "DROP \(type) \(object.quoted)")
            }
            renamed[name] = "sync_old_\(index)"
            try db.execute(sql: "ALTER TABLE \(name.quoted) RENAME TO \("sync_old_\(index)".quoted)")
        }
        return extras
    }

    private var keptTableNames: Set<String> {
        var names = Set(keptTrees.map { map.new.tables[$0].name })
        for link in keptJoins {
            if case .joinTable(let name, _, _, _, _) = map.new.links[link] { names.insert(name) }
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

    /// A column that somebody else added has no place in the new table.
    private mutating func noteForeignColumns(of table: String) throws {
        var known: Set<String> = []
        if let id = map.old.tables.firstIndex(where: { $0.name == table }) {
            let layout = map.old.tables[id]
            known = Set(layout.columns + [layout.keyColumn, TableLayout.entityColumn])
            for link in map.old.model.trees[id].foreignKeys {
                if case .foreignKey(_, let column, let order) = map.old.links[link] {
                    known.formUnion([column] + [order].compactMap(\.self))
                }
            }
        } else {
            return
        }
        for column in try db.columns(in: table).map(\.name) where !known.contains(column) {
            let count = try Int.fetchOne(db, sql: "SELECT count(\(column.quoted)) FROM \(table.quoted)") ?? 0
            lose("tables.\(table).\(column)", "a column that is not the library's", count, "value")
        }
    }

    private func createTables() throws {
        for tree in map.new.model.trees where !keptTrees.contains(tree.id) {
            try db.execute(sql: TableSQL(tree, map.new).table)
        }
        for link in map.new.links.indices where !keptJoins.contains(link) {
            if let table = JoinTableSQL.statements(link, map.new).first { try db.execute(sql: table) }
        }
    }

    private func dropOldTables() throws {
        for name in renamed.values.sorted() { try db.execute(sql: "DROP TABLE \(name.quoted)") }
    }

    private func createIndexesAndViews(_ extras: [Extra]) throws {
        for link in map.new.links.indices where !keptJoins.contains(link) {
            for index in JoinTableSQL.statements(link, map.new).dropFirst() { try db.execute(sql: index) }
        }
        for tree in map.new.model.trees {
            let table = TableSQL(tree, map.new)
            if !keptTrees.contains(tree.id) {
                for index in table.indexes { try db.execute(sql: index) }
            }
            for view in table.views { try db.execute(sql: view) }
        }
        for extra in extras {
            do {
                try db.execute(sql: extra.sql)
            } catch let error as DatabaseError {
                throw SyncError(
                    .modelMismatch, "'\(extra.name)', which is not the library's, does not fit the new tables",
                    underlying: StoreFailure.text(error))
            }
        }
    }

    // MARK: Losses

    mutating func lose(_ path: String, _ what: String, _ count: Int, _ unit: String) {
        guard count > 0 else { return }
        losses.append(.init(path: path, message: "\(what): \(count) \(unit)\(count == 1 ? "" : "s") would be lost"))
    }

    private func refuseLosses() throws {
        guard policy == .keepingData, !losses.isEmpty else { return }
        throw SyncError(
            .modelMismatch, "the store was made with another model, and rows of it have no place in this one",
            problems: losses)
    }

    private func checkForeignKeys() throws {
        let violations = try Row.fetchAll(db, sql: "PRAGMA foreign_key_check").prefix(5)
        guard !violations.isEmpty else { return }
        let places = violations.map { "\($0["table"] as String? ?? "?") row \($0["rowid"] as Int64? ?? 0)" }
        throw SyncError(
            .storeFailure, "links to rows that are not stored would be left: \(places.joined(separator: ", "))")
    }
}
