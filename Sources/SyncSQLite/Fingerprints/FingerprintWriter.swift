import Foundation
import GRDB
import SyncCore

/// Stores the fingerprints of one entity, part by part, and then what they are.
struct FingerprintWriter {
    private let entity: String
    private let hasher: RecordHasher
    private let db: Database
    private var parts: [Data] = []

    /// Begins with none.
    init(_ entity: String, _ hasher: RecordHasher, in db: Database) throws {
        self.entity = entity
        self.hasher = hasher
        self.db = db
        try db.execute(sql: "DELETE FROM sync_fingerprint WHERE entity = ?", arguments: [entity])
    }

    mutating func add(records: Data, places: Data, kinds: Data) throws {
        let checksums = [records, places, kinds].map { FingerprintHeader.checksum($0, hasher) }.reduce(Data(), +)
        let columns = (["entity", "part", "checksums"] + FingerprintHeader.partColumns).joined(separator: ", ")
        try db.execute(
            sql: "INSERT INTO sync_fingerprint (\(columns)) VALUES (?, ?, ?, ?, ?, ?)",
            arguments: [entity, parts.count, checksums, records, places, kinds])
        parts.append(checksums)
    }

    func finish(
        _ meaning: RecordHash, byteCount: Int, unmapped: [[SyncResult.UnmappedKey]], rowCounts: [String: Int]
    ) throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        let keys = String(decoding: try encoder.encode(unmapped), as: UTF8.self)
        let counts = String(decoding: try encoder.encode(rowCounts), as: UTF8.self)
        let checksum = FingerprintHeader.checksum(entity, meaning, hasher, byteCount, keys, counts, parts)
        try db.execute(
            sql: """
                INSERT INTO sync_fingerprints (entity, meaning, seed, bytes, unmapped, rows, checksum)
                VALUES (?, ?, ?, ?, ?, ?, ?)
                ON CONFLICT DO UPDATE SET meaning = excluded.meaning, seed = excluded.seed, bytes = excluded.bytes,
                unmapped = excluded.unmapped, rows = excluded.rows, checksum = excluded.checksum
                """,
            arguments: [entity, meaning.data, hasher.seed.data, byteCount, keys, counts, checksum])
    }
}
