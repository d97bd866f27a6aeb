import GRDB
import SyncCore

/// Derives entities from existing tables.
struct IntrospectedEntities {
    private let tables: [ExistingTable]
    private let excludedColumns: [String: Set<String>]
    private var names = IntrospectedNames()
    /// The entity of each table.
    private var entities: [String: SyncModel.Entity] = [:]
    private var oneWays: [OneWay] = []
    /// The key columns of each table.
    private(set) var keyColumns: [String: Set<String>] = [:]
    /// The tables that are neither entities nor join tables.
    private(set) var unfit: Set<String> = []
    private(set) var notes: [(path: String, message: String, sql: String?)] = []

    init(_ tables: [ExistingTable], _ excluded: [String: Set<String>]) {
        self.tables = tables
        self.excludedColumns = excluded
    }

    /// Returns the entities, in the order of the tables; none if a table has no key.
    mutating func entities(_ db: Database) throws -> [SyncModel.Entity] {
        let joins = tables.filter(isJoinTable)
        let rows = tables.filter { table in !joins.contains { $0.name == table.name } }
        for table in rows {
            guard let key = key(of: table) else {
                unfit.insert(table.name)
                notes.append(
                    ("tables.\(table.name)", "the table is excluded: it has no primary key", nil))
                continue
            }
            keyColumns[table.name] = Set(key.map(\.foldedForSQL))
            let name = names.entity(of: table.name)
            entities[table.name] = SyncModel.Entity(name, table: name == table.name ? nil : table.name)
        }
        guard unfit.isEmpty else { return [] }
        for table in rows { try addMembers(of: table, db) }
        for link in oneWays { addInverse(link) }
        for table in joins { addManyToMany(table) }
        for table in rows {
            for key in table.foreignKeys where key.columns.count > 1 {
                notes.append(
                    (
                        "tables.\(table.name).\(key.columns.joined(separator: ", "))",
                        "the foreign key to \(key.table) is not a relationship: it has several columns", nil
                    ))
            }
        }
        return rows.compactMap { entities[$0.name] }
    }

    /// Returns the columns of the primary key, or of a unique key that is never NULL; nil if there is neither.
    private func key(of table: ExistingTable) -> [String]? {
        if !table.primaryKey.isEmpty { return table.primaryKey }
        return table.uniqueKeys.first { key in key.allSatisfy { table.column($0)?.isNotNull ?? false } }
    }

    // MARK: Members

    private mutating func addMembers(of table: ExistingTable, _ db: Database) throws {
        guard let key = key(of: table), let entity = entities[table.name]?.name else { return }
        var parts: [String: String] = [:]
        for column in table.columns where !column.isGenerated {
            if excludedColumns[table.name]?.contains(column.name.foldedForSQL) ?? false { continue }
            let isKey = key.count == 1 && key[0] == column.name
            if !isKey, let target = target(of: column, table) {
                parts[column.name] = addRelationship(column, table, to: target, isPart: key.contains(column.name))
                continue
            }
            if !isKey, let note = try addNote(onForeignKeyOf: column, table, db) { notes.append(note) }
            let name = names.member(IntrospectedNames.plain(column.name), of: entity)
            let type = Self.type(of: column, isKey: key.contains(column.name))
            let isOptional = !column.isNotNull && !key.contains(column.name)
            entities[table.name]?.attributes.append(
                SyncModel.Attribute(
                    name, type, isOptional: isOptional,
                    defaultValue: isOptional || key.contains(column.name)
                        ? nil : try Self.defaultValue(of: column, type, db),
                    column: name == column.name ? nil : column.name))
            parts[column.name] = name
        }
        let members = key.compactMap { parts[$0] }
        if members != ["id"] { entities[table.name]?.primaryKey = SyncModel.PrimaryKey(members) }
    }

    /// Returns the attribute type for the declared type of a column.
    private static func type(of column: ExistingTable.Column, isKey: Bool) -> AttributeType {
        let declared = column.declaredType.uppercased()
        if declared.contains("BOOL") { return .boolean }
        if declared.contains("DATE") || declared.contains("TIME") { return .date }
        if declared.contains("UUID") { return .uuid }
        if declared.contains("JSON") { return .json }
        switch column.affinity {
        case .integer: return .integer
        case .real: return .double
        case .text: return .string
        case .none: return !isKey ? .binary : declared.isEmpty ? .string : .uuid
        case .numeric: return declared.contains("DEC") || declared.contains("NUM") ? .decimal : .string
        }
    }

    /// Returns the default value of a column if it is a literal; nil otherwise.
    private static func defaultValue(
        of column: ExistingTable.Column, _ type: AttributeType, _ db: Database
    ) throws -> StoredValue? {
        guard let sql = column.defaultValue, let first = sql.uppercased().first else { return nil }
        let isWord = ["TRUE", "FALSE"].contains(sql.uppercased())
        guard isWord || first == "'" || first == "-" || first.isNumber, SQLTokens(sql).texts.count <= 2 else {
            return nil
        }
        let value = try DatabaseValue.fetchOne(db, sql: "SELECT \(sql)") ?? .null
        let stored = ColumnValue.storedValue(value, as: type)
        return stored == .null ? nil : stored
    }

    // MARK: Relationships

    /// Returns the table that a column references if the foreign key can be a relationship; nil otherwise.
    private func target(of column: ExistingTable.Column, _ table: ExistingTable) -> (
        table: ExistingTable, key: ExistingTable.ForeignKey
    )? {
        guard let key = table.foreignKey(of: column.name), ["CASCADE", "SET NULL", "NO ACTION"].contains(key.onDelete),
            let target = tables.first(where: { $0.name.foldedForSQL == key.table.foldedForSQL }),
            let wanted = self.key(of: target), wanted.count == 1,
            entities[target.name] != nil || isJoinTable(table)
        else { return nil }
        let leadsTo = key.targets.isEmpty ? target.primaryKey : key.targets
        return leadsTo.map(\.foldedForSQL) == wanted.map(\.foldedForSQL) ? (target, key) : nil
    }

    /// Returns a note that explains why a foreign key is not a relationship, with SQL that makes it a relationship if
    /// that is possible. Returns nil if there is nothing to report.
    private func addNote(
        onForeignKeyOf column: ExistingTable.Column, _ table: ExistingTable, _ db: Database
    ) throws -> (path: String, message: String, sql: String?)? {
        guard let key = table.foreignKey(of: column.name),
            let target = tables.first(where: { $0.name.foldedForSQL == key.table.foldedForSQL }),
            entities[target.name] != nil, let wanted = self.key(of: target)
        else { return nil }
        let path = "tables.\(table.name).\(column.name)"
        let subject = "the foreign key to \(target.name) is not a relationship, and the column becomes an attribute"
        guard wanted.count == 1 else { return (path, "\(subject): \(target.name) has a composite key", nil) }
        let leadsTo = key.targets.isEmpty ? target.primaryKey : key.targets
        guard leadsTo.map(\.foldedForSQL) == wanted.map(\.foldedForSQL) else {
            return (
                path, "\(subject): it references \(leadsTo.joined(separator: ", ")), not the key \(wanted[0])", nil
            )
        }
        guard key.onDelete == "RESTRICT", var definition = TableDefinition(table.sql) else {
            return nil
        }
        definition.setReferences(
            "REFERENCES \(target.name.quoted) (\(wanted[0].quoted)) ON UPDATE CASCADE DEFERRABLE INITIALLY DEFERRED",
            of: column.name)
        return (
            path, "\(subject): ON DELETE RESTRICT rejects deletions of a sync",
            try TableRebuild(table, definition, [], db).sql
        )
    }

    /// A relationship without an inverse. Inverses get their names last, when all relationships of foreign key columns
    /// have names.
    private struct OneWay {
        let table: ExistingTable
        let index: Int
        let column: ExistingTable.Column
        let target: ExistingTable
        let key: ExistingTable.ForeignKey
        let isPart: Bool
    }

    private mutating func addRelationship(
        _ column: ExistingTable.Column, _ table: ExistingTable,
        to target: (table: ExistingTable, key: ExistingTable.ForeignKey),
        isPart: Bool
    ) -> String {
        guard let here = entities[table.name], let there = entities[target.table.name] else { return "" }
        let name = names.member(IntrospectedNames.relationship(of: column.name), of: here.name)
        oneWays.append(
            OneWay(
                table: table, index: here.relationships.count, column: column, target: target.table, key: target.key,
                isPart: isPart))
        entities[table.name]?.relationships.append(
            SyncModel.Relationship(
                name, to: there.name, isOptional: !column.isNotNull,
                column: column.name == "\(name)ID" ? nil : column.name))
        return name
    }

    private mutating func addInverse(_ link: OneWay) {
        guard let here = entities[link.table.name], let there = entities[link.target.name]?.name else { return }
        let name = here.relationships[link.index].name
        let isOnly = link.table.isUnique([link.column.name])
        let others = link.table.foreignKeys.filter { $0.table.foldedForSQL == link.key.table.foldedForSQL }.count
        let inverse = names.member(
            IntrospectedNames.inverse(of: link.table.name, isMany: !isOnly, via: others > 1 ? name : nil), of: there)
        let isNeeded = link.column.isNotNull && !link.isPart
        let rule: SyncModel.DeleteRule = link.key.onDelete == "CASCADE" ? .cascade : isNeeded ? .deny : .nullify
        entities[link.table.name]?.relationships[link.index].inverse = inverse
        entities[link.target.name]?.relationships.append(
            SyncModel.Relationship(inverse, to: here.name, many: !isOnly, inverse: name, deleteRule: rule))
    }

    // MARK: Join tables

    /// Returns whether a table has two foreign key columns that are unique together, and no other column except a
    /// rowid. Their `ON DELETE` action must be `CASCADE` or `NO ACTION`.
    private func isJoinTable(_ table: ExistingTable) -> Bool {
        let columns = table.columns.filter { $0.name != table.rowIDColumn }
        let actions = columns.map { table.foreignKey(of: $0.name)?.onDelete }
        return columns.count == 2 && table.isUnique(columns.map(\.name))
            && actions.allSatisfy { $0 == "CASCADE" || $0 == "NO ACTION" }
    }

    private mutating func addManyToMany(_ table: ExistingTable) {
        let columns = table.columns.filter { $0.name != table.rowIDColumn }
        let targets = columns.compactMap { target(of: $0, table)?.table.name }
        guard targets.count == 2, let first = entities[targets[0]]?.name, let second = entities[targets[1]]?.name else {
            unfit.insert(table.name)
            notes.append(("tables.\(table.name)", "the table is excluded: a table that it joins is excluded", nil))
            return
        }
        let isReflexive = first == second
        let name = names.member(
            isReflexive
                ? IntrospectedNames.inverse(of: table.name, isMany: true, via: nil)
                : IntrospectedNames.inverse(of: targets[1], isMany: true, via: nil), of: first)
        let inverse = names.member(
            isReflexive ? name + "Inverse" : IntrospectedNames.inverse(of: targets[0], isMany: true, via: nil),
            of: second)
        entities[targets[0]]?.relationships.append(
            SyncModel.Relationship(
                name, to: second, many: true, inverse: inverse, table: table.name, column: columns[1].name,
                inverseColumn: columns[0].name))
        entities[targets[1]]?.relationships.append(
            SyncModel.Relationship(inverse, to: first, many: true, inverse: name))
    }
}
