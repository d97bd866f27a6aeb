import Foundation
import GRDB
import SyncCore
import SyncStore

/// The key `k` of a row in the engine's tables, which is the key of the row in its own table.
///
/// With a surrogate key, `k` is the surrogate key while the row is stored. When the row is not stored, `k` is its
/// *name*: its primary key as a JSON array of all parts. If no name is recorded, `k` is a placeholder. SQLite may reuse
/// surrogate keys, so entries of a deleted row must not stay under its surrogate key. ``ChangeCaptureTriggers`` moves
/// them to the name. Base values and sent values of references to the row then have the name too.
struct TrackedKey: Sendable {
    let table: TableLayout
    let entity: CompiledEntity
    let type: KeyType
    private let columns: KeyColumns
    private let model: CompiledModel
    /// The conversions of key parts that have another form in JSON, by index.
    private let conversions: [Int: (ValueConversion, AttributeType)]

    /// Returns nil for a keyless entity.
    init?(_ entity: CompiledEntity, _ layout: StoreLayout, formats declared: SyncModel? = nil) {
        guard let columns = KeyColumns(entity, layout) else { return nil }
        (self.entity, self.columns) = (entity, columns)
        table = layout[entity.table]
        type = columns.type
        model = layout.model
        let attributes = layout.model[entity.table].attributes
        let parts = entity.keySlot.map { [.attribute($0)] } ?? entity.compositeKey?.parts ?? []
        var conversions: [Int: (ValueConversion, AttributeType)] = [:]
        for (position, part) in parts.enumerated() {
            guard case .attribute(let slot) = part, let found = declared?.conversion(of: attributes[slot]) else {
                continue
            }
            conversions[position] = (found, attributes[slot].type)
        }
        self.conversions = conversions
    }

    var isSurrogate: Bool { table.hasSurrogateKey }
    /// Whether the key is composite. The service does not assign composite keys.
    var hasParts: Bool { columns.isComposite }
    var ownColumns: [String] { isSurrogate ? columns.columns : [table.keyColumn] }

    // MARK: Keys from IDs

    /// Returns the key that an ID identifies; nil if the ID is not a valid key.
    func rowKey(_ id: JSONValue) -> RowKey? {
        guard !conversions.isEmpty else { return model.rowKey(id, of: entity) }
        return model.rowKey(
            converting(id) { conversion, value, _ in conversion.storedValue(value)?.jsonForm }, of: entity)
            ?? model.rowKey(id, of: entity)
    }

    /// Returns an ID whose parts are converted. Parts that have no conversion, or cannot be converted, stay unchanged.
    private func converting(
        _ id: JSONValue, _ convert: (ValueConversion, JSONValue, AttributeType) -> JSONValue?
    ) -> JSONValue {
        func part(_ position: Int, _ value: JSONValue) -> JSONValue {
            conversions[position].flatMap { convert($0.0, value, $0.1) } ?? value
        }
        guard hasParts else { return part(0, id) }
        guard case .array(let parts) = id else { return id }
        return .array(parts.enumerated().map { part($0.offset, $0.element) })
    }

    /// Returns an ID that may come from a URL, where a number is text: a number if the key is an integer and the text is
    /// one; otherwise the ID unchanged.
    func typed(_ id: JSONValue) -> JSONValue {
        guard type == .single(.integer), conversions.isEmpty, case .string(let text) = id,
            case .integer(let number)? = rowKey(id), text == "\(number)"
        else { return id }
        return .number(text)
    }

    /// Returns the key of a row in the engine's tables; nil if the ID is not a valid key.
    func engineKey(of id: JSONValue, in db: Database) throws -> DatabaseValue? {
        try rowKey(id).flatMap { try engineKey(of: $0, in: db) }
    }

    func engineKey(of key: RowKey, in db: Database) throws -> DatabaseValue? {
        guard isSurrogate else { return key.databaseValue }
        guard let leaves = columns.bound(key) else { return nil }
        let values = leaves.map(\.sql)
        let condition = columns.condition(of: "r", equals: values)
        return try db.value(
            """
            SELECT coalesce((SELECT r.\(table.keySQL) FROM \(table.sql) AS r WHERE \(condition)),
              json_array(\(values.joined(separator: ", "))))
            """, StatementArguments((leaves + leaves).map(\.value)))
    }

    /// Returns the key of a referenced row in the engine's tables. A row that was not stored is given by its name or by
    /// its primary key, as in base values and pending references.
    func engineKey(ofReference value: DatabaseValue, in db: Database) throws -> DatabaseValue {
        guard isSurrogate, case .string = value.storage, let key = RowKey(value) else { return value }
        if let current = try engineKey(of: key, in: db) { return current }
        return try recordKey(value, in: db).flatMap { try engineKey(of: RowKey($0, type), in: db) } ?? value
    }

    // MARK: IDs from keys

    /// Returns the primary key of a row as an export writes it. Nil for the surrogate key of a row that is not stored,
    /// and for a name that is not a valid key.
    func json(_ k: DatabaseValue, in db: Database) throws -> JSONValue? {
        let id = try recordKey(k, in: db)?.json
        guard let id, !conversions.isEmpty else { return id }
        return converting(id) { conversion, value, type in
            Coercion.storedValue(value, as: type).flatMap { conversion.json($0) }
        }
    }

    /// Returns the primary key of a row as a result reports it. Nil for the surrogate key of a row that is not stored,
    /// and for a name that is not a valid key.
    func recordKey(_ k: DatabaseValue, in db: Database) throws -> PrimaryKeyValue? {
        guard isSurrogate else { return RowKey(k)?.recordKey(type) }
        if case .string(let name) = k.storage { return rowKey(id(named: name))?.recordKey(type) }
        let row = try db.row(
            """
            SELECT \(columns.expressions(of: "r").joined(separator: ", ")) FROM \(table.sql) AS r
            WHERE r.\(table.keySQL) = ?
            """, k)
        guard let row else { return nil }
        return columns.isComposite
            ? try columns.recordKey(row, at: 0) : RowKey(row[0])?.recordKey(type)
    }

    /// Returns the values of the key columns for a key. Throws ``SyncError`` `rowNotFound` if a part is the key of a
    /// row that is not stored; `typeMismatch` if the key is not of this type.
    func values(of key: RowKey, in db: Database) throws -> [(column: String, value: DatabaseValue)] {
        Array(zip(columns.columns, try columns.values(of: key, entity: entity.name, in: db)))
            .map { (column: $0, value: $1) }
    }

    /// Returns the ID with this name; null if the name is not a JSON array. A name has the parts of nested keys in one
    /// array.
    private func id(named name: String) -> JSONValue {
        guard case .array(let leaves)? = try? JSONValue(parsing: name) else { return .null }
        var rest = leaves[...]
        return columns.isComposite ? columns.nested(&rest) : rest.first ?? .null
    }

    // MARK: SQL

    /// The SQL condition that a row `r` has a temporary key. It is false for composite keys.
    var isLocal: String {
        guard case .single(let type) = type, let column = ownColumns.first else { return "0" }
        let key = "r.\(column.quoted)"
        return type == .integer
            ? "typeof(\(key)) = 'integer' AND \(key) < \(TemporaryKey.integerBound)"
            : "typeof(\(key)) = 'text' AND \(SQLiteDialect().isLocalKey(key))"
    }

    /// Returns the SQL of the name of a stored row.
    func name(of row: String) -> String { "json_array(\(columns.expressions(of: row).joined(separator: ", ")))" }

    /// Returns the SQL condition that a stored row has a given name.
    func condition(of row: String, isNamed name: String) -> String {
        columns.condition(of: row, equals: columns.leaves.indices.map { "json_extract(\(name), '$[\($0)]')" })
    }
}

/// A row by its entity and its key in the engine's tables.
struct TrackedRow: Hashable {
    /// The number of the entity.
    let table: Int
    private let exact: BinaryComparedValue

    var key: DatabaseValue { exact.value }

    init(_ table: TrackedTable, _ key: DatabaseValue) { (self.table, exact) = (table.number, key.exact) }
}

extension KeyColumns {
    /// Returns key parts in the structure of the key. The parts of a referenced row's composite key form a nested
    /// array.
    fileprivate func nested(_ leaves: inout ArraySlice<JSONValue>) -> JSONValue {
        .array(
            parts.map { part in
                if case .target(_, let key) = part, key.isComposite { return key.nested(&leaves) }
                return leaves.popFirst() ?? .null
            })
    }
}
