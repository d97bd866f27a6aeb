import Foundation
import Sync

// Streaming exports in functions that are not async, where a closure may collect what it receives.
extension DataStack {
    func exportedRecords(_ entity: String, orderedBy order: RowOrder = .byKey) throws -> [JSONValue] {
        var records: [JSONValue] = []
        try exportEach(entity, orderedBy: order) { records.append($0) }
        return records
    }

    func exportedPieces(
        _ entity: String, as form: PayloadFormat = .json, where predicate: RowPredicate = .all,
        orderedBy order: RowOrder = .byKey, limit: Int? = nil, options: ExportOptions = ExportOptions()
    ) throws -> [Data] {
        var pieces: [Data] = []
        try writeExport(entity, as: form, where: predicate, orderedBy: order, limit: limit, options: options) {
            pieces.append($0)
        }
        return pieces
    }

    func exportedText(
        _ entity: String, as form: PayloadFormat = .json, where predicate: RowPredicate = .all,
        orderedBy order: RowOrder = .byKey, limit: Int? = nil, options: ExportOptions = ExportOptions()
    ) throws -> Data {
        try exportedPieces(entity, as: form, where: predicate, orderedBy: order, limit: limit, options: options)
            .reduce(Data(), +)
    }
}
