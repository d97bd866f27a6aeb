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

    /// Returns the creation ID of a row that is created again after the service deleted it; nil for other rows. `ids`
    /// has the remote IDs that the deleted row may have had.
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

/// An index of new rows by creation ID, for services that store the creation ID in the record or use it as remote ID.
///
/// A pulled record with the creation ID of a new row is that row. A request that timed out, or an older copy of the
/// store, may have created the record.
struct CreationIDIndex {
    private let engine: SQLiteEngineStore
    private let table: TrackedTable
    private let db: Database
    private let markerField: String?
    private let rows: NewRows

    /// Returns nil if the service neither stores creation IDs nor uses them as remote IDs, or if the index is empty.
    init?(_ engine: SQLiteEngineStore, _ table: TrackedTable, _ db: Database) throws {
        markerField = engine.registration.markerField
        guard markerField != nil || engine.registration.clientAssignsIDs else { return nil }
        self.engine = engine
        self.table = table
        self.db = db
        rows = engine.memory.newRows(of: table.number)
        if rows.byCreationID == nil { try Self.read(into: rows, engine, table, nil, db) }
        if rows.byCreationID?.isEmpty != false { return nil }
    }

    /// `key`: nil to read all new rows.
    static func read(
        into rows: NewRows, _ engine: SQLiteEngineStore, _ table: TrackedTable, _ key: DatabaseValue?, _ db: Database
    ) throws {
        let registration = engine.registration
        let found = try EngineLedger(db).creationIDs(of: table, key)
        var byCreationID = rows.byCreationID ?? [:]
        rows.byCreationID = nil
        for (id, key) in found {
            byCreationID[registration.markerField == nil ? CreationID(id).text(of: registration.idLength) : id] = key
        }
        rows.byCreationID = byCreationID
    }

    /// Finds the new row with the creation ID of a pulled record, and gives it the key of the record. `key` is the key
    /// of the pulled row in the engine's tables. Returns the key of the new row afterwards; nil if no new row matches.
    /// If its key must be replaced, also nil if a request for it is in flight, or if it is not stored.
    func matchNewRow(_ row: RemoteRecord, _ key: DatabaseValue) throws -> DatabaseValue? {
        guard let name = name(of: row), let own = rows.byCreationID?[name], let id = table.key.rowKey(row.id),
            try isNew(own)
        else { return nil }
        guard !own.isExactly(key) else { return key }
        // The response to a request in flight decides whether the request created this record.
        guard try !EngineLedger(db).isInFlight(own, table), try table.isStored(own, in: db) else { return nil }
        let replacement = KeyReplacement(engine, table, db)
        return try table.isStored(key, in: db) ? replacement.unite(own, with: key) : replacement.rekey(own, to: id)
    }

    private func isNew(_ key: DatabaseValue) throws -> Bool {
        guard let change = try EngineLedger(db).change(of: key, table) else { return false }
        return change.kind == .create && change.creationID != nil
    }

    private func name(of row: RemoteRecord) -> String? {
        guard let markerField else { return if case .string(let id) = row.id { id } else { nil } }
        guard case .string(let name)? = row.record?[markerField] else { return nil }
        return creationID(name)
    }

    /// Returns the creation ID in a marker. The markers of later attempts have a suffix, as in `<ID>-2`.
    private func creationID(_ name: String) -> String {
        guard let dash = name.lastIndex(of: "-"), name[name.index(after: dash)...].allSatisfy(\.isNumber) else {
            return name
        }
        return String(name[..<dash])
    }
}
