import GRDB
import SyncCore
import SyncStore

/// The values and entries of the rows that a push examines next, read together.
struct OutgoingEntries {
    private let ledger: EngineLedger
    /// The number of the entity. Rows of other entities may have the same keys.
    private var entity: Int?
    private var read: Set<BinaryComparedValue> = []
    private var values: [BinaryComparedValue: [String: DatabaseValue]] = [:]
    private var bases: [BinaryComparedValue: [String: EngineLedger.Base]] = [:]
    private var known: [BinaryComparedValue: KnownRow] = [:]
    private var keysWithRequests: Set<BinaryComparedValue> = []

    /// Creates entries of no rows. Each row is then read separately.
    init(_ db: Database) { ledger = EngineLedger(db) }

    init(of keys: [DatabaseValue], _ table: TrackedTable, _ db: Database) throws {
        self.init(db)
        values = try table.fieldReader.values(of: keys, in: db)
        bases = try ledger.bases(of: keys, table)
        known = try ledger.knownRows(keys, table)
        if try ledger.hasRequests() { keysWithRequests = try ledger.keysWithRequests(among: keys, table) }
        entity = table.number
        read = Set(keys.map(\.exact))
    }

    private func isRead(_ key: DatabaseValue, _ table: TrackedTable) -> Bool {
        entity == table.number && read.contains(key.exact)
    }

    /// Returns the values of a row by column; nil if the row is not stored.
    func values(of key: DatabaseValue, _ table: TrackedTable) throws -> [String: DatabaseValue]? {
        isRead(key, table) ? values[key.exact] : try table.fieldReader.values(of: key, in: ledger.db)
    }

    func bases(of key: DatabaseValue, _ table: TrackedTable) throws -> [String: EngineLedger.Base] {
        isRead(key, table) ? bases[key.exact] ?? [:] : try ledger.bases(of: key, table)
    }

    func known(_ key: DatabaseValue, _ table: TrackedTable) throws -> KnownRow? {
        isRead(key, table) ? known[key.exact] : try ledger.knownRow(key, table)
    }

    /// Returns whether a row may have a request.
    func mayHaveRequest(_ key: DatabaseValue, _ table: TrackedTable) -> Bool {
        !isRead(key, table) || keysWithRequests.contains(key.exact)
    }
}
