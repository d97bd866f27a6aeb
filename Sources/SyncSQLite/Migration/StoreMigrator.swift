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
    /// - Throws: ``SyncError`` `modelMismatch` if data would be lost and the policy forbids it, if rows lack values
    ///   that the new model requires, or if foreign keys of other tables do not fit. `invalidModel` if the model has
    ///   renames that a migration cannot perform. `databaseError` if dangling links would stay. The caller must then
    ///   roll back.
    static func migrate(
        _ db: Database, from old: SyncModel, to new: SyncModel, policy: MigrationPolicy
    ) throws -> MigrationReport {
        // The upgrade corrects triggers of the app, which are set aside next.
        if try EngineSchema.names(in: db) != nil { try EngineUpgrade.upgrade(in: db) }
        var migrator = StoreMigrator(db, try MigrationMap(from: old, to: new), policy)
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
        try AppForeignKeys(db, migrator.map).check()
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
            guard let source = sameLink(map.new.model[id]), before.foreignKeys.contains(source) else { return false }
            // Two relationships of the entity can have exchanged their names.
            return map.new[id] == map.old[source]
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

/// Maps the parts of a new model to parts of the old model. ``FormerNames`` has the rules for renamed parts.
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
    /// The old names of the attributes and relationships of each new entity that has an old entity.
    private let attributeNames: [Int: FormerNames]
    private let relationshipNames: [Int: FormerNames]
    private(set) var links: [AssociationID: [LinkSource]] = [:]
    /// By old association, the first new association that takes its links.
    private(set) var linkSuccessors: [AssociationID: AssociationID] = [:]

    /// - Throws: ``SyncError`` `invalidModel` if two entities are renamed from one entity, or if a relationship exchanges
    ///   its name and its inverse does not.
    init(from old: SyncModel, to new: SyncModel) throws {
        self.old = StoreLayout(old.compiled)
        self.new = StoreLayout(new.compiled)
        let (before, after) = (old.compiled, new.compiled)
        let entityNames = FormerNames(of: new.entities, in: old.entities)
        var entities: [Int: Int] = [:]
        var successors: [Int: Int] = [:]
        var attributeNames: [Int: FormerNames] = [:]
        var relationshipNames: [Int: FormerNames] = [:]
        var problems: [SyncDiagnostic] = []
        for entity in after.entities {
            guard let id = entityNames[entity.name].flatMap(before.entityID) else { continue }
            let former = before.entities[id]
            if let other = successors[id] {
                problems.append(
                    Self.problem(
                        "entities.\(entity.name)",
                        "the entity \(after.entities[other].name) is renamed from \(former.name) too"))
                continue
            }
            entities[entity.id] = id
            successors[id] = entity.id
            attributeNames[entity.id] = FormerNames(
                of: after.attributes(of: entity), in: before.attributes(of: former))
            relationshipNames[entity.id] = FormerNames(
                of: entity.relationships.map(\.relationship), in: former.relationships.map(\.relationship))
        }
        (self.entities, self.successors) = (entities, successors)
        (self.attributeNames, self.relationshipNames) = (attributeNames, relationshipNames)
        let names = self.old.model.hierarchies.map { [old = self.old] in (old[$0.id].name, $0.id) }
        oldTables = Dictionary(names, uniquingKeysWith: { first, _ in first })
        for link in new.compiled.links {
            let sources = sources(of: link)
            links[link.id] = sources
            for source in sources where linkSuccessors[source.link] == nil { linkSuccessors[source.link] = link.id }
        }
        problems += new.compiled.links.compactMap(inverseProblem)
        guard problems.isEmpty else {
            throw SyncError(
                .invalidModel, "the model has renames that a migration cannot perform",
                problems: problems.sorted { $0.path < $1.path })
        }
    }

    private static func problem(_ path: String, _ message: String) -> SyncDiagnostic {
        SyncDiagnostic(.invalidModel, path: "\(path).renamedFrom", message: message)
    }

    // MARK: Attributes

    /// Returns the old slot of an attribute; nil if the old model does not have the attribute.
    func slot(_ slot: Int, of entity: CompiledEntity) -> Int? {
        guard let before = entities[entity.id].map({ old.model.entities[$0] }),
            let name = attributeNames[entity.id]?[new.model[entity.table].attributes[slot].name]
        else { return nil }
        return before.slotByName[name]
    }

    // MARK: Links

    private func sources(of link: CompiledAssociation) -> [LinkSource] {
        var found: [LinkSource] = []
        for end in [CompiledAssociation.End.first, .second] {
            guard let relationship = link.side(end).relationship else { continue }
            for owner in new.model.entities[link.side(end).entity].family {
                guard let before = predecessor(of: relationship, in: owner),
                    isSameDestination(before, link.side(end.other).entity),
                    !found.contains(where: { $0.link == before.link })
                else { continue }
                found.append(LinkSource(link: before.link, isFlipped: before.end != end))
            }
        }
        return found
    }

    /// Returns the old relationship of a relationship that an entity of the new model has or inherits.
    private func predecessor(of relationship: SyncModel.Relationship, in entity: Int) -> CompiledRelationship? {
        guard let before = entities[entity], let name = relationshipNames[entity]?[relationship.name] else {
            return nil
        }
        return old.model.entities[before].relationship(named: name)
    }

    /// Returns the problem of a relationship that took the name of another one but whose inverse did not; nil if there is
    /// none.
    private func inverseProblem(of link: CompiledAssociation) -> SyncDiagnostic? {
        guard !link.isSymmetric, link.first.relationship != nil, link.second.relationship != nil else { return nil }
        let (first, second) = (predecessors(at: .first, of: link), predecessors(at: .second, of: link))
        let oldLinks = Set(first.map(\.link))
        guard !first.isEmpty, !second.isEmpty, oldLinks.isDisjoint(with: second.map(\.link)) else { return nil }
        for end in [CompiledAssociation.End.first, .second] {
            guard let relationship = link.side(end).relationship, let inverse = link.side(end.other).relationship,
                let former = (end == .first ? first : second).first(where: { $0.name != relationship.name }),
                old.model.entities[former.owner].relationship(named: relationship.name) != nil
            else { continue }
            return Self.problem(
                "entities.\(new.model.entities[link.side(end).entity].name).relationships.\(relationship.name)",
                "the inverse '\(inverse.name)' is not renamed from the inverse of '\(former.name)'")
        }
        return nil
    }

    private func predecessors(
        at end: CompiledAssociation.End, of link: CompiledAssociation
    ) -> [CompiledRelationship] {
        guard let relationship = link.side(end).relationship else { return [] }
        return new.model.entities[link.side(end).entity].family.compactMap { predecessor(of: relationship, in: $0) }
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
        guard let successor = successors[entity], let names = relationshipNames[successor] else { return nil }
        return new.model.entities[successor].relationships.first { names[$0.name] == relationship }?.name
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
    /// There is no migration. If the stored model has all that the model has, and more, the stack uses the stored
    /// model. So a process of a former version continues after another process has added attributes. Any other
    /// difference of the tables is an error (`modelMismatch`). A store that does not exist is created.
    case never
}

/// The table changes and data losses of a migration.
package struct MigrationReport: Sendable, Hashable, Codable {
    /// The table changes, each with a path in a schema file.
    package let changes: [SyncDiagnostic]
    /// The losses, each with a path and the number of lost rows, values, links or other objects.
    package let dataLosses: [SyncDiagnostic]
}
