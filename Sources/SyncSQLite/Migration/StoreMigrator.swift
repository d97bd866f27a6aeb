import GRDB
import SyncCore
import SyncStore

/// Brings the tables of one model to those of another: tables that differ are made anew and filled from the old ones.
///
/// Works inside a transaction of a connection that does not enforce foreign keys. Reads top to bottom.
struct StoreMigrator {
    let db: Database
    let map: MigrationMap
    let policy: MigrationPolicy
    var keys: MigratedKeys
    /// Tables of the new model that are just what they were.
    private(set) var keptTables: Set<TableID> = []
    /// Links of the new model whose join table is just what it was.
    private(set) var keptJoins: Set<LinkID> = []
    /// Old table → the name it has while new ones are filled from it.
    var renamed: [String: String] = [:]
    var losses: [SyncError.Problem] = []
    /// Where rows lack a value that the model requires.
    var missing: [SyncError.Problem] = []

    /// - Returns: What changed.
    /// - Throws: ``SyncError`` `modelMismatch` with every loss, unless losses are allowed, or if the rows cannot be those
    ///   of the new model; the caller rolls back.
    static func migrate(
        _ db: Database, from old: SyncModel, to new: SyncModel, policy: MigrationPolicy
    ) throws -> MigrationReport {
        var migrator = StoreMigrator(db, MigrationMap(from: old, to: new), policy)
        try migrator.findKeptTables()
        let extras = try migrator.setAsideOldTables()
        try migrator.createTables()
        try migrator.copyRows()
        try migrator.copyLinks()
        try migrator.clearDanglingLinks()
        try migrator.renameRememberedReferences()
        try migrator.followInEngine(EngineSenders(from: old, to: new))
        try migrator.dropOldTables()
        try migrator.createIndexesAndViews(extras)
        try migrator.refuseMissingValues()
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
            guard let before = map.oldTables[map.new[tree.id].name], isSame(tree, map.old.model[before])
            else { continue }
            keptTables.insert(tree.id)
        }
        for link in map.new.model.links where link.storage == .joinTable {
            guard let source = sameLink(link),
                JoinTableSQL.statements(link.id, map.new) == JoinTableSQL.statements(source, map.old)
            else { continue }
            keptJoins.insert(link.id)
        }
    }

    /// Whether a table is the same, what its columns mean too.
    private func isSame(_ tree: EntityTree, _ before: EntityTree) -> Bool {
        let (new, old) = (TableSQL(tree, map.new), TableSQL(before, map.old))
        guard new.table == old.table, new.indexes == old.indexes, keys.isStable(before.id),
            tree.attributes.map(\.type) == before.attributes.map(\.type),
            tree.attributes.map(\.isOptional) == before.attributes.map(\.isOptional),
            tree.entities.count == before.entities.count, tree.entities.allSatisfy(hasSameColumns)
        else { return false }
        return tree.foreignKeys.allSatisfy { id in
            sameLink(map.new.model[id]).map(before.foreignKeys.contains) ?? false
        }
    }

    /// Whether the rows of an entity are in a table of the same shape under the same name.
    private func hasSameColumns(_ id: Int) -> Bool {
        let entity = map.new.model.entities[id]
        guard let before = map.entities[id].map({ map.old.model.entities[$0] }) else { return false }
        return entity.name == before.name && entity.isAbstract == before.isAbstract && entity.slots == before.slots
            && entity.keySlot == before.keySlot && entity.keyOwner.map { map.entities[$0] } == before.keyOwner
            && entity.slots.allSatisfy { map.slot($0, of: entity) == $0 }
    }

    /// The old link that a link is, if it is between the same rows, stored the same way, and no narrower.
    private func sameLink(_ link: Link) -> LinkID? {
        guard let sources = map.links[link.id], sources.count == 1, let source = sources.first, !source.isFlipped
        else { return nil }
        let before = map.old.model[source.link]
        guard before.isSymmetric == link.isSymmetric, before.storage == link.storage else { return nil }
        let isSame = [Link.End.first, .second].allSatisfy { end in
            let (old, new) = (before.side(end), link.side(end))
            return keys.isStable(old.table) && map.entities[new.entity] == old.entity
                && (new.isToMany || !old.isToMany)
        }
        return isSame ? source.link : nil
    }

    func isKept(_ link: Link) -> Bool {
        link.storage == .foreignKey ? keptTables.contains(link.first.table) : keptJoins.contains(link.id)
    }

    private func createTables() throws {
        for tree in map.new.model.trees where !keptTables.contains(tree.id) {
            try db.execute(sql: TableSQL(tree, map.new).table)
        }
        for link in map.new.model.links where !keptJoins.contains(link.id) {
            if let table = JoinTableSQL.statements(link.id, map.new).first { try db.execute(sql: table) }
        }
    }

    private func dropOldTables() throws {
        for name in renamed.values.sorted() { try db.execute(sql: "DROP TABLE \(name.quoted)") }
    }

    private mutating func createIndexesAndViews(_ extras: [Attachment]) throws {
        for link in map.new.model.links where !keptJoins.contains(link.id) {
            for index in JoinTableSQL.statements(link.id, map.new).dropFirst() { try db.execute(sql: index) }
        }
        for tree in map.new.model.trees {
            let table = TableSQL(tree, map.new)
            if !keptTables.contains(tree.id) {
                for index in table.indexes { try db.execute(sql: index) }
            }
            for view in table.views { try db.execute(sql: view) }
        }
        for extra in extras {
            do {
                try db.execute(sql: extra.sql)
            } catch let error as DatabaseError where error.resultCode == .SQLITE_ERROR {
                lose("schema.\(extra.name)", "an index or trigger that is not the library's fits no table", 1, "object")
            }
        }
    }

    // MARK: Losses

    mutating func lose(_ path: String, _ what: String, _ count: Int, _ unit: String) {
        guard count > 0 else { return }
        losses.append(.init(path: path, message: "\(what): \(count) \(unit)\(count == 1 ? "" : "s") would be lost"))
    }

    private func refuseMissingValues() throws {
        guard !missing.isEmpty else { return }
        let lost = policy == .keepingData ? losses : []
        throw SyncError(
            .modelMismatch, "rows of the store lack values that the model requires", problems: missing + lost)
    }

    private func refuseLosses() throws {
        guard policy == .keepingData, !losses.isEmpty else { return }
        throw SyncError(
            .modelMismatch, "the store was made with another model, and rows of it have no place in this one",
            problems: losses)
    }

    /// What the two-way engine says of rows.
    private mutating func followInEngine(_ senders: EngineSenders) throws {
        var engine = EngineMigration(db, map, keys, senders)
        try EngineDamage.located(in: db) { try engine.follow() }
        for loss in engine.losses { lose(loss.path, loss.what, loss.count, loss.unit) }
    }

    private func checkForeignKeys() throws {
        try ForeignKeyViolations(db, map.new).refuse()
    }
}
