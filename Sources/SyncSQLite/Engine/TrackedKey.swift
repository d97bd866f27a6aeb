import Foundation
import GRDB
import SyncCore
import SyncStore

/// What the rows of a table are known by in the engine's own tables, `k`: the key of the table.
///
/// Where that is hidden, because rows are told apart by several columns, `k` is the hidden key while a row is stored, and the
/// *name* of the row when it is not: its own key as a JSON array of all parts. SQLite gives hidden keys anew, so what is said
/// of a row that is gone must not stay under one; ``ChangeCaptureTriggers`` moves it.
struct TrackedKey: Sendable {
    let table: TableLayout
    let entity: CompiledEntity
    let type: KeyType
    private let columns: KeyColumns
    private let model: CompiledModel
    /// How values of the parts are written otherwise, by their places.
    private let conversions: [Int: (ValueConversion, AttributeType)]

    /// Nil for a keyless entity.
    init?(_ entity: CompiledEntity, _ layout: StoreLayout, formats declared: SyncModel? = nil) {
        guard let columns = KeyColumns(entity, layout) else { return nil }
        self.entity = entity
        self.columns = columns
        table = layout[entity.table]
        type = columns.type
        model = layout.model
        let attributes = layout.model[entity.table].attributes
        let parts = entity.keySlot.map { [.attribute($0)] } ?? entity.compositeKey?.parts ?? []
        var conversions: [Int: (ValueConversion, AttributeType)] = [:]
        for (place, part) in parts.enumerated() {
            guard case .attribute(let slot) = part, let found = declared?.conversion(of: attributes[slot]) else {
                continue
            }
            conversions[place] = (found, attributes[slot].type)
        }
        self.conversions = conversions
    }

    var isHidden: Bool { table.hasHiddenKey }
    /// Whether a new row has its key from whoever made it.
    var hasParts: Bool { columns.isComposite }
    /// The columns that a row is told apart by.
    var ownColumns: [String] { isHidden ? columns.columns : [table.keyColumn] }

    // MARK: From what the service says

    /// The key of an entity that JSON is; nil if it is none.
    func rowKey(_ id: JSONValue) -> RowKey? {
        guard !conversions.isEmpty else { return model.rowKey(id, of: entity) }
        return model.rowKey(
            converting(id) { conversion, value, _ in conversion.storedValue(value)?.jsonForm }, of: entity)
            ?? model.rowKey(id, of: entity)
    }

    /// The parts as something else makes of them, those that have a form of their own.
    private func converting(
        _ id: JSONValue, _ convert: (ValueConversion, JSONValue, AttributeType) -> JSONValue?
    ) -> JSONValue {
        func part(_ place: Int, _ value: JSONValue) -> JSONValue {
            conversions[place].flatMap { convert($0.0, value, $0.1) } ?? value
        }
        guard hasParts else { return part(0, id) }
        guard case .array(let parts) = id else { return id }
        return .array(parts.enumerated().map { part($0.offset, $0.element) })
    }

    /// What the row of an id is known by; nil for what is no key.
    func k(of id: JSONValue, in db: Database) throws -> DatabaseValue? {
        try rowKey(id).flatMap { try k(of: $0, in: db) }
    }

    func k(of key: RowKey, in db: Database) throws -> DatabaseValue? {
        guard isHidden else { return key.databaseValue }
        guard let leaves = columns.bound(key) else { return nil }
        let values = leaves.map(\.sql)
        let condition = columns.condition(of: "r", equals: values)
        return try DatabaseValue.fetchOne(
            db.cachedStatement(
                sql: """
                    SELECT coalesce((SELECT r.\(table.keyColumn.quoted) FROM \(table.name.quoted) AS r WHERE \(condition)),
                      json_array(\(values.joined(separator: ", "))))
                    """),
            arguments: StatementArguments((leaves + leaves).map(\.value)))
    }

    // MARK: To what the service is told

    /// The key of a row as an export writes it; nil for one that is not stored and has no name.
    func json(_ k: DatabaseValue, in db: Database) throws -> JSONValue? {
        let id = try recordKey(k, in: db)?.json
        guard let id, !conversions.isEmpty else { return id }
        return converting(id) { conversion, value, type in
            Coercion.storedValue(value, as: type).flatMap { conversion.json($0) }
        }
    }

    /// The key of a row as a result reports it; nil for one that is not stored and has no name.
    func recordKey(_ k: DatabaseValue, in db: Database) throws -> PrimaryKeyValue? {
        guard isHidden else { return RowKey(k)?.recordKey(type) }
        if case .string(let name) = k.storage { return rowKey(id(named: name))?.recordKey(type) }
        let row = try Row.fetchOne(
            db.cachedStatement(
                sql: """
                    SELECT \(columns.expressions(of: "r").joined(separator: ", ")) FROM \(table.name.quoted) AS r
                    WHERE r.\(table.keyColumn.quoted) = ?
                    """), arguments: [k])
        guard let row else { return nil }
        return columns.isComposite
            ? try columns.recordKey(row, at: 0) : try RowKey(row.wholeValue(at: 0))?.recordKey(type)
    }

    /// What the columns of a row with this key hold.
    ///
    /// - Throws: ``SyncError`` `rowNotFound` if a part is the key of a row that is not stored.
    func values(of key: RowKey, in db: Database) throws -> [(column: String, value: DatabaseValue)] {
        Array(zip(columns.columns, try columns.values(of: key, entity: entity.name, in: db)))
            .map { (column: $0, value: $1) }
    }

    /// The parts in their places: a name has all of them in one list.
    private func id(named name: String) -> JSONValue {
        guard case .array(let leaves)? = try? JSONValue(parsing: name) else { return .null }
        var rest = leaves[...]
        return columns.isComposite ? columns.nested(&rest) : rest.first ?? .null
    }

    // MARK: SQL

    /// The condition that a row `r` has a key that was made here, to be replaced by the server's.
    var isLocal: String {
        guard case .single(let type) = type, let column = ownColumns.first else { return "0" }
        let key = "r.\(column.quoted)"
        return type == .integer
            ? "typeof(\(key)) = 'integer' AND \(key) < \(TemporaryKey.integerBound)"
            : "typeof(\(key)) = 'text' AND \(SQLiteDialect().isLocalKey(key))"
    }

    /// The name of a stored row.
    func name(of row: String) -> String { "json_array(\(columns.expressions(of: row).joined(separator: ", ")))" }

    /// The condition that a stored row has a name.
    func condition(of row: String, isNamed name: String) -> String {
        columns.condition(of: row, equals: columns.leaves.indices.map { "json_extract(\(name), '$[\($0)]')" })
    }

    /// Notes the name of a row that is known.
    func insertName(_ k: DatabaseValue, _ number: Int, in db: Database) throws {
        guard isHidden else { return }
        try db.cachedStatement(
            sql: """
                UPDATE sync_known SET name = coalesce(
                  (SELECT \(name(of: "r")) FROM \(table.name.quoted) AS r WHERE r.\(table.keyColumn.quoted) = sync_known.k),
                  sync_known.k)
                WHERE e = ? AND k = ? AND name IS NULL
                """
        ).execute(arguments: [number, k])
    }
}

extension KeyColumns {
    /// The leaves of a key in their places: those of another row's key in a list of their own.
    fileprivate func nested(_ leaves: inout ArraySlice<JSONValue>) -> JSONValue {
        .array(
            parts.map { part in
                if case .target(_, let key) = part, key.isComposite { return key.nested(&leaves) }
                return leaves.popFirst() ?? .null
            })
    }
}
