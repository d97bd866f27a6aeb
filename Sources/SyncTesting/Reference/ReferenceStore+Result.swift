public import SyncCore

extension ReferenceStore {
    /// What differs from an earlier state. Links are compared row by row elsewhere.
    func result(since before: ReferenceStore, _ entity: String) -> SyncResult {
        var result = SyncResult(entity: entity)
        for (id, row) in rows.sorted(by: { $0.key < $1.key }) {
            var changes = result[row.entity.name]
            if let old = before.rows[id] {
                let changed = row.values.filter { old.values[$0.key] != $0.value }.keys.sorted()
                guard !changed.isEmpty else { continue }
                changes.updatedCount += 1
                if let key = recordKey(row) { changes.updated.append(.init(key: key, changed: changed)) }
            } else {
                changes.insertedCount += 1
                if let key = recordKey(row) { changes.inserted.append(key) }
            }
            result.entities[row.entity.name] = changes
        }
        for (id, row) in before.rows where rows[id] == nil {
            var changes = result[row.entity.name]
            changes.deletedCount += 1
            if let key = before.recordKey(row) { changes.deleted.append(key) }
            result.entities[row.entity.name] = changes
        }
        result.unresolved = unresolvedReferences()
        return result
    }

    /// All references that wait, of earlier payloads too.
    public func unresolvedReferences() -> [SyncResult.UnresolvedReference] {
        pending.compactMap { pending in
            guard let row = rows[pending.side.row], let key = recordKey(row),
                let target = Self.recordKey(pending.target.key)
            else { return nil }
            return SyncResult.UnresolvedReference(
                entity: row.entity.name, key: key, relationship: pending.relationship.name, target: target)
        }
    }

    func recordKey(_ row: ReferenceRow) -> RecordKey? { key(of: row).flatMap { Self.recordKey($0) } }

    private static func recordKey(_ value: StoredValue) -> RecordKey? {
        switch value.jsonForm {
        case .number(let text):
            switch value {
            case .integer(let number): .integer(number)
            case .double(let number): .double(number)
            default: .text(text)
            }
        case .string(let text): .text(text)
        case .array(let parts): .parts(parts.compactMap(recordKey(ofPart:)))
        default: nil
        }
    }

    private static func recordKey(ofPart part: JSONValue) -> RecordKey? {
        switch part {
        case .number(let text): Int64(text).map(RecordKey.integer) ?? Double(text).map(RecordKey.double)
        case .string(let text): RecordKey.text(text)
        case .array(let parts): RecordKey.parts(parts.compactMap(recordKey(ofPart:)))
        default: nil
        }
    }
}
