import Foundation
import GRDB
import SyncCore

extension DataStack {
    /// Gives the rows of an entity as text of one object, `{"AD": {…}, "AE": {…}}`.
    ///
    /// - Throws: ``SyncError`` `valueDoesNotFit` for rows that have no name, or the same one.
    func exportMembers(
        _ name: String, namedBy names: MemberNames, where predicate: RecordPredicate, orderedBy order: RecordOrder,
        limit: Int?, offset: Int, options: ExportOptions, in db: Database, write: (Data) throws -> Void
    ) throws {
        let entity = try model.compiled.entity(named: name)
        guard let slot = names.slot(in: entity, of: model.compiled) else {
            throw SyncError(.unknownAttribute, "\(name) has no such attribute to name its rows by", entity: name)
        }
        let (select, rest, arguments) = try selection(
            of: entity, where: predicate, orderedBy: order, limit: limit, offset: offset)
        let reader = try ExportReader(db, layout)
        var exporter = RecordExporter(model: model, options: options, source: reader)
        var text = ExportText(.json, isObject: true)
        // The keys of rows are unique; other values are remembered.
        var seen: Set<String> = []
        try reader.forEachRow(select, rest, arguments) { row in
            let member = try exporter.member(row, of: entity, namedBy: slot)
            if slot != entity.keySlot, !seen.insert(member.key).inserted {
                throw SyncError(
                    .valueDoesNotFit, "several rows would stand under one name: name them by another attribute",
                    entity: name)
            }
            text.append(member)
            if text.count >= Self.pieceSize { try write(text.take()) }
        }
        text.end()
        try write(text.take())
    }
}
