import Foundation
import GRDB
import SyncCore

/// What a store says of the fingerprints of one entity, without the fingerprints themselves: read before it is known
/// whether those are of use.
///
/// Everything stored has a checksum, which depends on the set's secret seed: what was damaged, or edited by somebody who
/// thought that these tables are theirs, is not believed.
struct FingerprintHeader {
    let entity: String
    let meaning: RecordHash
    let hasher: RecordHasher
    /// How many bytes of JSON the records are.
    let byteCount: Int
    let unmapped: [[SyncResult.UnmappedKey]]
    let rowCounts: [String: Int]
    /// Of each part, its checksums by column.
    private let parts: [Data]

    /// Whether there are no fingerprints.
    var isEmpty: Bool { parts.isEmpty }

    /// Of all entities.
    ///
    /// - Throws: ``FingerprintDamage``
    static func all(in db: Database) throws -> [FingerprintHeader] {
        try FingerprintDamage.mapped {
            var parts: [String: [Data]] = [:]
            let cursor = try Row.fetchCursor(
                db, sql: "SELECT entity, part, checksums FROM sync_fingerprint ORDER BY entity, part")
            while let row = try cursor.next() {
                guard let entity = String.fromDatabaseValue(row[0]), let part = Int.fromDatabaseValue(row[1]),
                    let checksums = Data.fromDatabaseValue(row[2]), part == parts[entity]?.count ?? 0
                else { throw FingerprintDamage(reason: "parts of them are missing") }
                parts[entity, default: []].append(checksums)
            }
            let headers = try Row.fetchAll(
                db, sql: "SELECT entity, meaning, seed, bytes, unmapped, rows, checksum FROM sync_fingerprints"
            ).map { row in
                try FingerprintHeader(row, parts[String.fromDatabaseValue(row[0]) ?? ""] ?? [])
            }
            guard Set(headers.map(\.entity)).isSuperset(of: parts.keys) else {
                throw FingerprintDamage(reason: "what they are of is not known")
            }
            return headers
        }
    }

    private init(_ row: Row, _ parts: [Data]) throws {
        guard let entity = String.fromDatabaseValue(row[0]),
            let meaning = Data.fromDatabaseValue(row[1]).flatMap(RecordHash.init),
            let seed = Data.fromDatabaseValue(row[2]).flatMap(RecordHash.init),
            let byteCount = Int.fromDatabaseValue(row[3]), let unmapped = String.fromDatabaseValue(row[4]),
            let rowCounts = String.fromDatabaseValue(row[5]), let checksum = Data.fromDatabaseValue(row[6])
        else { throw FingerprintDamage(reason: "they cannot be read") }
        self.entity = entity
        self.meaning = meaning
        self.byteCount = byteCount
        self.parts = parts
        hasher = RecordHasher(seed: seed)
        let found = Self.checksum(entity, meaning, hasher, byteCount, unmapped, rowCounts, parts)
        guard found == checksum else { throw FingerprintDamage(reason: "their checksum is another") }
        self.unmapped = try JSONDecoder().decode([[SyncResult.UnmappedKey]].self, from: Data(unmapped.utf8))
        self.rowCounts = try JSONDecoder().decode([String: Int].self, from: Data(rowCounts.utf8))
    }

    static func checksum(
        _ entity: String, _ meaning: RecordHash, _ hasher: RecordHasher, _ byteCount: Int, _ unmapped: String,
        _ rowCounts: String, _ parts: [Data]
    ) -> Data {
        let text = [entity, "\(byteCount)", unmapped, rowCounts, "\(parts.count)"].joined(separator: "\0")
        let bytes = parts.reduce(into: Data(text.utf8) + meaning.data) { $0 += $1 }
        return bytes.withUnsafeBytes { hasher.hash($0).data }
    }

    // MARK: Parts

    /// The columns of a part, in the order of their checksums.
    static let partColumns = ["records", "places", "kinds"]

    static func checksum(_ data: Data, _ hasher: RecordHasher) -> Data {
        data.withUnsafeBytes { hasher.hash($0).data }
    }

    /// Some columns of each part, one part after the other.
    func eachPart(_ columns: String..., in db: Database, _ body: ([Data]) throws -> Void) throws {
        try FingerprintDamage.mapped {
            let sql = "SELECT \(columns.joined(separator: ", ")) FROM sync_fingerprint WHERE entity = ? ORDER BY part"
            let rows = try Row.fetchCursor(db, sql: sql, arguments: [entity])
            for part in parts {
                guard let row = try rows.next() else { throw FingerprintDamage(reason: "parts of them are missing") }
                try body(
                    columns.indices.map { index in
                        let place = Self.partColumns.firstIndex(of: columns[index]) ?? 0
                        guard let data = Data.fromDatabaseValue(row[index]),
                            Self.checksum(data, hasher) == part.dropFirst(16 * place).prefix(16)
                        else { throw FingerprintDamage(reason: "their checksum is another") }
                        return data
                    })
            }
        }
    }
}
