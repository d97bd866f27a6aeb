import GRDB
import SyncCore
import SyncStore

/// A registered entity: its number in the engine's tables, its table, and its fields.
final class TrackedTable: Sendable {
    /// A column that is merged and sent as a field.
    struct Column: Sendable {
        let name: String
        let field: OutgoingSchema.Field
        /// The attribute of the column; nil for a foreign key, and for the column with the name of the entity.
        var attribute: String?
        /// The relationship of a foreign key; nil for other columns.
        var relationship: String?
        /// The table that a foreign key references; nil for other columns.
        var destination: TableID?
        /// The SQL list of the names of the entities in that table; empty for other columns.
        var targets = ""
        let isOptional: Bool

        var sql: String { name.quoted }

        /// The name of the field for users.
        var displayName: String { attribute ?? relationship ?? name }
    }

    /// A join table, with the end whose rows are sent with the list of linked rows.
    struct JoinTable: Sendable {
        let name: String
        let relationship: String
        let link: AssociationID
        let end: CompiledAssociation.End
        /// The quoted names of the table and its columns.
        let table: LinkTable
        let destination: TableID
        /// The SQL list of the names of the entities in the table of the listed rows.
        let targets: String
    }

    let number: Int
    let registration: EngineRegistration.Entity
    let entity: CompiledEntity
    let table: TableLayout
    /// The quoted names of the table and its key column.
    let sql, keySQL: String
    let key: TrackedKey
    let columns: [Column]
    let joinTables: [JoinTable]
    /// The groups of columns that are merged and sent as one field.
    let groups: [[String]]
    private let shapes: [Int: OutgoingSchema]
    /// The query that tests whether a key belongs to a stored row of the entity.
    private let rowSQL: String
    let fieldReader: FieldReader
    /// The SQL list of the names of the entity and its subentities.
    let family: String
    /// Whether the table can also have rows of entities that are neither the entity nor its subentities.
    let isPart: Bool

    /// - Throws: ``SyncError`` `unknownEntity`, `keylessEntity`, and `unknownAttribute` or `invalidOption` if the
    ///   entity cannot be synced as registered.
    init(
        _ registration: EngineRegistration.Entity, number: Int, supportsCompositeIDs: Bool, _ model: SyncModel,
        _ layout: StoreLayout
    ) throws {
        let compiled = model.compiled
        let entity = try compiled.entity(named: registration.name)
        let hierarchy = compiled[entity.table]
        func error(_ code: SyncError.Code, _ message: String) -> SyncError {
            SyncError(code, message, entity: entity.name)
        }
        guard let key = TrackedKey(entity, layout, formats: model) else {
            throw error(.keylessEntity, "'\(entity.name)' has no primary key; register the entity of its owners")
        }
        if key.hasParts, !supportsCompositeIDs {
            throw error(
                .invalidOption,
                "the entity has the composite key \(compiled.keyNames(of: entity).joined(separator: ", ")), "
                    + "and the service supports only IDs of one value")
        }
        for name in registration.naturalKey where entity.slotByName[name] == nil {
            let hint = SimilarName.hint(for: name, among: entity.slotByName.keys)
            throw error(.unknownAttribute, "unknown attribute '\(name)' in the natural key" + hint)
        }
        let family = entity.family.map { compiled.entities[$0] }
        if let other = family.first(where: { $0.keyOwner != entity.keyOwner }) {
            throw error(
                .invalidOption,
                "the subentity '\(other.name)' has a different primary key; register the subentities separately")
        }
        let shapes = try family.map { try OutgoingSchema($0, of: model) }
        let members = (shapes.contains { !$0.kinds.isEmpty } ? [.kind] : []) + Self.fields(of: shapes)
        (self.number, self.registration, self.entity, self.key) = (number, registration, entity, key)
        self.shapes = Dictionary(zip(family.map(\.id), shapes)) { first, _ in first }
        table = layout[entity.table]
        sql = table.sql
        keySQL = table.keySQL
        isPart = family.count < hierarchy.entities.count
        columns = members.compactMap { field in
            switch field {
            case .attribute(let slot):
                let attribute = hierarchy.attributes[slot]
                return Column(
                    name: layout[entity.table].columns[slot], field: field, attribute: attribute.name,
                    isOptional: attribute.isOptional)
            case .toOne(let id):
                guard case .foreignKey(_, let column, _) = layout[id] else { return nil }
                let link = compiled[id]
                return Column(
                    name: column, field: field, relationship: link.first.relationship?.name,
                    destination: link.second.table, targets: layout.entityNames(of: [link.second.table]),
                    isOptional: !link.isKeyPart && link.first.relationship?.isOptional ?? true)
            case .kind: return Column(name: TableLayout.entityColumn, field: field, isOptional: false)
            case .joinRows: return nil
            }
        }
        joinTables = members.compactMap { field in
            guard case .joinRows(let id, let end) = field, case .joinTable(let name, _, _, _, _) = layout[id] else {
                return nil
            }
            let link = compiled[id]
            return JoinTable(
                name: name, relationship: link.side(end).relationship?.name ?? name, link: id, end: end,
                table: LinkTable(link, end, layout), destination: link.side(end.other).table,
                targets: layout.entityNames(of: [link.side(end.other).table]))
        }
        groups = try Self.groups(registration, columns, hierarchy.attributes)
        self.family = family.map(\.name.literal).joined(separator: ", ")
        let own = isPart ? " AND r.\(TableLayout.entityColumn.quoted) IN (\(self.family))" : ""
        rowSQL = "SELECT 1 FROM \(sql) AS r WHERE r.\(keySQL) = ?\(own)"
        fieldReader = FieldReader(columns, of: table, family: self.family, own: own)
    }

    /// Returns the table of an entity that only other engines sync; nil if the model no longer allows it to be synced.
    /// The database does not store the policies of the other engine.
    static func ofOtherEngine(
        _ name: String, number: Int, supportsCompositeIDs: Bool, sendsCascades: Bool, _ stack: DataStack
    ) -> TrackedTable? {
        let entity = EngineRegistration.Entity(
            name: name, policy: .clientWins, deletions: .deleteWins, mergesWholeRow: false, naturalKey: [],
            sendsCascades: sendsCascades)
        return try? TrackedTable(
            entity, number: number, supportsCompositeIDs: supportsCompositeIDs, stack.model, stack.layout)
    }

    private static func groups(
        _ registration: EngineRegistration.Entity, _ columns: [Column], _ attributes: [SyncModel.Attribute]
    ) throws -> [[String]] {
        if registration.mergesWholeRow { return [columns.map(\.name)] }
        func name(_ column: Column) -> String {
            if case .attribute(let slot) = column.field { return attributes[slot].name }
            return column.relationship ?? column.name
        }
        let known = Dictionary(columns.map { (name($0), $0.name) }) { first, _ in first }
        var seen: Set<String> = []
        return try registration.groups.map { group in
            try group.map { member in
                guard let column = known[member] else {
                    let hint = SimilarName.hint(for: member, among: known.keys)
                    throw SyncError(
                        .unknownAttribute, "unknown attribute or to-one relationship '\(member)' in a group" + hint,
                        entity: registration.name)
                }
                guard seen.insert(column).inserted else {
                    throw SyncError(.invalidOption, "'\(member)' is in two groups", entity: registration.name)
                }
                return column
            }
        }
    }

    /// Returns each field once. Subentities repeat the fields that they inherit.
    private static func fields(of shapes: [OutgoingSchema]) -> [OutgoingSchema.Field] {
        var seen: Set<OutgoingSchema.Field> = []
        return shapes.flatMap(\.members).map(\.field).filter { seen.insert($0).inserted }
    }

    var joinTableNames: String { joinTables.map(\.name.literal).joined(separator: ", ") }

    // MARK: Rows

    /// Returns the SQL condition that a row of the table belongs to the entity or a subentity, beginning with `AND`;
    /// empty if all rows do. `row` is the alias of the table in the statement.
    func isOwn(_ row: String) -> String {
        isPart ? " AND \(row).\(TableLayout.entityColumn.quoted) IN (\(family))" : ""
    }

    func isStored(_ key: DatabaseValue, in db: Database) throws -> Bool { try db.finds(rowSQL, key) }

    /// Returns the keys of the rows that are stored.
    func storedKeys(among keys: [DatabaseValue], in db: Database) throws -> Set<BinaryComparedValue> {
        var stored: Set<BinaryComparedValue> = []
        try db.forEachRow("SELECT r.\(keySQL) FROM \(sql) AS r WHERE true\(isOwn("r")) AND r.\(keySQL) IN ", keys) {
            stored.insert($0[0].exact)
        }
        return stored
    }

    /// Returns the outgoing schema of a stored row. Throws ``SyncError`` `unknownEntity` if the row is not of the
    /// entity or a subentity, or is of an abstract entity.
    func shape(of key: DatabaseValue, _ model: CompiledModel, in db: Database) throws -> OutgoingSchema {
        let kind = try kind(of: key, model, in: db)
        guard let shape = shapes[kind.id], !kind.isAbstract else {
            throw SyncError(
                .unknownEntity, "rows of '\(kind.name)' are not synced with this entity", entity: entity.name)
        }
        return shape
    }

    /// Returns the entity of a stored row. Throws ``SyncError`` `unknownEntity` if the entity is not in the model.
    func kind(of key: DatabaseValue, _ model: CompiledModel, in db: Database) throws -> CompiledEntity {
        guard table.hasEntityColumn else { return entity }
        let name = try db.first(
            String.self, "SELECT \(TableLayout.entityColumn.quoted) FROM \(sql) WHERE \(keySQL) = ?", key)
        guard let name else { return entity }
        guard let id = model.entityID(name) else {
            throw SyncError(
                .unknownEntity, "unknown entity '\(name)' in the column sync_entity of a row", entity: entity.name)
        }
        return model.entities[id]
    }

    /// Returns the entity that the discriminators of a record state; nil if they state neither the entity nor a
    /// subentity. A record may lack discriminators of ancestors of the entity.
    func kind(of record: JSONValue, _ model: CompiledModel) -> CompiledEntity? {
        let stated = shapes.compactMap { id, shape -> (entity: Int, given: Int, lacking: Int)? in
            let given = shape.kinds.filter { record.value(at: $0.path) ?? .null != .null }
            guard !given.isEmpty, given.allSatisfy({ record.value(at: $0.path) == .string($0.value) }) else {
                return nil
            }
            return (id, given.count, shape.kinds.count - given.count)
        }
        return stated.max { ($0.given, $1.lacking) < ($1.given, $0.lacking) }.map { model.entities[$0.entity] }
    }

    /// Returns the names of the columns that an entity does not have, because they belong to other subentities.
    func foreignColumns(to kind: CompiledEntity) -> [String] {
        let own = Set(shapes[kind.id]?.members.map(\.field) ?? [])
        return columns.filter { $0.field != .kind && !own.contains($0.field) }.map(\.name)
    }

    /// Returns whether rows of an entity have a list.
    func has(_ joinTable: JoinTable, in kind: CompiledEntity) -> Bool {
        shapes[kind.id]?.members.contains { $0.field == .joinRows(joinTable.link, joinTable.end) } ?? false
    }

    /// The key paths of all values that are sent.
    var memberPaths: [[String]] {
        var paths: [[String]] = []
        for (_, shape) in shapes.sorted(by: { $0.key < $1.key }) {
            paths += shape.keyPaths
            paths += shape.members.map(\.path)
            paths += shape.kinds.map(\.path)
        }
        var seen: Set<[String]> = []
        return paths.filter { seen.insert($0).inserted }
    }

    /// Returns the key path of a field in the records of each entity that has it, as a JSON array.
    func members(of field: OutgoingSchema.Field) -> String {
        JSONValue.array(paths(of: field).map { .array($0.map(JSONValue.string)) }).text
    }

    /// Returns the key path of a field in the records of each entity that has it. An entity may have several
    /// discriminators.
    func paths(of field: OutgoingSchema.Field) -> [[String]] {
        shapes.sorted { $0.key < $1.key }.flatMap { _, shape in
            field == .kind
                ? shape.kinds.map(\.path) : shape.members.first { $0.field == field }.map { [$0.path] } ?? []
        }
    }

    /// Returns the primary key of a row as JSON; null if ``TrackedKey/json(_:in:)`` returns nil. The service may spell
    /// the ID in another way.
    func json(_ key: DatabaseValue, in db: Database) throws -> JSONValue { try self.key.json(key, in: db) ?? .null }

    /// Returns an ID as the service spells it; nil if an export spells it the same, or if a part is a whole record.
    func spelling(of id: JSONValue, _ key: DatabaseValue, in db: Database) throws -> String? {
        guard id.isSpelledID, try json(key, in: db) != id else { return nil }
        return id.text
    }

    func recordKey(_ key: DatabaseValue, in db: Database) throws -> PrimaryKeyValue {
        try self.key.recordKey(key, in: db) ?? RowKey(key)?.recordKey(nil) ?? .text("")
    }

    /// Returns the name of a field for users: the relationship of a foreign key or list, or the attribute of a column.
    func displayName(ofField name: String) -> String {
        columns.first { $0.name == name }?.displayName ?? joinTables.first { $0.field == name }?.relationship ?? name
    }
}

extension JSONValue {
    /// Whether no part of the ID is given as a whole record.
    fileprivate var isSpelledID: Bool {
        switch self {
        case .array(let parts): parts.allSatisfy(\.isSpelledID)
        case .object: false
        default: true
        }
    }
}

// Rows that are missing in the store without a captured deletion. The keys of the entries must be correct: see
// ``EngineLedger/repairSurrogateKeys(of:among:)``.
extension TrackedTable {
    /// Records missing rows as deleted. If the entity was only imported, deletes their entries instead.
    func auditMissing(in db: Database) throws {
        if try isWatched(in: db) { try EngineLedger(db).insertMissing(self) } else { try deleteMissing(in: db) }
    }

    /// Deletes the entries of rows that are not stored and not recorded as deleted, except in the conflict log. The
    /// deletion of these rows is not sent. The next pull gets all rows, and inserts the rows that the service has.
    /// Returns whether there were such rows.
    @discardableResult
    func deleteMissing(in db: Database) throws -> Bool {
        guard try EngineLedger(db).deleteMissing(self) else { return false }
        try EngineLedger(db).clearCursor(of: self)
        return true
    }

    func count(in db: Database) throws -> Int {
        try db.first(Int.self, "SELECT count(*) FROM \(sql) AS r WHERE true\(isOwn("r"))") ?? 0
    }

    /// Returns whether the entity has triggers. An entity that was only imported has none.
    func isWatched(in db: Database) throws -> Bool { try !EngineLedger(db).triggerChecksums(of: number).isEmpty }

    /// Returns the SQL condition that no row with the key of an entry is stored. `row` is the table or alias of the
    /// entry.
    func isMissing(_ row: String) -> String {
        """
        NOT EXISTS (
          SELECT 1 FROM \(sql) AS r WHERE r.\(keySQL) = +\(row).k\(isOwn("r")))
        """
    }
}
