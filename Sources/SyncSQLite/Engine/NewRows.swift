import GRDB
import SyncCore
import SyncStore

/// The new rows of a table, by creation ID and by natural key. A pulled record with one of the two is the new row.
/// A request that timed out, another device, or an older copy of the store may have created the record.
///
/// A run reads the rows once, unless the cache is discarded. Rows that are no longer new stay in the index, so each row
/// that is found is checked.
final class NewRows {
    private let table: TrackedTable
    private let registration: EngineRegistration
    /// The attributes of the natural key.
    private let slots: [(name: String, column: String, type: AttributeType)]
    /// The keys of the rows by creation ID, or by the remote ID that is made of it; nil until they are read.
    private var byCreationID: [String: DatabaseValue]?
    /// The keys of the rows by the values of the natural key; nil until they are read.
    private var byNaturalKey: [[BinaryComparedValue]: [DatabaseValue]]?

    init(_ table: TrackedTable, _ engine: SQLiteEngineStore) {
        (self.table, registration) = (table, engine.registration)
        let attributes = engine.model.compiled[table.entity.table].attributes
        slots = table.registration.naturalKey.compactMap { name in
            table.entity.slotByName[name].map { (name, table.table.columns[$0], attributes[$0].type) }
        }
    }

    /// Reads the rows, unless they were read before. Returns whether a record can match a creation ID, and whether it
    /// can match a natural key. Creation IDs can match if the service stores them in the record, or if they are used as
    /// remote IDs.
    func read(in db: Database) throws -> (hasCreationIDs: Bool, hasNaturalKeys: Bool) {
        let areFound = registration.markerField != nil || registration.clientAssignsIDs
        if areFound, byCreationID == nil { try readCreationIDs(nil, in: db) }
        if !slots.isEmpty, byNaturalKey == nil { try readNaturalKeys(nil, in: db) }
        return (byCreationID?.isEmpty == false, byNaturalKey?.isEmpty == false)
    }

    /// Adds a row: a known row that is to be created again, or a new row whose key changed.
    func insert(_ key: DatabaseValue, in db: Database) throws {
        if byCreationID != nil { try readCreationIDs(key, in: db) }
        if byNaturalKey != nil { try readNaturalKeys(key, in: db) }
    }

    /// `key`: nil to read all new rows.
    private func readCreationIDs(_ key: DatabaseValue?, in db: Database) throws {
        let found = try EngineLedger(db).creationIDs(of: table, key)
        if byCreationID == nil { byCreationID = [:] }
        for (id, key) in found {
            byCreationID?[registration.markerField == nil ? CreationID(id).text(of: registration.idLength) : id] = key
        }
    }

    private func readNaturalKeys(_ key: DatabaseValue?, in db: Database) throws {
        let found = try EngineLedger(db).newRows(of: table, slots.map(\.column), key)
        if byNaturalKey == nil { byNaturalKey = [:] }
        for row in found {
            byNaturalKey?[slots.indices.map { row[$0 + 1].exact }, default: []].append(row[0])
        }
    }

    /// Finds the new row with the creation ID of a pulled record, and gives it the key of the record. `key` is the key
    /// of the pulled row in the engine's tables. Returns the key of the new row afterwards; nil if no new row matches.
    /// If its key must be replaced, also nil if a request for it is in flight, or if it is not stored.
    func matchCreationID(
        of row: RemoteRecord, _ key: DatabaseValue, _ engine: SQLiteEngineStore, _ db: Database
    ) throws -> DatabaseValue? {
        guard let name = name(of: row), let own = byCreationID?[name], let id = table.key.rowKey(row.id),
            let change = try EngineLedger(db).change(of: own, table), change.kind == .create, change.creationID != nil
        else { return nil }
        guard !own.isExactly(key) else { return key }
        // Another device created the row again, and the service deleted it. This row gets a further ID when it is sent.
        if row.record == nil, try !EngineLedger(db).mayBeCreated(own, table) { return nil }
        // The response to a request in flight decides whether the request created this record.
        guard try !EngineLedger(db).isInFlight(own, table), try table.isStored(own, in: db) else { return nil }
        let replacement = KeyReplacement(engine, table, db)
        return try table.isStored(key, in: db) ? replacement.unite(own, with: key) : replacement.rekey(own, to: id)
    }

    /// Returns the creation ID in the marker of a record, or its ID. The markers of later attempts have a suffix, as in
    /// `<ID>-2`.
    private func name(of row: RemoteRecord) -> String? {
        guard let markerField = registration.markerField else {
            return if case .string(let id) = row.id { id } else { nil }
        }
        guard case .string(let name)? = row.record?[markerField] else { return nil }
        guard let dash = name.lastIndex(of: "-"), name[name.index(after: dash)...].allSatisfy(\.isNumber) else {
            return name
        }
        return String(name[..<dash])
    }

    /// Finds the new row with the natural key of a pulled record, and gives it the key of the record. Another new row
    /// with that key gets a temporary key. `key` is the key of the pulled row in the engine's tables. Returns the key
    /// of the new row afterwards. Nil if no new row matches, or if the pulled row is known, stored or deleted locally.
    func matchNaturalKey(
        of row: RemoteRecord, _ key: DatabaseValue, _ engine: SQLiteEngineStore, _ db: Database
    ) throws -> DatabaseValue? {
        guard let record = row.record, case .object = record, let id = table.key.rowKey(row.id) else { return nil }
        let values = try AttributeMapper(record, of: table.entity, in: engine.model).values
        let natural = slots.map { slot in
            (
                column: slot.column,
                value: values[slot.name].map { ColumnValue.databaseValue($0, as: slot.type) } ?? .null
            )
        }
        guard natural.contains(where: { !$0.value.isNull }), let found = byNaturalKey?[natural.map(\.value.exact)]
        else {
            return nil
        }
        let new = try found.filter { try EngineLedger(db).isNew($0, table, having: natural) }
        guard let own = new.first(where: { $0.isExactly(key) }) ?? new.last else { return nil }
        if own.isExactly(key) { return key }
        let replacement = KeyReplacement(engine, table, db)
        let isStored = try table.isStored(key, in: db)
        switch try LocalRowState(of: key, table, RowEntries(db)).state {
        case .absent where !isStored: break
        case .created where isStored: try replacement.giveLocalKey(to: key)
        case .absent, .clean, .created, .updated, .deleted: return nil
        }
        return try replacement.rekey(own, to: id)
    }
}

extension SQLiteEngineStore {
    func newRows(of table: TrackedTable) -> NewRows { memory.newRows(of: table.number) { NewRows(table, self) } }

    func insertNew(_ key: DatabaseValue, _ table: TrackedTable, in db: Database) throws {
        try newRows(of: table).insert(key, in: db)
    }
}

/// The ID of a new row before it has a remote ID: 32 hexadecimal digits. Requests that create the row send it as
/// idempotency key or as remote ID.
struct CreationID {
    let text: String

    /// Creates the ID of a row that is created again after the service deleted it. Every device computes the same ID,
    /// although devices and services spell UUIDs differently.
    init(reviving id: JSONValue, of table: TrackedTable) {
        let text = table.key.type == .single(.uuid) ? id.text.lowercased() : id.text
        let hasher = RecordHasher(seed: RecordHash(low: 0x5379_6E63, high: 0x4249_5254))
        let hash = Array("\(table.entity.name) \(text)".utf8).withUnsafeBytes { hasher.hash($0) }
        self.text = [hash.low, hash.high].map { Self.padded(String($0, radix: 16), 16) }.joined()
    }

    init(_ text: String) { self.text = text }

    /// Returns an ID of the given length, of the characters a to z and 0 to 9. Returns a UUID if no length is given.
    func text(of length: Int?) -> String {
        guard let length, let high = UInt64(text.prefix(16), radix: 16), let low = UInt64(text.suffix(16), radix: 16)
        else { return uuid }
        let count = min(max(1, length), 255)
        // Each half of the hexadecimal digits fits a UInt64 and determines half of the characters.
        return Self.digits(high, count - count / 2) + Self.digits(low, count / 2)
    }

    private static func digits(_ number: UInt64, _ count: Int) -> String {
        padded(String(String(number, radix: 36).suffix(count)), count)
    }

    private static func padded(_ text: String, _ count: Int) -> String {
        String(repeating: "0", count: count - text.count) + text
    }

    /// The ID as a UUID, in lower case.
    var uuid: String {
        let digits = Array(text)
        guard digits.count == 32 else { return text }
        return [0..<8, 8..<12, 12..<16, 16..<20, 20..<32].map { String(digits[$0]) }.joined(separator: "-")
    }
}
