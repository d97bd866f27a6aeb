package import Foundation
package import SyncCore

/// An export of the rows of one query.
package struct RowExport {
    /// The size of a buffer in bytes. Larger buffers are not faster.
    private static let bufferSize = 65_536

    private let reader: any StoreReader
    private let model: SyncModel
    private let query: RowQuery
    private let options: ExportOptions

    /// - Throws: ``SyncError`` `invalidOption` for an invalid pattern of dates.
    package init(_ reader: any StoreReader, _ model: SyncModel, _ query: RowQuery, _ options: ExportOptions) throws {
        try options.validate()
        self.reader = reader
        self.model = model
        self.query = query
        self.options = options
    }

    /// Returns all records.
    ///
    /// - Throws: The errors of ``StoreReader/select(_:)``.
    package func records() throws -> [JSONValue] {
        var records: [JSONValue] = []
        try forEachRecord { records.append($0) }
        return records
    }

    /// Calls `body` with each record in order. The rows of up to 256 records are in memory at a time, or of fewer
    /// records if these have more than 10,000 related rows.
    ///
    /// - Parameter body: A function that receives each record. If the function throws, the export ends and throws the
    ///   error.
    package func forEachRecord(_ body: (JSONValue) throws -> Void) throws {
        try forEachRow { row, exporter in try body(exporter.record(row, of: query.entity)) }
    }

    private func forEachRow(_ body: (ExportRow, inout RecordExporter) throws -> Void) throws {
        let rows = try reader.select(query)
        let source = try ExportReader(reader)
        var exporter = RecordExporter(model: model, options: options, source: source)
        try source.forEachRow(rows) { row in try body(row, &exporter) }
    }

    /// Writes the records as JSON text in buffers. Each buffer except the last has at least 65,536 bytes.
    ///
    /// - Parameters:
    ///   - form: `.json` for an array of records, or for an object if the options set `keyedBy`; `.ndjson` for one
    ///     record on each line.
    ///   - write: A function that receives each buffer. If the function throws, the export ends and throws the error.
    /// - Throws: ``SyncError`` `invalidOption` for another format, and for `keyedBy` with `.ndjson`; `unknownAttribute`
    ///   if the entity lacks the attribute of `keyedBy`; `typeMismatch` if the `keyedBy` value of a row is not a unique
    ///   object key. Also the errors of ``StoreReader/select(_:)``.
    package func write(as form: PayloadFormat, _ write: (Data) throws -> Void) throws {
        guard form == .json || form == .ndjson else {
            throw SyncError(.invalidOption, "the format \(form.rawValue) is not supported for export")
        }
        if let names = options.keyedBy {
            guard form == .json else {
                throw SyncError(
                    .invalidOption, "NDJSON cannot export keyed objects; remove 'keyedBy' or use the JSON format")
            }
            return try writeMembers(namedBy: names, write)
        }
        var text = ExportText(form)
        try forEachRow { row, exporter in
            try exporter.append(row, of: query.entity, to: &text)
            if text.count >= Self.bufferSize { try write(text.removeAll()) }
        }
        text.end()
        try write(text.removeAll())
    }

    /// Writes the rows as the text of one JSON object, `{"AD": {…}, "AE": {…}}`.
    private func writeMembers(namedBy names: KeyedBy, _ write: (Data) throws -> Void) throws {
        let entity = query.entity
        guard let slot = names.slot(in: entity, of: model.compiled) else {
            throw SyncError(
                .unknownAttribute,
                "'keyedBy' requires an attribute of \(entity.name), or its primary key if that is one attribute",
                entity: entity.name)
        }
        var text = ExportText(.json, isObject: true)
        // Primary keys are unique. Duplicates of another attribute must be detected here.
        var seen: Set<PrimaryKeyValue> = []
        try forEachRow { row, exporter in
            let name = try exporter.objectKey(of: row, entity, namedBy: slot)
            if slot != entity.keySlot, !seen.insert(.text(name)).inserted {
                throw SyncError(
                    .typeMismatch, "several rows have the same object key; set 'keyedBy' to another attribute",
                    entity: entity.name)
            }
            try exporter.append(row, of: entity, named: name, by: slot, to: &text)
            if text.count >= Self.bufferSize { try write(text.removeAll()) }
        }
        text.end()
        try write(text.removeAll())
    }
}

// MARK: - Rows

/// Reads the rows of an export.
///
/// The related rows of rows that were read together are read together too: one operation reads them for up to 256 rows,
/// when the export asks for those of the first row.
package final class ExportReader {
    /// The largest number of rows whose related rows one operation reads.
    fileprivate static let rowsAtOnce = 256
    /// The number of rows to keep in memory, unless a single record has more.
    private static let rowsInMemory = 10_000

    private let reader: any StoreReader
    /// Whether the store has pending references.
    package let hasPendingReferences: Bool
    /// The number of rows that were read so far.
    private var rowCount = 0

    package init(_ reader: any StoreReader) throws {
        self.reader = reader
        hasPendingReferences = try reader.hasPendingReferences()
    }

    /// Calls `body` with each row of a cursor.
    package func forEachRow(_ rows: any StoreRowCursor, _ body: (ExportRow) throws -> Void) throws {
        var size = 1
        while true {
            let before = rowCount
            let group = RowGroup()
            let found = try rows.next(size).map { exportRow($0, in: group) }
            for row in found { try body(row) }
            guard found.count == size else { return }
            size = Self.groupSize(after: size, reading: rowCount - before)
        }
    }

    /// Returns the row key of a row.
    package func rowKey(of row: ExportRow) -> RowKey? { (row.group as? RowGroup)?.keys[row.index] }

    /// Returns the number of rows of the next group.
    ///
    /// - Parameter rows: The number of rows that were read for the group before, with related rows.
    private static func groupSize(after size: Int, reading rows: Int) -> Int {
        min(4 * size, rowsAtOnce, max(1, rowsInMemory * size / max(rows, 1)))
    }

    private func exportRow(_ row: SyncRow, in group: RowGroup) -> ExportRow {
        rowCount += 1
        return ExportRow(
            entity: row.type, identity: ExportedRowID(table: row.type.table, key: row.rowKey.recordKey(nil)),
            key: row.key, values: row.values, group: group, index: group.append(row.rowKey))
    }

    /// Reads the related rows of some rows of a group.
    private func load(
        _ relationship: CompiledRelationship, _ owner: CompiledEntity, of range: Range<Int>, _ group: RowGroup
    ) throws {
        let related = try reader.rows(relatedTo: Array(group.keys[range]), by: relationship, of: owner)
        let found = RowGroup()
        let rows = related.rows.map { exportRow($0, in: found) }
        var lists: [[ExportRow]] = range.map { _ in [] }
        for link in related.links { lists[link.owner].append(rows[link.row]) }
        group.setRelated(lists, RelationshipEnd(relationship), of: range)
    }
}

extension ExportReader: ExportSource {
    package func targets(of row: ExportRow, along relationship: CompiledRelationship) throws -> [ExportRow] {
        guard let group = row.group as? RowGroup else { return [] }
        let end = RelationshipEnd(relationship)
        if let known = group.related(end, of: row.index) { return known }
        try load(relationship, row.entity, of: group.range(around: row.index), group)
        return group.related(end, of: row.index) ?? []
    }

    package func isPending(_ row: ExportRow, along relationship: String) throws -> Bool {
        guard let group = row.group as? RowGroup else { return false }
        let range = group.range(around: row.index)
        if group.pending[range.lowerBound] == nil {
            group.pending[range.lowerBound] = try reader.pendingRelationships(
                of: Array(group.keys[range]), in: row.entity.table)
        }
        let asked = PendingRelationship(
            owner: group.keys[row.index], entity: row.entity.name, relationship: relationship)
        return group.pending[range.lowerBound]?.contains(asked) ?? false
    }
}

// MARK: - RowGroup

/// Rows of one table that were read together, with their related rows as far as they are read.
private final class RowGroup {
    /// The row key of each row.
    private(set) var keys: [RowKey] = []
    /// The related rows of each row; nil for rows whose related rows are not read.
    private var related: [RelationshipEnd: [[ExportRow]?]] = [:]
    /// The relationships with pending references, by the first row of each range.
    var pending: [Int: Set<PendingRelationship>] = [:]

    /// Adds a row, and returns its index.
    func append(_ key: RowKey) -> Int {
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
package struct RelationshipEnd: Hashable, Sendable {
    private let link: AssociationID
    private let end: CompiledAssociation.End

    package init(_ relationship: CompiledRelationship) {
        link = relationship.link
        end = relationship.end
    }
}
