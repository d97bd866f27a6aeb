import GRDB
import SyncCore
import SyncStore

// Replaces the keys of rows in the engine's tables, for example if integer keys become text.
extension EngineMigration {
    mutating func migrateKeys(of entity: Registered) throws {
        guard !keys.isStable(entity.old.table) else { return }
        let follower = MigratedKeyMap(entity.old, entity.new, map, keys)
        let (ledger, number) = (EngineLedger(db), entity.number)
        let known = try ledger.keys(of: number)
        var lost = 0
        // Move to unused keys first, since the new key of a row may be the old key of another row.
        for (position, old) in known.enumerated() {
            try ledger.migrateKey(old, to: "sync moved \(position)".databaseValue, number)
        }
        for (position, old) in known.enumerated() {
            let now = "sync moved \(position)".databaseValue
            if let new = try follower.key(old) {
                if let id = follower.spelled(old) { try ledger.insertSpelledID(id, of: now, number) }
                try ledger.migrateKey(now, to: new, number)
            } else {
                lost += try ledger.changeCount(of: now, number)
                try ledger.deleteUnmappedEntries(of: now, number)
                try ledger.migrateKey(now, to: old, number)
            }
        }
        lose(
            "entities.\(entity.old.name)", "the primary key changes, and changes are still pending",
            lost, "change")
        try ledger.deleteOrphanedSentValues()
        try ledger.deleteListing(of: number)
        try ledger.deleteNames(of: number)
    }
}
