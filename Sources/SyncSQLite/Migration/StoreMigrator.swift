import GRDB
package import SyncCore
import SyncStore

/// Migrates the tables of one model to those of another. Tables that differ are created again and filled from the old
/// tables.
///
/// Use it inside a transaction, on a connection with foreign keys off. ``migrate(_:from:to:policy:)`` lists the steps.
struct StoreMigrator {
    let db: Database
    let map: MigrationMap
    let policy: MigrationPolicy
    var keys: MigratedKeys
    /// The tables of the new model that are unchanged.
    private(set) var preservedTables: Set<TableID> = []
    /// The associations of the new model whose join table is unchanged.
    private(set) var preservedJoinTables: Set<AssociationID> = []
    /// The temporary name of each old table that is not preserved, by its original name.
    var renamed: [String: String] = [:]
    var dataLosses: [SyncDiagnostic] = []
    /// The problems of rows that lack a value that the new model requires.
    var missing: [SyncDiagnostic] = []

    /// Migrates the tables and rows of one model to another.
    ///
    /// - Returns: The table changes and the data losses.
    /// - Throws: ``SyncError`` `modelMismatch` if data would be lost and the policy forbids it, or if rows lack values
    ///   that the new model requires. `databaseError` if dangling links would stay. The caller must then roll back.
    static func migrate(
        _ db: Database, from old: SyncModel, to new: SyncModel, policy: MigrationPolicy
    ) throws -> MigrationReport {
        // The upgrade corrects triggers of the app, which are set aside next.
        if try EngineSchema.names(in: db) != nil { try EngineUpgrade.upgrade(in: db) }
        var migrator = StoreMigrator(db, MigrationMap(from: old, to: new), policy)
        try migrator.findPreservedTables()
        let extras = try migrator.setAsideOldTables()
        try migrator.createTables()
        try migrator.copyRows()
        try migrator.copyLinks()
        try migrator.clearDanglingLinks()
        try migrator.renamePendingReferences()
        try migrator.migrateEngine(SentLinkEnds(from: old, to: new))
        try migrator.dropOldTables()
        try migrator.createIndexesAndViews(extras)
        try migrator.refuseMissingValues()
        try migrator.refuseLosses()
        try migrator.checkForeignKeys()
        return MigrationReport(
            changes: ModelDifferences(stored: old, given: new).problems, dataLosses: migrator.dataLosses)
    }

    private init(_ db: Database, _ map: MigrationMap, _ policy: MigrationPolicy) {
        self.db = db
        self.map = map
        self.policy = policy
        keys = MigratedKeys(map)
    }

    // MARK: Tables

    private mutating func findPreservedTables() throws {
        for hierarchy in map.new.model.hierarchies {
            guard let before = map.oldTables[map.new[hierarchy.id].name], isSame(hierarchy, map.old.model[before])
            else { continue }
            preservedTables.insert(hierarchy.id)
        }
        for link in map.new.model.links where link.storage == .joinTable {
            guard let source = sameLink(link),
                JoinTableSQL.statements(link.id, map.new) == JoinTableSQL.statements(source, map.old)
            else { continue }
            preservedJoinTables.insert(link.id)
        }
    }

    /// Returns whether a table and the meaning of its columns are unchanged.
    private func isSame(_ hierarchy: EntityHierarchy, _ before: EntityHierarchy) -> Bool {
        let (new, old) = (TableSQL(hierarchy, map.new), TableSQL(before, map.old))
        guard new.table == old.table, new.indexes == old.indexes, keys.isStable(before.id),
            hierarchy.attributes.map(\.type) == before.attributes.map(\.type),
            hierarchy.attributes.map(\.isOptional) == before.attributes.map(\.isOptional),
            hierarchy.entities.count == before.entities.count, hierarchy.entities.allSatisfy(hasSameColumns)
        else { return false }
        return hierarchy.foreignKeys.allSatisfy { id in
            sameLink(map.new.model[id]).map(before.foreignKeys.contains) ?? false
        }
    }

    /// Returns whether an entity has the same name, columns and key in both models.
    private func hasSameColumns(_ id: Int) -> Bool {
        let entity = map.new.model.entities[id]
        guard let before = map.entities[id].map({ map.old.model.entities[$0] }) else { return false }
        return entity.name == before.name && entity.isAbstract == before.isAbstract && entity.slots == before.slots
            && entity.keySlot == before.keySlot && entity.keyOwner.map { map.entities[$0] } == before.keyOwner
            && entity.slots.allSatisfy { map.slot($0, of: entity) == $0 }
    }

    /// Returns the old association whose stored links a new association keeps unchanged; nil if there is none. Both
    /// must have the same rows and storage. An end that was to-many must still be to-many.
    private func sameLink(_ link: CompiledAssociation) -> AssociationID? {
        guard let sources = map.links[link.id], sources.count == 1, let source = sources.first, !source.isFlipped
        else { return nil }
        let before = map.old.model[source.link]
        guard before.isSymmetric == link.isSymmetric, before.storage == link.storage else { return nil }
        let isSame = [CompiledAssociation.End.first, .second].allSatisfy { end in
            let (old, new) = (before.side(end), link.side(end))
            return keys.isStable(old.table) && map.entities[new.entity] == old.entity
                && (new.isToMany || !old.isToMany)
        }
        return isSame ? source.link : nil
    }

    func isPreserved(_ link: CompiledAssociation) -> Bool {
        link.storage == .foreignKey ? preservedTables.contains(link.first.table) : preservedJoinTables.contains(link.id)
    }

    private func createTables() throws {
        for hierarchy in map.new.model.hierarchies where !preservedTables.contains(hierarchy.id) {
            try db.execute(sql: TableSQL(hierarchy, map.new).table)
        }
        for link in map.new.model.links where !preservedJoinTables.contains(link.id) {
            if let table = JoinTableSQL.statements(link.id, map.new).first { try db.execute(sql: table) }
        }
    }

    private func dropOldTables() throws {
        for name in renamed.values.sorted() { try db.execute(sql: "DROP TABLE \(name.quoted)") }
    }

    private mutating func createIndexesAndViews(_ extras: [Attachment]) throws {
        for link in map.new.model.links where !preservedJoinTables.contains(link.id) {
            for index in JoinTableSQL.statements(link.id, map.new).dropFirst() { try db.execute(sql: index) }
        }
        for hierarchy in map.new.model.hierarchies {
            let table = TableSQL(hierarchy, map.new)
            if !preservedTables.contains(hierarchy.id) {
                for index in table.indexes { try db.execute(sql: index) }
            }
            for view in table.views { try db.execute(sql: view) }
        }
        for extra in extras {
            do {
                try db.execute(sql: extra.sql)
            } catch let error as DatabaseError where error.resultCode == .SQLITE_ERROR {
                lose(
                    "schema.\(extra.name)",
                    "an index or trigger that Sync did not create does not apply to the migrated tables", 1, "object")
            }
        }
    }

    // MARK: Losses

    mutating func lose(_ path: String, _ what: String, _ count: Int, _ unit: String) {
        guard count > 0 else { return }
        dataLosses.append(
            .init(.dataLoss, path: path, message: "\(what): \(count) \(unit)\(count == 1 ? "" : "s") would be lost"))
    }

    private func refuseMissingValues() throws {
        guard !missing.isEmpty else { return }
        let lost = policy == .keepingData ? dataLosses : []
        throw SyncError(
            .modelMismatch, "rows of the store lack values that the model requires", problems: missing + lost)
    }

    private func refuseLosses() throws {
        guard policy == .keepingData, !dataLosses.isEmpty else { return }
        throw SyncError(
            .modelMismatch, "the store has another model, and opening it with this one would lose data",
            problems: dataLosses)
    }

    /// Migrates the rows of the two-way engine's tables.
    private mutating func migrateEngine(_ senders: SentLinkEnds) throws {
        var engine = EngineMigration(db, map, keys, senders, renamed: renamed)
        try EngineTableCheck.located(in: db) { try engine.migrate() }
        for loss in engine.losses { lose(loss.path, loss.what, loss.count, loss.unit) }
    }

    private func checkForeignKeys() throws {
        try ForeignKeyViolations(db, map.new).refuse()
    }
}

/// Maps the parts of a new model to parts of the old model, by name or by `renamedFrom`.
struct MigrationMap {
    /// An old association whose links a new association takes, possibly with exchanged ends.
    struct LinkSource {
        var link: AssociationID
        var isFlipped: Bool
    }

    let old: StoreLayout
    let new: StoreLayout
    /// The old entity of each new entity.
    let entities: [Int: Int]
    /// The new entity of each old entity.
    let successors: [Int: Int]
    /// The tables of the old model by name.
    let oldTables: [String: TableID]
    private(set) var links: [AssociationID: [LinkSource]] = [:]
    /// By old association, the first new association that takes its links.
    private(set) var linkSuccessors: [AssociationID: AssociationID] = [:]

    init(from old: SyncModel, to new: SyncModel) {
        self.old = StoreLayout(old.compiled)
        self.new = StoreLayout(new.compiled)
        var entities: [Int: Int] = [:]
        var successors: [Int: Int] = [:]
        for (id, entity) in new.compiled.entities.enumerated() {
            let renamed = new.entities[id].renamedFrom.flatMap { new.entity(named: $0) == nil ? $0 : nil }
            guard let found = old.compiled.entityID(entity.name) ?? renamed.flatMap(old.compiled.entityID),
                successors[found] == nil
            else { continue }
            entities[id] = found
            successors[found] = id
        }
        self.entities = entities
        self.successors = successors
        let names = self.old.model.hierarchies.map { [old = self.old] in (old[$0.id].name, $0.id) }
        oldTables = Dictionary(names, uniquingKeysWith: { first, _ in first })
        for link in new.compiled.links {
            let sources = sources(of: link)
            links[link.id] = sources
            for source in sources where linkSuccessors[source.link] == nil { linkSuccessors[source.link] = link.id }
        }
    }

    // MARK: Attributes

    /// Returns the old slot of an attribute; nil if the old model does not have the attribute.
    func slot(_ slot: Int, of entity: CompiledEntity) -> Int? {
        guard let before = entities[entity.id].map({ old.model.entities[$0] }) else { return nil }
        let attribute = new.model[entity.table].attributes[slot]
        if let found = before.slotByName[attribute.name] { return found }
        guard let renamed = attribute.renamedFrom, entity.slotByName[renamed] == nil else { return nil }
        return before.slotByName[renamed]
    }

    // MARK: Links

    private func sources(of link: CompiledAssociation) -> [LinkSource] {
        var found: [LinkSource] = []
        for end in [CompiledAssociation.End.first, .second] {
            guard let relationship = link.side(end).relationship else { continue }
            for owner in owners(of: link.side(end).entity) {
                guard let before = predecessor(of: relationship, in: owner, link.side(end).entity),
                    isSameDestination(before, link.side(end.other).entity),
                    !found.contains(where: { $0.link == before.link })
                else { continue }
                found.append(LinkSource(link: before.link, isFlipped: before.end != end))
            }
        }
        return found
    }

    /// Returns the old entities that became an entity and its subentities.
    private func owners(of entity: Int) -> [CompiledEntity] {
        new.model.entities[entity].family.compactMap { entities[$0] }.map { old.model.entities[$0] }
    }

    private func predecessor(
        of relationship: SyncModel.Relationship, in owner: CompiledEntity, _ entity: Int
    ) -> CompiledRelationship? {
        if let same = owner.relationship(named: relationship.name) { return same }
        guard let renamed = relationship.renamedFrom,
            new.model.entities[entity].relationship(named: renamed) == nil
        else { return nil }
        return owner.relationship(named: renamed)
    }

    /// Returns whether the new destination of a relationship is its old destination, or a superentity or subentity of
    /// it.
    private func isSameDestination(_ before: CompiledRelationship, _ destination: Int) -> Bool {
        let family = old.model.entities[before.destination].family.compactMap { successors[$0] }
        return family.contains {
            new.model.entity($0, isKindOf: destination) || new.model.entity(destination, isKindOf: $0)
        }
    }

    /// Returns the new name of an old relationship; nil if the new model does not have it.
    func name(of relationship: String, ofOld entity: Int) -> String? {
        guard let successor = successors[entity].map({ new.model.entities[$0] }) else { return nil }
        if successor.relationship(named: relationship) != nil { return relationship }
        return successor.relationships.first { $0.relationship.renamedFrom == relationship }?.name
    }
}

/// Whether a migration may delete data that does not fit the new model.
///
/// With either policy, a migration fails if rows lack values that the new model requires.
public enum MigrationPolicy: Sendable, Hashable {
    /// A migration fails if it would lose data. ``SyncError/problems`` then lists the data that the migration would
    /// lose.
    case keepingData
    /// A migration deletes data that does not fit the new model.
    case allowingDataLoss
}

/// The table changes and data losses of a migration.
package struct MigrationReport: Sendable, Hashable, Codable {
    /// The table changes, each with a path in a schema file.
    package let changes: [SyncDiagnostic]
    /// The losses, each with a path and the number of lost rows, values, links or other objects.
    package let dataLosses: [SyncDiagnostic]
}
