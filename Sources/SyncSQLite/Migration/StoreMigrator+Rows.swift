import Foundation
import GRDB
import SyncCore
import SyncStore

extension StoreMigrator {
    /// Returns the name that an old table has during the migration.
    func current(_ table: String) -> String { renamed[table] ?? table }

    mutating func copyRows() throws {
        for hierarchy in map.new.model.hierarchies where !preservedTables.contains(hierarchy.id) {
            var seen: Set<KeyOfRow> = []
            for id in hierarchy.entities where map.entities[id] != nil {
                try copyRows(of: map.new.model.entities[id], &seen)
            }
        }
        try recordLostEntities()
    }

    /// A primary key, and the ``CompiledEntity/keyOwner`` among whose rows it must be unique.
    private struct KeyOfRow: Hashable {
        var owner: Int
        var key: [BinaryComparedValue]
    }

    private mutating func copyRows(of entity: CompiledEntity, _ seen: inout Set<KeyOfRow>) throws {
        guard let id = map.entities[entity.id] else { return }
        let before = map.old.model.entities[id]
        let slots = entity.slots.map { ($0, map.slot($0, of: entity)) }
        try recordLostAttributes(of: before, preserved: Set(slots.compactMap(\.1)))
        if entity.isAbstract { return }
        let insertion = RowInsertion(entity, map.new)
        var misfits: [Int: Int] = [:]
        var lacking: [Int: Int] = [:]
        var lostRows = 0
        let rows = try Row.fetchCursor(db, sql: select(before))
        while let row = try rows.next() {
            let oldKey = try row.wholeValue(at: 0)
            var values: [Int: DatabaseValue] = [:]
            for (slot, oldSlot) in slots {
                values[slot] = try value(row, slot, oldSlot, entity, before, &misfits)
            }
            let absent = values.filter { slot, value in value.isNull && !isOptional(slot, entity) }.keys
            for slot in absent { lacking[slot, default: 0] += 1 }
            let key = try rowKey(oldKey, row, entity, before, &values, &seen)
            if key == nil { lostRows += 1 }
            guard let key, absent.isEmpty else {
                keys.recordLost(oldKey, of: before.table)
                continue
            }
            let row = try insertion.insert(key, values, db)
            keys.record(oldKey, of: before.table, at: .init(table: entity.table, key: row))
        }
        lose("entities.\(entity.name)", "rows without a key, or with the key of another row", lostRows, "row")
        for (slot, count) in misfits.sorted(by: { $0.key < $1.key }) {
            let type = map.new.model[entity.table].attributes[slot].type
            lose(path(of: slot, entity), "values that do not fit \(type)", count, "value")
        }
        for (slot, count) in lacking.sorted(by: { $0.key < $1.key }) {
            let rows = "\(count) row\(count == 1 ? " has" : "s have")"
            missing.append(
                .init(
                    .missingRequiredValue, path: path(of: slot, entity),
                    message: "is required now, but \(rows) no value; add a default"
                )
            )
        }
    }

    private func path(of slot: Int, _ entity: CompiledEntity) -> String {
        "entities.\(entity.name).attributes.\(map.new.model[entity.table].attributes[slot].name)"
    }

    private func select(_ entity: CompiledEntity) -> String {
        let table = map.old[entity.table]
        let columns = ([table.keyColumn] + table.columns).map(\.quoted).joined(separator: ", ")
        let condition =
            table.hasEntityColumn ? " WHERE \(TableLayout.entityColumn.quoted) = \(entity.name.literal)" : ""
        return "SELECT \(columns) FROM \(current(table.name).quoted)\(condition) ORDER BY \(table.keyColumn.quoted)"
    }

    // MARK: Values

    private func isOptional(_ slot: Int, _ entity: CompiledEntity) -> Bool {
        entity.keySlots.contains(slot) || map.new.model[entity.table].attributes[slot].isOptional
    }

    private func value(
        _ row: Row, _ slot: Int, _ oldSlot: Int?, _ entity: CompiledEntity, _ before: CompiledEntity,
        _ misfits: inout [Int: Int]
    ) throws -> DatabaseValue {
        let attribute = map.new.model[entity.table].attributes[slot]
        let fallback =
            isOptional(slot, entity)
            ? DatabaseValue.null
            : ColumnValue.databaseValue(attribute.defaultValue ?? .null, as: attribute.type)
        guard let oldSlot else { return fallback }
        let type = map.old.model[before.table].attributes[oldSlot].type
        let stored = try row.wholeValue(at: oldSlot + 1)
        if oldSlot == before.keySlot, TemporaryKey.isLocal(stored) {
            return slot == entity.keySlot && type == attribute.type ? stored : .null
        }
        guard let converted = MigratedValue.convert(stored, from: type, to: attribute.type) else {
            misfits[slot, default: 0] += 1
            return fallback
        }
        return converted.isNull ? fallback : converted
    }

    // MARK: Keys

    /// Returns the primary key or surrogate key of a row in its new table. NULL lets the table assign a surrogate key.
    /// Returns nil if the row has no key and none can be generated, or if another row has the same key.
    private mutating func rowKey(
        _ oldKey: DatabaseValue, _ row: Row, _ entity: CompiledEntity, _ before: CompiledEntity,
        _ values: inout [Int: DatabaseValue], _ seen: inout Set<KeyOfRow>
    ) throws -> DatabaseValue? {
        let hierarchy = map.new.model[entity.table]
        if let slot = entity.keySlot, let owner = entity.keyOwner {
            var key = values[slot] ?? .null
            if key.isNull {
                let type = hierarchy.attributes[slot].type
                guard let made = try localKey(type, seen.count) else { return nil }
                key = made
                values[slot] = key
            }
            guard seen.insert(KeyOfRow(owner: owner, key: [key.exact])).inserted else { return nil }
            if hierarchy.keySlot != nil { return key }
        } else if let key = entity.compositeKey, let owner = entity.keyOwner {
            let parts = try key.parts.map { try value(of: $0, row, entity, before, values) }
            guard !parts.contains(where: \.isNull),
                seen.insert(KeyOfRow(owner: owner, key: parts.map(\.exact))).inserted
            else { return nil }
        }
        return keys.isStable(before.table) ? oldKey : .null
    }

    /// Returns the value of one part of a composite key: an attribute value or a foreign key.
    private func value(
        of part: CompositeKey.Part, _ row: Row, _ entity: CompiledEntity, _ before: CompiledEntity,
        _ values: [Int: DatabaseValue]
    ) throws -> DatabaseValue {
        switch part {
        case .attribute(let slot): return values[slot] ?? .null
        case .relationship(let index):
            guard
                let source = map.links[entity.relationships[index].link]?.first(where: { source in
                    !source.isFlipped && map.old.model[source.link].first.table == before.table
                }), case .foreignKey(_, let column, _) = map.old[source.link]
            else { return .null }
            let key = ColumnValue.bound(try row.wholeValue(at: 0))
            let condition = "\(map.old[before.table].keyColumn.quoted) = \(key.sql)"
            let found = try Row.fetchCursor(
                db,
                sql: "SELECT \(column.quoted) FROM \(current(map.old[before.table].name).quoted) WHERE \(condition)",
                arguments: [key.value])
            return try found.next()?.wholeValue(at: 0) ?? .null
        }
    }

    /// Returns a new key for a row without a key; nil if a key of this type cannot be generated.
    private func localKey(_ type: AttributeType, _ count: Int) throws -> DatabaseValue? {
        switch type {
        case .integer: (Int64.min + 1 + Int64(count) + (1 << 40)).databaseValue
        case .string: try TemporaryKey.text(db.randomUUID()).databaseValue
        case .uuid: try db.randomUUID().uuidString.databaseValue
        default: nil
        }
    }

    // MARK: Losses

    private mutating func recordLostAttributes(of entity: CompiledEntity, preserved: Set<Int>) throws {
        let table = map.old[entity.table]
        for slot in entity.slots where !preserved.contains(slot) {
            let column = table.columns[slot]
            let condition =
                table.hasEntityColumn ? " WHERE \(TableLayout.entityColumn.quoted) = \(entity.name.literal)" : ""
            let count =
                try Int.fetchOne(
                    db, sql: "SELECT count(\(column.quoted)) FROM \(current(table.name).quoted)\(condition)") ?? 0
            let name = map.old.model[entity.table].attributes[slot].name
            lose(
                "entities.\(entity.name).attributes.\(name)", "the attribute is no longer in the model", count, "value")
        }
    }

    /// Records as lost the rows of entities that the new model does not have or declares abstract.
    private mutating func recordLostEntities() throws {
        for entity in map.old.model.entities where !entity.isAbstract {
            let successor = map.successors[entity.id].map { map.new.model.entities[$0] }
            if let successor, !successor.isAbstract { continue }
            let rows = try Row.fetchCursor(db, sql: select(entity))
            var count = 0
            while let row = try rows.next() {
                keys.recordLost(try row.wholeValue(at: 0), of: entity.table)
                count += 1
            }
            let what = successor == nil ? "the entity is no longer in the model" : "the entity is abstract now"
            lose("entities.\(entity.name)", what, count, "row")
        }
    }
}

/// Inserts rows of one entity.
private struct RowInsertion {
    private let entity: CompiledEntity
    private let table: TableLayout
    private let keySlot: Int?

    init(_ entity: CompiledEntity, _ layout: StoreLayout) {
        self.entity = entity
        table = layout[entity.table]
        keySlot = layout.model[entity.table].keySlot
    }

    /// Inserts a row, and returns its primary key or surrogate key.
    func insert(_ key: DatabaseValue, _ values: [Int: DatabaseValue], _ db: Database) throws -> DatabaseValue {
        var columns: [String] = []
        var arguments: [(sql: String, value: DatabaseValue)] = []
        if table.hasSurrogateKey, !key.isNull {
            columns.append(table.keyColumn)
            arguments.append(("?", key))
        }
        if table.hasEntityColumn {
            columns.append(TableLayout.entityColumn)
            arguments.append(("?", entity.name.databaseValue))
        }
        for (slot, value) in values.sorted(by: { $0.key < $1.key }) {
            columns.append(table.columns[slot])
            arguments.append(ColumnValue.bound(value))
        }
        let into = "INSERT INTO \(table.name.quoted)"
        let names = columns.map(\.quoted).joined(separator: ", ")
        let places = arguments.map(\.sql).joined(separator: ", ")
        let statement = try db.cachedStatement(
            sql: columns.isEmpty ? "\(into) DEFAULT VALUES" : "\(into) (\(names)) VALUES (\(places))")
        try statement.execute(arguments: StatementArguments(arguments.map(\.value)))
        return keySlot == nil ? db.lastInsertedRowID.databaseValue : key
    }
}

/// The new table and key of each row of the old tables.
struct MigratedKeys {
    /// A row of a new table.
    struct Row {
        var table: TableID
        var key: DatabaseValue
    }

    /// The new table of each old table whose rows keep their keys.
    private let stable: [TableID: TableID]
    private var moved: [TableID: [BinaryComparedValue: Row]] = [:]
    private var lost: [TableID: Set<BinaryComparedValue>] = [:]

    init(_ map: MigrationMap) {
        var stable: [TableID: TableID] = [:]
        for hierarchy in map.old.model.hierarchies {
            if let successor = Self.stableSuccessor(of: hierarchy, map) { stable[hierarchy.id] = successor }
        }
        self.stable = stable
    }

    func isStable(_ oldTable: TableID) -> Bool { stable[oldTable] != nil }

    mutating func record(_ key: DatabaseValue, of oldTable: TableID, at row: Row) {
        if stable[oldTable] == nil { moved[oldTable, default: [:]][key.exact] = row }
    }

    mutating func recordLost(_ key: DatabaseValue, of oldTable: TableID) {
        lost[oldTable, default: []].insert(key.exact)
    }

    /// Returns the new table and key of a row; nil if the row is lost.
    func row(of key: DatabaseValue, in oldTable: TableID) -> Row? {
        if lost[oldTable]?.contains(key.exact) ?? false { return nil }
        if let table = stable[oldTable] { return Row(table: table, key: key) }
        return moved[oldTable]?[key.exact]
    }

    var hasLosses: Bool { !lost.isEmpty }

    /// Returns the new table if all its rows come from this old table and keep their keys; nil otherwise.
    private static func stableSuccessor(of hierarchy: EntityHierarchy, _ map: MigrationMap) -> TableID? {
        let successors = Set(
            hierarchy.entities.compactMap { map.successors[$0] }.map { map.new.model.entities[$0].table })
        guard successors.count == 1, let id = successors.first else { return nil }
        let new = map.new.model[id]
        let sources = new.entities.compactMap { map.entities[$0] }.map { map.old.model.entities[$0].table }
        guard sources.allSatisfy({ $0 == hierarchy.id }) else { return nil }
        switch (hierarchy.keySlot, new.keySlot) {
        case (nil, nil): return id
        case (let before?, let after?):
            let isSame = map.slot(after, of: map.new.model.entities[new.root]) == before
            return isSame && hierarchy.attributes[before].type == new.attributes[after].type ? id : nil
        default: return nil
        }
    }
}

/// Converts stored values from one attribute type to another.
enum MigratedValue {
    /// Returns the column value for the new type; nil if the value does not fit that type. NULL stays NULL.
    static func convert(_ value: DatabaseValue, from old: AttributeType, to new: AttributeType) -> DatabaseValue? {
        if value.isNull || old == new { return value }
        let stored = ColumnValue.storedValue(value, as: old)
        guard !stored.isNull, let converted = Coercion.storedValue(stored.jsonForm, as: new) else { return nil }
        if isNumber(old), isNumber(new), Coercion.storedValue(converted.jsonForm, as: old) != stored { return nil }
        let column = ColumnValue.databaseValue(converted, as: new)
        return column.isNull ? nil : column
    }

    /// Returns whether a type is numeric. A number fits another numeric type only if the conversion can be reversed.
    /// For example, 2^53 + 1 does not fit a double.
    private static func isNumber(_ type: AttributeType) -> Bool {
        switch type {
        case .integer, .double, .decimal, .boolean: true
        default: false
        }
    }
}

// MARK: - Row+WholeValue

extension Row {
    /// Returns the value of a column with its complete text. GRDB's own accessors end text at the first NUL.
    ///
    /// The row must be the current row of a cursor. GRDB already shortened the texts of a copied row, such as a row of
    /// `fetchAll` or `fetchOne`.
    func wholeValue(at index: Int) throws -> DatabaseValue {
        let value: DatabaseValue = self[index]
        guard case .string = value.storage else { return value }
        return try withUnsafeData(atIndex: index) { ColumnValue.text($0) }
    }

    /// Returns the value of the first column with a name, like ``wholeValue(at:)``.
    func wholeValue(named column: String) throws -> DatabaseValue {
        let value: DatabaseValue = self[column]
        guard case .string = value.storage else { return value }
        return try withUnsafeData(named: column) { ColumnValue.text($0) }
    }
}
