import Sync

/// What became of rows between two looks at them.
struct SnapshotDifference {
    /// A row that becomes one of another entity is another row.
    private struct Identity: Hashable {
        let entity: String
        let key: RecordKey

        init(_ row: SnapshotRow) {
            entity = row.entity
            key = row.row.key
        }
    }

    private var entities: [String: SyncResult.EntityChanges] = [:]

    init(from old: [SnapshotRow], to new: [SnapshotRow]) {
        var before = Dictionary(old.map { (Identity($0), $0) }, uniquingKeysWith: { first, _ in first })
        for row in new {
            if let earlier = before.removeValue(forKey: Identity(row)) {
                compare(row, with: earlier)
            } else {
                change(row.entity) { changes in
                    changes.inserted.append(row.row.key)
                    changes.insertedRows?.append(row.row)
                    changes.insertedCount += 1
                }
            }
        }
        for row in old where before[Identity(row)] != nil {
            change(row.entity) { changes in
                changes.deleted.append(row.row.key)
                changes.deletedRows?.append(row.row)
                changes.deletedCount += 1
            }
        }
    }

    func result(of entity: String) -> SyncResult {
        var result = SyncResult(entity: entity)
        result.entities = entities
        return result
    }

    private mutating func compare(_ row: SnapshotRow, with earlier: SnapshotRow) {
        let (old, new) = (earlier.row.values, row.row.values)
        let changed = Set(old.keys).union(new.keys).filter { old[$0] != new[$0] }.sorted()
        guard !changed.isEmpty else { return }
        let values = changed.map { ($0, SyncResult.ValueChange(old: old[$0] ?? .null, new: new[$0] ?? .null)) }
        change(row.entity) { changes in
            changes.updated.append(
                SyncResult.Update(key: row.row.key, changed: changed, values: Dictionary(uniqueKeysWithValues: values)))
            changes.updatedCount += 1
        }
    }

    private mutating func change(_ entity: String, _ body: (inout SyncResult.EntityChanges) -> Void) {
        var none = SyncResult.EntityChanges()
        (none.insertedRows, none.deletedRows) = ([], [])
        body(&entities[entity, default: none])
    }
}
