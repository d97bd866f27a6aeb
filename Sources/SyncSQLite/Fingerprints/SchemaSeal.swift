import Foundation
import GRDB
import SyncCore

/// What a store's schema was when writes began to be recorded.
///
/// Whatever changes the schema counts up its version, so that a trigger that was away for a while, a column that was
/// dropped and added again, or an index that came and went are seen. The version begins at a number made at random: a
/// store that was written anew from a dump has another, which begins at 0.
struct SchemaSeal: Equatable {
    /// Counts up with the triggers, so that an older library's are replaced.
    private static let triggerVersion = 3

    private let version: Int64
    private let text: RecordHash

    /// - Throws: ``FingerprintDamage`` if the store does not have the one it should have.
    static func stored(in db: Database) throws -> SchemaSeal {
        try FingerprintDamage.mapped {
            let row = try Row.fetchOne(db, sql: "SELECT \"version\", \"schema\" FROM \"sync_fingerprint_seal\"")
            guard let row, let version = Int64.fromDatabaseValue(row[0]),
                let text = Data.fromDatabaseValue(row[1]).flatMap(RecordHash.init)
            else { throw FingerprintDamage(reason: "what the schema was is not known") }
            return SchemaSeal(version: version, text: text)
        }
    }

    static func current(in db: Database) throws -> SchemaSeal {
        SchemaSeal(version: try version(in: db), text: try text(in: db))
    }

    /// Gives the schema a version that no other store has, and keeps the seal.
    ///
    /// - Returns: Whether SQLite let it have one. In defensive mode it does not.
    static func set(in db: Database) throws -> Bool {
        let version = Int64.random(in: 1 << 24..<1 << 31)
        try db.execute(sql: "PRAGMA schema_version = \(version)")
        guard try Self.version(in: db) == version else { return false }
        let seal = try SchemaSeal(version: version, text: text(in: db))
        try db.execute(
            sql: "INSERT OR REPLACE INTO \"sync_fingerprint_seal\" (\"id\", \"version\", \"schema\") VALUES (1, ?, ?)",
            arguments: [seal.version, seal.text.data])
        return true
    }

    private static func version(in db: Database) throws -> Int64 {
        try Int64.fetchOne(db, sql: "PRAGMA schema_version") ?? 0
    }

    /// All that the schema says, and where: editing it by hand counts nothing up.
    private static func text(in db: Database) throws -> RecordHash {
        let statement = try RawStatement(db, "SELECT type, name, tbl_name, rootpage, sql FROM sqlite_schema")
        var bytes = Array("\(triggerVersion)".utf8)
        while try statement.step() {
            for column in 0..<5 {
                bytes.append(0)
                bytes += statement.text(column)
            }
        }
        // Made anew for each store, so any fixed seed will do.
        let hasher = RecordHasher(seed: RecordHash(low: 0x5379_6E63, high: 0x5345_414C))
        return bytes.withUnsafeBytes { hasher.hash($0) }
    }
}
