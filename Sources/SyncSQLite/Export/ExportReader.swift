import GRDB
import SyncCore
import SyncStore

/// Reads the rows of an export, inside one read transaction.
final class ExportReader {
    /// A row with its foreign keys.
    struct SourceRow {
        let record: SyncRow
        let identity: ExportedRowID
        /// The values of the foreign keys, in the order of ``EntityHierarchy/foreignKeys``.
        let foreignKeys: [DatabaseValue]
    }

    /// The statement that selects the related rows of a relationship.
    private struct Targets {
        let select: RecordSQL
        let sql: String
        /// The index of the relationship's foreign key in ``SourceRow/foreignKeys``; nil if the table of the row does
        /// not contain the foreign key.
        let foreignKey: Int?
    }

    /// The key of the cache. All entities that inherit a relationship share its statement.
    private struct TargetsKey: Hashable {
        let table: TableID
        let link: AssociationID
        let end: CompiledAssociation.End
    }

    private let db: Database
    private let layout: StoreLayout
    private var targets: [TargetsKey: Targets] = [:]
    /// Whether the store has pending references.
    private let hasPendingReferences: Bool

    init(_ db: Database, _ layout: StoreLayout) throws {
        self.db = db
        self.layout = layout
        hasPendingReferences = try db.finds("SELECT 1 FROM sync_pending")
    }

    /// Calls `body` with each row that a statement selects.
    ///
    /// - Parameter rest: The part of the statement after the selected columns.
    func forEachRow(
        _ select: RecordSQL, _ rest: String, _ arguments: StatementArguments, _ body: (SourceRow) throws -> Void
    ) throws {
        let statement = try db.cachedStatement(sql: "SELECT \(columns(select)) \(rest)")
        let rows = try Row.fetchCursor(statement, arguments: arguments)
        let values = StatementColumns(statement)
        while try rows.next() != nil { try body(sourceRow(values, select)) }
    }

    // MARK: Statements

    private func foreignKeyColumns(_ table: TableID) -> [String] {
        layout.model[table].foreignKeys.compactMap { link in
            guard case .foreignKey(_, let column, _) = layout[link] else { return nil }
            return column
        }
    }

    private func columns(_ select: RecordSQL) -> String {
        ([select.columns] + foreignKeyColumns(select.entity.table).map(select.column)).joined(separator: ", ")
    }

    private func targets(of relationship: CompiledRelationship, from owner: CompiledEntity) throws -> Targets {
        let key = TargetsKey(table: owner.table, link: relationship.link, end: relationship.end)
        if let known = targets[key] { return known }
        let target = TargetSQL(relationship, of: owner, layout)
        let isForeignKey = layout.model[relationship.link].storage == .foreignKey && relationship.end == .first
        let foreignKey =
            isForeignKey
            ? layout.model[owner.table].foreignKeys.firstIndex(of: relationship.link) : nil
        let rest =
            foreignKey == nil ? try target.rest : "FROM \(target.select.from) WHERE \(target.select.rowKey) = ?"
        let made = Targets(
            select: target.select, sql: "SELECT \(columns(target.select)) \(rest)", foreignKey: foreignKey)
        targets[key] = made
        return made
    }

    private func sourceRow(_ columns: StatementColumns, _ select: RecordSQL) throws -> SourceRow {
        let record = try select.record(columns)
        let keys = foreignKeyColumns(select.entity.table).count
        let key = ColumnValue.recordKey(record.rowKey, as: .string) ?? record.key
        return SourceRow(
            record: record, identity: ExportedRowID(table: record.type.table, key: key),
            foreignKeys: (columns.count - keys..<columns.count).map { columns.wholeValue(at: $0) })
    }
}

extension ExportReader: ExportSource {
    func entity(of row: SourceRow) -> CompiledEntity { row.record.type }
    func identity(of row: SourceRow) -> ExportedRowID { row.identity }
    func key(of row: SourceRow) -> PrimaryKeyValue { row.record.key }
    func values(of row: SourceRow) -> [StoredValue] { row.record.values }

    func targets(of row: SourceRow, along relationship: CompiledRelationship) throws -> [SourceRow] {
        let targets = try targets(of: relationship, from: row.record.type)
        let key = targets.foreignKey.map { row.foreignKeys[$0] } ?? row.record.rowKey
        if key.isNull { return [] }
        let statement = try db.cachedStatement(sql: targets.sql)
        let rows = try Row.fetchCursor(statement, arguments: [key])
        let values = StatementColumns(statement)
        var found: [SourceRow] = []
        while try rows.next() != nil { found.append(try sourceRow(values, targets.select)) }
        return found
    }

    func isPending(_ row: SourceRow, along relationship: String) throws -> Bool {
        guard hasPendingReferences else { return false }
        let statement = try db.cachedStatement(
            sql: """
                SELECT EXISTS (
                  SELECT 1 FROM sync_pending WHERE owner_entity = ? AND owner_key = ? AND relationship = ?
                )
                """)
        let arguments: StatementArguments = [row.record.entity, row.record.rowKey, relationship]
        return try Bool.fetchOne(statement, arguments: arguments) ?? false
    }
}
