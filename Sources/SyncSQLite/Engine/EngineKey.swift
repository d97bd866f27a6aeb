import Foundation
import GRDB
import SyncCore
import SyncStore

/// What the rows of a table are known by in the engine's own tables, `k`: the key of the table.
///
/// Where that is hidden, because rows are told apart by several columns, `k` is the hidden key while a row is stored, and the
/// *name* of the row when it is not: its own key as a JSON array of all parts. SQLite gives hidden keys anew, so what is said
/// of a row that is gone must not stay under one; ``OutboxTriggers`` moves it.
struct EngineKey: Sendable {
    let table: TableLayout
    let entity: CompiledEntity
    let type: KeyType
    private let columns: KeyColumns
    private let model: CompiledModel

    /// Nil for a keyless entity.
    init?(_ entity: CompiledEntity, _ layout: StoreLayout) {
        guard let columns = KeyColumns(entity, layout) else { return nil }
        self.entity = entity
        self.columns = columns
        table = layout[entity.table]
        type = columns.type
        model = layout.model
    }

    var isHidden: Bool { table.hasHiddenKey }
    /// Whether a new row has its key from whoever made it.
    var hasParts: Bool { columns.isComposite }
    /// The columns that a row is told apart by.
    var ownColumns: [String] { isHidden ? columns.columns : [table.keyColumn] }

    // MARK: From what the service says

    /// The key of an entity that JSON is; nil if it is none.
    func rowKey(_ id: JSONValue) -> RowKey? { model.rowKey(id, of: entity) }

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

    /// The key of a row as a result reports it; nil for one that is not stored and has no name.
    func recordKey(_ k: DatabaseValue, in db: Database) throws -> RecordKey? {
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
            ? "typeof(\(key)) = 'integer' AND \(key) < \(LocalKey.integerBound)"
            : "typeof(\(key)) = 'text' AND \(key) GLOB 'local-*' AND length(\(key)) = 42"
    }

    /// The name of a stored row.
    func name(of row: String) -> String { "json_array(\(columns.expressions(of: row).joined(separator: ", ")))" }

    /// The condition that a stored row has a name.
    func condition(of row: String, isNamed name: String) -> String {
        columns.condition(of: row, equals: columns.leaves.indices.map { "json_extract(\(name), '$[\($0)]')" })
    }

    /// Notes the name of a row that is known.
    func noteName(_ k: DatabaseValue, _ number: Int, in db: Database) throws {
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
