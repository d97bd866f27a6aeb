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

    package init(_ reader: any StoreReader, _ model: SyncModel, _ query: RowQuery, _ options: ExportOptions) {
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
        let rows = try reader.select(query)
        let source = try ExportReader(reader)
        var exporter = RecordExporter(model: model, options: options, source: source)
        try source.forEachRow(rows) { row in try body(exporter.record(row, of: query.entity)) }
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
        try forEachRecord { record in
            text.append(record)
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
        let rows = try reader.select(query)
        let source = try ExportReader(reader)
        var exporter = RecordExporter(model: model, options: options, source: source)
        var text = ExportText(.json, isObject: true)
        // Primary keys are unique. Duplicates of another attribute must be detected here.
        var seen: Set<PrimaryKeyValue> = []
        try source.forEachRow(rows) { row in
            let member = try exporter.member(row, of: entity, namedBy: slot)
            if slot != entity.keySlot, !seen.insert(.text(member.key)).inserted {
                throw SyncError(
                    .typeMismatch, "several rows have the same object key; set 'keyedBy' to another attribute",
                    entity: entity.name)
            }
            text.append(member)
            if text.count >= Self.bufferSize { try write(text.removeAll()) }
        }
        text.end()
        try write(text.removeAll())
    }
}
