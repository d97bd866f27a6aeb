import GRDB
import SyncCore
import SyncStore

/// The values and entries of the rows that a push examines next, read together.
struct OutgoingEntries {
    private let ledger: EngineLedger
    /// The number of the entity. Rows of other entities may have the same keys.
    private var entity: Int?
    private var read: Set<BinaryComparedValue> = []
    /// The values of the rows; nil if they were not read.
    private var values: [BinaryComparedValue: [String: DatabaseValue]]?
    /// The base values of the rows; nil if they were not read.
    private var bases: [BinaryComparedValue: [String: EngineLedger.Base]]?
    private var known: [BinaryComparedValue: KnownRow] = [:]
    private var keysWithRequests: Set<BinaryComparedValue> = []

    /// Creates entries of no rows. Each row is then read separately.
    init(_ db: Database) { ledger = EngineLedger(db) }

    /// - Parameters:
    ///   - isDeleted: Whether the rows are deleted. Requests of deletions contain no values.
    ///   - mayHaveRequests: Whether any row may have a request.
    init(
        of keys: [DatabaseValue], _ table: TrackedTable, isDeleted: Bool, mayHaveRequests: Bool, _ db: Database
    ) throws {
        self.init(db)
        if !isDeleted {
            values = try table.fieldReader.values(of: keys, in: db)
            bases = try ledger.bases(of: keys, table)
        }
        known = try ledger.knownRows(keys, table)
        if mayHaveRequests { keysWithRequests = try ledger.keysWithRequests(among: keys, table) }
        entity = table.number
        read = Set(keys.map(\.exact))
    }

    private func isRead(_ key: DatabaseValue, _ table: TrackedTable) -> Bool {
        entity == table.number && read.contains(key.exact)
    }

    /// Returns the values of a row by column; nil if the row is not stored.
    func values(of key: DatabaseValue, _ table: TrackedTable) throws -> [String: DatabaseValue]? {
        guard isRead(key, table), let values else { return try table.fieldReader.values(of: key, in: ledger.db) }
        return values[key.exact]
    }

    func bases(of key: DatabaseValue, _ table: TrackedTable) throws -> [String: EngineLedger.Base] {
        guard isRead(key, table), let bases else { return try ledger.bases(of: key, table) }
        return bases[key.exact] ?? [:]
    }

    func known(_ key: DatabaseValue, _ table: TrackedTable) throws -> KnownRow? {
        isRead(key, table) ? known[key.exact] : try ledger.knownRow(key, table)
    }

    /// Returns whether a row may have a request.
    func mayHaveRequest(_ key: DatabaseValue, _ table: TrackedTable) -> Bool {
        !isRead(key, table) || keysWithRequests.contains(key.exact)
    }
}
