extension SyncResult {
    /// Adds what a later payload of the same run changed, so that each row is counted once for what became of it.
    ///
    /// Where keys are not collected, a row that two pages changed is counted for both.
    package mutating func merge(_ later: SyncResult) {
        if entity.isEmpty { entity = later.entity }
        root.inserted += later.root.inserted
        root.matched += later.root.matched
        root.deleted += later.root.deleted
        for (name, changes) in later.entities { entities[name, default: EntityChanges()].merge(changes) }
        linksAdded += later.linksAdded
        linksRemoved += later.linksRemoved
        diagnostics += later.diagnostics
        omittedDiagnostics += later.omittedDiagnostics
        unresolved += later.unresolved.filter { !unresolved.contains($0) }
        for key in later.unmappedKeys {
            if let place = unmappedKeys.firstIndex(where: { $0.entity == key.entity && $0.key == key.key }) {
                unmappedKeys[place].count += key.count
            } else {
                unmappedKeys.append(key)
            }
        }
    }
}

extension SyncResult.EntityChanges {
    fileprivate mutating func merge(_ later: SyncResult.EntityChanges) {
        let new = Set(inserted)
        insertedCount += later.insertedCount
        updatedCount += later.updatedCount
        deletedCount += later.deletedCount
        unchangedCount += later.unchangedCount
        inserted += later.inserted
        deleted += later.deleted
        var places = Dictionary(updated.enumerated().map { ($1.key, $0) }) { first, _ in first }
        for update in later.updated {
            if new.contains(update.key) {
                updatedCount -= 1
            } else if let place = places[update.key] {
                updatedCount -= 1
                updated[place].changed += update.changed.filter { !updated[place].changed.contains($0) }
            } else {
                places[update.key] = updated.count
                updated.append(update)
            }
        }
        inserted.sort()
        updated.sort { $0.key < $1.key }
        deleted.sort()
    }
}
