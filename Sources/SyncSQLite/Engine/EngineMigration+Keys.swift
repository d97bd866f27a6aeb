import GRDB
import SyncCore
import SyncStore

// Replaces the keys of rows in the engine's tables, for example if integer keys become text.
extension EngineMigration {
    mutating func migrateKeys(of entity: Registered) throws {
        guard !keys.isStable(entity.old.table) else { return }
        let follower = MigratedKeyMap(entity.old, entity.new, map, keys)
        let selects = EngineSchema.rowTables.map { "SELECT k FROM \($0) WHERE e = \(entity.number)" }
        let known = try DatabaseValue.fetchAll(db, sql: selects.joined(separator: " UNION "))
        var lost = 0
        // Move to unused keys first, since the new key of a row may be the old key of another row.
        for (position, old) in known.enumerated() {
            try move(entity.number, old, to: "sync moved \(position)".databaseValue)
        }
        for (position, old) in known.enumerated() {
            let now = "sync moved \(position)".databaseValue
            if let new = try follower.key(old) {
                if let id = follower.spelled(old) {
                    try db.execute(
                        sql: "UPDATE sync_known SET remote = coalesce(remote, ?) WHERE e = ? AND k = ?",
                        arguments: [id, entity.number, now])
                }
                try move(entity.number, now, to: new)
            } else {
                lost +=
                    try Int.fetchOne(
                        db, sql: "SELECT count(*) FROM sync_change WHERE e = ? AND k = ?",
                        arguments: [entity.number, now])
                    ?? 0
                for name in EngineSchema.rowTables where name != "sync_conflict" {
                    try db.execute(sql: "DELETE FROM \(name) WHERE e = ? AND k = ?", arguments: [entity.number, now])
                }
                try move(entity.number, now, to: old)
            }
        }
        lose(
            "entities.\(entity.old.name)", "the primary key changes, and changes are still pending",
            lost, "change")
        try db.execute(sql: "DELETE FROM sync_sent WHERE request NOT IN (SELECT id FROM sync_request)")
        try db.execute(sql: "DELETE FROM sync_sweep WHERE e = ?", arguments: [entity.number])
        try db.execute(sql: "DELETE FROM sync_seen WHERE e = ?", arguments: [entity.number])
        try db.execute(sql: "UPDATE sync_known SET name = NULL WHERE e = ?", arguments: [entity.number])
    }

    private func move(_ number: Int, _ old: DatabaseValue, to new: DatabaseValue) throws {
        let (old, new) = (ColumnValue.bound(old), ColumnValue.bound(new))
        for name in EngineSchema.rowTables {
            try db.execute(
                sql: "UPDATE OR REPLACE \(name) SET k = \(new.sql) WHERE e = ? AND k = \(old.sql)",
                arguments: [new.value, number, old.value])
        }
        try db.execute(
            sql: "UPDATE sync_alias SET k = \(new.sql) WHERE e = ? AND k = \(old.sql)",
            arguments: [new.value, number, old.value])
    }
}
