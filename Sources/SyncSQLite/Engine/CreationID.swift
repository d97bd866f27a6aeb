import Foundation
import GRDB
import SyncCore
import SyncStore

/// The ID of a new row before it has a remote ID. Requests that create the row send this ID as idempotency key or as
/// remote ID.
struct CreationID {
    /// The ID as 32 hexadecimal digits.
    let text: String

    /// Creates the ID of a row that is created again after the service deleted it. Every device computes the same ID.
    init(reviving id: String, of entity: String) {
        let hasher = RecordHasher(seed: RecordHash(low: 0x5379_6E63, high: 0x4249_5254))
        let hash = Array("\(entity) \(id)".utf8).withUnsafeBytes { hasher.hash($0) }
        text = [hash.low, hash.high].map { value in
            let digits = String(value, radix: 16)
            return String(repeating: "0", count: 16 - digits.count) + digits
        }.joined()
    }

    init(_ text: String) { self.text = text }

    /// Returns the creation ID of a row that is created again after the service deleted it; nil for other rows.
    ///
    /// - Parameter ids: The remote IDs that the deleted row may have had.
    static func restoration(
        ofAny ids: [String], _ table: TrackedTable, _ key: DatabaseValue, in db: Database
    ) throws -> CreationID? {
        guard let change = try EngineLedger(db).change(of: key, table), change.kind == .create else { return nil }
        return ids.map { CreationID(reviving: $0, of: table.entity.name) }.first { $0.text == change.creationID }
    }

    /// Returns an ID of the given length, of the characters a to z and 0 to 9. Returns a UUID if no length is given.
    func text(of length: Int?) -> String {
        guard let length, let high = UInt64(text.prefix(16), radix: 16), let low = UInt64(text.suffix(16), radix: 16)
        else {
            return uuid
        }
        // Each half of the hexadecimal digits fits a UInt64 and determines half of the characters.
        return Self.digits(high, length - length / 2) + Self.digits(low, length / 2)
    }

    private static func digits(_ number: UInt64, _ count: Int) -> String {
        let text = String(String(number, radix: 36).suffix(count))
        return String(repeating: "0", count: count - text.count) + text
    }

    /// The ID as a UUID, in lower case.
    var uuid: String {
        let digits = Array(text)
        guard digits.count == 32 else { return text }
        return [0..<8, 8..<12, 12..<16, 16..<20, 20..<32].map { String(digits[$0]) }.joined(separator: "-")
    }
}
