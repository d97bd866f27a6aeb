import GRDB
package import SyncCore
import SyncStore

/// A row with all that a result says of one: attributes and to-one relationships.
package struct SnapshotRow: Sendable, Hashable {
    /// For an inheritance tree, the most specific one.
    package let entity: String
    package let row: SyncResult.Row
}

extension DataStack {
    /// Changes whenever another connection has committed something since this was asked on the same one.
    package func version() async throws -> Int {
        try await database.writeWithoutTransaction { db in try Int.fetchOne(db, sql: "PRAGMA data_version") ?? 0 }
    }

    /// The rows of an entity as they are at one moment, by key.
    ///
    /// - Throws: ``SyncError`` `unknownEntity`, `keylessEntity`: whose rows cannot be told from others a moment later;
    ///   `invalidPredicate`, `modelMismatch`.
    package func snapshot(of entity: String, where predicate: RecordPredicate) async throws -> [SnapshotRow] {
        let links = try model.compiled.keyedEntity(named: entity).relationships.filter { !$0.isToMany }.map(\.name)
        let selection = try links.isEmpty ? nil : self.selection(of: entity, columns: links, where: predicate)
        return try await reading { [self] db in
            var rows = try fetch(entity, where: predicate, in: db).map { record in
                let values = record.attributes.compactMap { name in record[name].map { (name, $0.jsonForm) } }
                return (record, Dictionary(uniqueKeysWithValues: values))
            }
            if let selection {
                let cursor = RowCursor(try RawStatement(db, selection.sql, arguments: selection.arguments))
                var index = 0
                while try cursor.next(), index < rows.count {
                    for (column, link) in selection.columns.enumerated() {
                        rows[index].1[link.name] = cursor.value(column, as: link.type).jsonForm
                    }
                    index += 1
                }
            }
            return rows.map { record, values in
                let known = values.filter { $0.value != .null }
                return SnapshotRow(entity: record.entity, row: SyncResult.Row(key: record.key, values: known))
            }
        }
    }
}
