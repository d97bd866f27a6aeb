import GRDB
import SyncCore
import SyncStore

/// Reads the rows of an export, inside one read transaction.
///
/// The related rows of rows that were read together are read together too: one statement reads them for up to 256 rows,
/// when the export asks for those of the first row.
final class ExportReader {
    /// The largest number of rows whose related rows one statement reads.
    fileprivate static let rowsAtOnce = 256
    /// The number of rows to keep in memory, unless a single record has more.
    private static let rowsInMemory = 10_000

    private let db: Database
    private let layout: StoreLayout
    private var statements: [RelationshipEnd: RelatedRowsSQL] = [:]
    /// Whether the store has pending references.
    private let hasPendingReferences: Bool
    /// The number of rows that were read so far.
    private var rowCount = 0

    init(_ db: Database, _ layout: StoreLayout) throws {
        self.db = db
        self.layout = layout
        hasPendingReferences = try db.finds("SELECT 1 FROM sync_pending")
    }

    /// Calls `body` with each row that a statement selects.
    ///
    /// - Parameter rest: The part of the statement after the selected columns.
    func forEachRow(
        _ select: RecordSQL, _ rest: String, _ arguments: StatementArguments, _ body: (ExportRow) throws -> Void
    ) throws {
        let statement = try db.cachedStatement(sql: "SELECT \(select.columns) \(rest)")
        let cursor = try Row.fetchCursor(statement, arguments: arguments)
        let columns = StatementColumns(statement)
        var size = 1
        while true {
            let before = rowCount
            let group = RowGroup()
            var rows: [ExportRow] = []
            while rows.count < size, try cursor.next() != nil {
                rows.append(try exportRow(columns, select, in: group))
            }
            for row in rows { try body(row) }
            guard rows.count == size else { return }
            size = Self.groupSize(after: size, reading: rowCount - before)
        }
    }

    /// Returns the value of the table's key column in a row.
    func rowKey(of row: ExportRow) -> DatabaseValue { (row.group as? RowGroup)?.keys[row.index] ?? .null }

    /// Returns the number of rows of the next group.
    ///
    /// - Parameter rows: The number of rows that were read for the group before, with related rows.
    private static func groupSize(after size: Int, reading rows: Int) -> Int {
        min(4 * size, rowsAtOnce, max(1, rowsInMemory * size / max(rows, 1)))
    }

    private func exportRow(_ columns: StatementColumns, _ select: RecordSQL, in group: RowGroup) throws -> ExportRow {
        rowCount += 1
        let record = try select.record(columns)
        return ExportRow(
            entity: record.type,
            identity: ExportedRowID(table: record.type.table, key: record.rowKey.recordKey(nil)), key: record.key,
            values: record.values, group: group, index: group.append(record.rowKey.databaseValue))
    }

    // MARK: Related rows

    private func related(_ relationship: CompiledRelationship, _ owner: CompiledEntity) throws -> RelatedRowsSQL {
        let end = RelationshipEnd(relationship)
        if let known = statements[end] { return known }
        let made = try RelatedRowsSQL(relationship, of: owner, layout)
        statements[end] = made
        return made
    }

    /// Reads the related rows of some rows of a group.
    private func load(
        _ relationship: CompiledRelationship, _ owner: CompiledEntity, of range: Range<Int>, _ group: RowGroup
    ) throws {
        let sql = try self.related(relationship, owner)
        let keys = Array(group.keys[range])
        let positions = Dictionary(
            zip(keys.lazy.map(\.exact), keys.indices), uniquingKeysWith: { first, _ in first })
        var related: [[ExportRow]] = keys.map { _ in [] }
        let found = RowGroup()
        var known: [BinaryComparedValue: ExportRow] = [:]
        try db.forEachSelection(sql.beforeKeys, keys, end: sql.afterKeys) { columns in
            guard let position = positions[columns.wholeValue(at: columns.count - 1).exact] else { return }
            guard sql.sharesRows else {
                related[position].append(try exportRow(columns, sql.select, in: found))
                return
            }
            let key = columns.wholeValue(at: 0).exact
            let row = try known[key] ?? exportRow(columns, sql.select, in: found)
            known[key] = row
            related[position].append(row)
        }
        group.setRelated(related, RelationshipEnd(relationship), of: range)
    }

    // MARK: Pending references

    private func pendingReferences(of keys: ArraySlice<DatabaseValue>, in table: TableID) throws
        -> Set<PendingRelationship>
    {
        var found: Set<PendingRelationship> = []
        let select = """
            SELECT owner_key, owner_entity, relationship FROM sync_pending
            WHERE owner_entity IN (\(layout.entityNames(of: [table]))) AND owner_key IN\u{20}
            """
        try db.forEachSelection(select, Array(keys)) { columns in
            found.insert(
                PendingRelationship(
                    owner: columns.wholeValue(at: 0).exact, entity: columns.wholeValue(at: 1),
                    relationship: columns.wholeValue(at: 2)))
        }
        return found
    }
}

extension ExportReader: ExportSource {
    func targets(of row: ExportRow, along relationship: CompiledRelationship) throws -> [ExportRow] {
        guard let group = row.group as? RowGroup else { return [] }
        let end = RelationshipEnd(relationship)
        if let known = group.related(end, of: row.index) { return known }
        try load(relationship, row.entity, of: group.range(around: row.index), group)
        return group.related(end, of: row.index) ?? []
    }

    func isPending(_ row: ExportRow, along relationship: String) throws -> Bool {
        guard hasPendingReferences, let group = row.group as? RowGroup else { return false }
        let range = group.range(around: row.index)
        if group.pending[range.lowerBound] == nil {
            group.pending[range.lowerBound] = try pendingReferences(of: group.keys[range], in: row.entity.table)
        }
        let asked = PendingRelationship(
            owner: group.keys[row.index].exact, entity: row.entity.name.databaseValue,
            relationship: relationship.databaseValue)
        return group.pending[range.lowerBound]?.contains(asked) ?? false
    }
}

// MARK: - RowGroup

/// Rows of one table that were read together, with their related rows as far as they are read.
private final class RowGroup {
    /// The key of each row.
    private(set) var keys: [DatabaseValue] = []
    /// The related rows of each row; nil for rows whose related rows are not read.
    private var related: [RelationshipEnd: [[ExportRow]?]] = [:]
    /// The relationships with pending references, by the first row of each range.
    var pending: [Int: Set<PendingRelationship>] = [:]

    /// Adds a row, and returns its index.
    func append(_ key: DatabaseValue) -> Int {
        keys.append(key)
        return keys.count - 1
    }

    /// Returns the rows whose related rows are read together with those of a row.
    func range(around index: Int) -> Range<Int> {
        let start = index - index % ExportReader.rowsAtOnce
        return start..<min(start + ExportReader.rowsAtOnce, keys.count)
    }

    func related(_ end: RelationshipEnd, of index: Int) -> [ExportRow]? {
        guard let rows = related[end] else { return nil }
        return rows[index]
    }

    func setRelated(_ rows: [[ExportRow]], _ end: RelationshipEnd, of range: Range<Int>) {
        var all = related.removeValue(forKey: end) ?? Array(repeating: nil, count: keys.count)
        for (index, row) in zip(range, rows) { all[index] = row }
        related[end] = all
    }
}

/// One end of an association. All entities that inherit a relationship share it.
private struct RelationshipEnd: Hashable {
    let link: AssociationID
    let end: CompiledAssociation.End

    init(_ relationship: CompiledRelationship) {
        link = relationship.link
        end = relationship.end
    }
}

/// A relationship of one row that has pending references.
private struct PendingRelationship: Hashable {
    let owner: BinaryComparedValue
    let entity: DatabaseValue
    let relationship: DatabaseValue
}

/// The statement that selects the related rows of several rows. Its last column is the key of the row that a selected
/// row is related to.
private struct RelatedRowsSQL {
    let select: RecordSQL
    /// Whether several rows can be related to the same row.
    let sharesRows: Bool
    /// The statement before the keys of the rows.
    let beforeKeys: String
    /// The statement after the keys.
    let afterKeys: String

    init(_ relationship: CompiledRelationship, of owner: CompiledEntity, _ layout: StoreLayout) throws {
        let target = TargetSQL(relationship, of: owner, layout)
        select = target.select
        sharesRows = layout.model[relationship.link].side(relationship.end.other).isToMany
        let rest = try target.restOfSeveral
        (beforeKeys, afterKeys) = ("SELECT \(select.columns), \(target.ownerKey) \(rest.before)", rest.after)
    }
}
