import GRDB
public import SyncCore
import SyncStore

/// A row as a value of its type, with the columns that it was read from. Rows are compared by these columns.
struct TypedRow<Value: EntityRecord>: ObservedListItem {
    let element: Value
    let identity: ListedRowIdentity
    fileprivate let cells: [BinaryComparedValue]

    static func == (left: TypedRow, right: TypedRow) -> Bool {
        left.identity == right.identity && left.cells == right.cells
    }
}

/// Reads the rows of an entity as values of a Swift type, with the rows of some relationships.
struct TypedRows<Value: EntityRecord>: Sendable {
    private let stack: DataStack
    private let loaded: [LoadedRelationship]
    /// Called with each unreadable row, which is then left out; nil if such a row is an error.
    private let skip: (@Sendable (UnreadableRow) -> Void)?

    /// - Throws: ``SyncError`` `unknownRelationship`.
    init(
        _ type: Value.Type, _ stack: DataStack, _ relationships: [PartialKeyPath<Value>],
        skipping skip: (@Sendable (UnreadableRow) -> Void)? = nil
    ) throws {
        self.stack = stack
        self.skip = skip
        var loaded: [LoadedRelationship] = []
        for path in relationships {
            guard let properties = Value.properties(along: path), loaded.add(properties[...]) else {
                throw SyncError(
                    .unknownRelationship, "\(path) is not a relationship of \(Value.entityName)",
                    entity: Value.entityName)
            }
        }
        self.loaded = loaded
    }

    func fetch(
        _ predicate: RowPredicate, _ order: RowOrder, _ limit: Int?, _ db: Database
    ) throws -> [TypedRow<Value>] {
        let (select, rest, arguments) = try stack.selection(
            of: stack.model.compiled.entity(named: Value.entityName), where: predicate, orderedBy: order, limit: limit,
            in: db)
        return try fetch(select, rest, arguments, db)
    }

    func fetch(id: some AttributeValue, _ db: Database) throws -> TypedRow<Value>? {
        let entity = try stack.model.compiled.keyedEntity(named: Value.entityName)
        guard let key = stack.model.compiled.rowKey(id.storedValue.jsonForm, of: entity),
            let (condition, arguments) = try stack.condition(key, of: entity, in: db)
        else { return nil }
        let select = RecordSQL(entity, stack.layout)
        return try fetch(select, "FROM \(select.from) WHERE \(condition)", arguments, db).first
    }

    private func fetch(
        _ select: RecordSQL, _ rest: String, _ arguments: StatementArguments, _ db: Database
    ) throws -> [TypedRow<Value>] {
        SQLFunctionInstaller.install(in: db)
        let columns = Self.columns(of: select)
        let statement = try db.makeStatement(sql: "SELECT \(columns) \(rest)")
        var rows: [DecodedRow<Value>] = []
        try forEachRow(of: statement, arguments) { row, cells in
            rows.append(try decoded(Value.self, row, cells, select.entity, db))
        }
        try load(loaded, into: &rows, select.entity, db)
        return try rows.compactMap { row in
            guard let value = fetched(row) else { return nil }
            let specific = try row.kind.map { try stack.model.compiled.entity(named: $0) } ?? select.entity
            return TypedRow(
                element: value, identity: ListedRowIdentity(specific, rowKey: row.key), cells: row.cells.map(\.exact))
        }
    }

    /// Calls `body` with each row of a query, and with its columns. GRDB shortens the texts of copied rows, so `body`
    /// decodes the row.
    private func forEachRow(
        of statement: Statement, _ arguments: StatementArguments, _ body: (Row, [DatabaseValue]) throws -> Void
    ) throws {
        let cursor = try Row.fetchCursor(statement, arguments: arguments)
        let columns = StatementColumns(statement)
        while let row = try cursor.next() { try body(row, (0..<columns.count).map { columns.wholeValue(at: $0) }) }
    }

    private func decoded<Record: EntityRecord>(
        _ type: Record.Type, _ row: Row, _ cells: [DatabaseValue], _ entity: CompiledEntity, _ db: Database
    ) throws -> DecodedRow<Record> {
        let key = try row.wholeValue(named: "sync_row")
        let value = try readable(type, row, key, entity, db)
        return DecodedRow(value: value, key: key, kind: row[TableLayout.entityColumn], cells: cells)
    }

    /// Loads the rows of relationships. The rows of a relationship are read together for all rows, level by level.
    private func load<Record: EntityRecord>(
        _ loaded: [LoadedRelationship], into rows: inout [DecodedRow<Record>], _ entity: CompiledEntity, _ db: Database
    ) throws {
        let indexes = rows.indices.filter { rows[$0].value != nil }
        let keys = indexes.map { rows[$0].key }
        for relationship in loaded {
            let found = try related(relationship.destination, of: keys, relationship, entity, db)
            for (index, key) in zip(indexes, keys) {
                let targets = found[key.exact] ?? []
                rows[index].cells.append(targets.count.databaseValue)
                for target in targets { rows[index].cells += target.cells }
                rows[index].value?.setRelated(targets.compactMap(\.value), for: relationship.name)
            }
        }
    }

    /// Reads and decodes the related rows of rows, in the order of the relationship.
    ///
    /// - Parameter keys: The keys of the rows.
    /// - Returns: The related rows of each row, by its key.
    private func related<Record: EntityRecord>(
        _ type: Record.Type, of keys: [DatabaseValue], _ relationship: LoadedRelationship, _ entity: CompiledEntity,
        _ db: Database
    ) throws -> [BinaryComparedValue: [DecodedRow<any EntityRecord>]] {
        guard let compiled = entity.relationship(named: relationship.name) else {
            throw SyncError.unknownRelationship(relationship.name, of: entity)
        }
        let target = TargetSQL(compiled, of: entity, stack.layout)
        let columns = "\(Self.columns(of: target.select)), \(target.ownerKey) AS \("sync_owner".quoted)"
        let rest = try target.restOfSeveral
        var seen: Set<BinaryComparedValue> = []
        var rows: [DecodedRow<Record>] = []
        var owners: [DatabaseValue] = []
        for list in KeyList.lists(of: keys.filter { seen.insert($0.exact).inserted }) {
            let statement = try db.cachedStatement(
                sql: "SELECT \(columns) \(rest.before)(\(list.placeholders))\(rest.after)")
            try forEachRow(of: statement, list.arguments) { row, cells in
                rows.append(try decoded(type, row, cells, target.select.entity, db))
                owners.append(try row.wholeValue(named: "sync_owner"))
            }
        }
        try load(relationship.loaded, into: &rows, target.select.entity, db)
        var found: [BinaryComparedValue: [DecodedRow<any EntityRecord>]] = [:]
        for (row, owner) in zip(rows, owners) {
            found[owner.exact, default: []].append(
                DecodedRow(value: fetched(row), key: row.key, kind: row.kind, cells: row.cells))
        }
        return found
    }

    /// Returns the value of a row whose related rows are loaded. The value knows that it was fetched.
    private func fetched<Record: EntityRecord>(_ row: DecodedRow<Record>) -> Record? {
        guard let value = row.value else { return nil }
        value.syncFetchedRow.setFetched(value, in: stack.identity)
        return value
    }

    /// Decodes a row. If the row is unreadable, calls `skip` and returns nil, or throws if `skip` is nil.
    private func readable<Record: EntityRecord>(
        _ type: Record.Type, _ row: Row, _ rowKey: DatabaseValue, _ entity: CompiledEntity, _ db: Database
    ) throws -> Record? {
        do {
            return try Record(row: row)
        } catch var error as SyncError where error.code == .typeMismatch {
            guard let record = try RecordSQL(entity, stack.layout).fetch(db, rowKey: rowKey) else { throw error }
            guard let skip else {
                error.message += " (in the row \(record.key))"
                throw error
            }
            skip(UnreadableRow(entity: record.entity, key: record.key, error: error))
            return nil
        }
    }

    /// Returns the selected columns: the keys of related rows that the table has not, its own columns, and the row key.
    ///
    /// GRDB reads the first of several columns with one name.
    private static func columns(of select: RecordSQL) -> String {
        let keys = select.entity.relationships.compactMap { RelatedKeySQL($0, select)?.column }
        let own = "\(SchemaSQL.quoted(RecordSQL.alias)).*"
        return (keys + [own, "\(select.rowKey) AS \("sync_row".quoted)"]).joined(separator: ", ")
    }
}

/// A decoded row. Its value is nil if the row is left out.
private struct DecodedRow<Value> {
    var value: Value?
    let key: DatabaseValue
    /// The name of the row's entity; nil if the table has rows of one entity only.
    let kind: String?
    /// The columns of the row and of its related rows.
    var cells: [DatabaseValue]
}

/// The key of the row that a to-one relationship leads to, if the foreign key column in the table of the entity does not
/// have it.
private struct RelatedKeySQL {
    /// The selected column, with the name that a Swift type reads.
    let column: String

    /// Returns nil if a column of the table has the key.
    init?(_ relationship: CompiledRelationship, _ select: RecordSQL) {
        guard !relationship.isToMany, case .foreignKey(_, let column, _) = select.layout[relationship.link] else {
            return nil
        }
        let destination = select.layout.model.entities[relationship.destination]
        let target = select.layout[destination.table]
        let key = destination.keySlot.map { target.columns[$0] } ?? target.keyColumn
        if relationship.end == .first, key == target.keyColumn { return nil }
        let (there, here) =
            relationship.end == .first ? (target.keyColumn, select.column(column)) : (column, select.rowKey)
        let rows = "\(target.name.quoted) AS \("t".quoted) WHERE \("t".quoted).\(there.quoted) = \(here)"
        let name = relationship.end == .first ? column : relationship.relationship.keyColumn
        self.column = "(SELECT \("t".quoted).\(key.quoted) FROM \(rows)) AS \(name.quoted)"
    }
}

/// A relationship whose rows are loaded, and the relationships of these rows that are loaded.
private struct LoadedRelationship: Sendable {
    let name: String
    let destination: any EntityRecord.Type
    var loaded: [LoadedRelationship] = []
}

extension [LoadedRelationship] {
    /// Adds consecutive relationships. Returns false if one of the properties is not a relationship.
    fileprivate mutating func add(_ properties: ArraySlice<SyncProperty>) -> Bool {
        guard let first = properties.first else { return true }
        guard let destination = first.destination as? any EntityRecord.Type else { return false }
        let index = firstIndex { $0.name == first.name } ?? count
        if index == count { append(LoadedRelationship(name: first.name, destination: destination)) }
        return self[index].loaded.add(properties.dropFirst())
    }
}

/// A stored row that does not fit a Swift type, for example because an enumeration has no case for a stored value.
public struct UnreadableRow: Sendable, Hashable {
    /// The entity of the row.
    package let entity: String
    /// The key of the row.
    public let key: PrimaryKeyValue
    /// The error that describes why the row does not fit the type. If the type is an ``EntityRecord``,
    /// ``SyncError/path`` is the name of the column whose value does not fit.
    public let error: SyncError
}
