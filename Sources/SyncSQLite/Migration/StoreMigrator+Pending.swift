import GRDB
import SyncCore
import SyncStore

extension StoreMigrator {
    /// Keeps the references that wait for their rows, under the names and keys of the new model.
    mutating func renameRememberedReferences() throws {
        let rows = try Row.fetchAll(
            db,
            sql: """
                SELECT owner_entity, owner_key, relationship, position, target_entity, target_key
                FROM sync_pending ORDER BY rowid
                """)
        var renamed: [[DatabaseValue]] = []
        var lost: [String: Int] = [:]
        for row in rows {
            if let values = try self.renamed(row) {
                renamed.append(values)
            } else if let path = try pathOfLoss(row) {
                lost[path, default: 0] += 1
            }
        }
        for (path, count) in lost.sorted(by: { $0.key < $1.key }) {
            lose(path, "its rows are not in the model, or told apart by something else now", count, "waiting link")
        }
        // Names can be exchanged, so all go before the first one comes.
        try db.execute(sql: "DELETE FROM sync_pending")
        for values in renamed {
            let bound = values.map(ColumnValue.bound)
            try db.execute(
                sql: """
                    INSERT OR IGNORE INTO sync_pending
                    (owner_entity, owner_key, relationship, position, target_entity, target_key)
                    VALUES (\(bound.map(\.sql).joined(separator: ", ")))
                    """, arguments: StatementArguments(bound.map(\.value)))
        }
    }

    /// The relationship whose reference has no place; nil if the row that had it is lost, which is said of that.
    private func pathOfLoss(_ row: Row) throws -> String? {
        guard let owner = try map.old.model.entityID(row.decode(atIndex: 0)), map.successors[owner] != nil,
            try keys.place(of: row.wholeValue(at: 1), in: map.old.model.entities[owner].table) != nil
        else { return nil }
        return try
            "entities.\(row.decode(String.self, atIndex: 0)).relationships.\(row.decode(String.self, atIndex: 2))"
    }

    /// What a reference is called in the new model; nil if it has no place there.
    private func renamed(_ row: Row) throws -> [DatabaseValue]? {
        guard let owner = try map.old.model.entityID(row.decode(atIndex: 0)),
            let target = try map.old.model.entityID(row.decode(atIndex: 4)),
            let newOwner = map.successors[owner].map({ map.new.model.entities[$0] }),
            let newTarget = map.successors[target].map({ map.new.model.entities[$0] }),
            let relationship = try map.name(of: row.decode(atIndex: 2), ofOld: owner).flatMap(
                newOwner.relationship(named:)),
            map.new.model.entity(newTarget.id, isKindOf: relationship.destination),
            let place = try keys.place(of: row.wholeValue(at: 1), in: map.old.model.entities[owner].table),
            let key = try targetKey(row.wholeValue(at: 5), target, newTarget)
        else { return nil }
        let position: Int64 = relationship.isToMany ? try max(row.decode(atIndex: 3), 0) : -1
        return [
            newOwner.name.databaseValue, place.key, relationship.name.databaseValue, position.databaseValue,
            newTarget.name.databaseValue, key,
        ]
    }

    /// What the key of a row that is waited for is in the new model; nil if rows are told apart by something else.
    private func targetKey(_ key: DatabaseValue, _ old: Int, _ new: CompiledEntity) -> DatabaseValue? {
        if let (before, after) = keyTypes(old, new.id) {
            return MigratedValue.convert(key, from: before, to: after)
        }
        let before = map.old.model.entities[old]
        let isSame =
            before.compositeKey != nil && map.old.model.keyNames(of: before) == map.new.model.keyNames(of: new)
            && map.old.model.keyType(of: old) == map.new.model.keyType(of: new.id)
        return isSame ? key : nil
    }

    /// The types of an entity's key before and now; nil if another attribute is the key.
    private func keyTypes(_ old: Int, _ new: Int) -> (AttributeType, AttributeType)? {
        let (before, after) = (map.old.model.entities[old], map.new.model.entities[new])
        guard let oldSlot = before.keySlot, let newSlot = after.keySlot, map.slot(newSlot, of: after) == oldSlot else {
            return nil
        }
        return (
            map.old.model[before.table].attributes[oldSlot].type,
            map.new.model[after.table].attributes[newSlot].type
        )
    }
}
