import GRDB
import SyncCore
import SyncStore

// Entries of many rows, read and written by a few statements.
extension EngineLedger {
    /// What an entity may have entries of. A page need not look for entries that do not exist.
    struct Facts {
        var hasKnownRows = true
        var hasChanges = true
        var hasTombstones = true
        var hasQuarantinedRecords = true
    }

    func facts(of table: TrackedTable) throws -> Facts {
        let tables = ["sync_known", "sync_outbox", "sync_tombstone", "sync_quarantine"]
        let row = try db.row(
            "SELECT " + tables.map { "EXISTS (SELECT 1 FROM \($0) WHERE e = :e)" }.joined(separator: ", "),
            ["e": table.number])
        func has(_ index: Int) throws -> Bool { try row?.decode(Bool.self, atIndex: index) ?? true }
        return Facts(
            hasKnownRows: try has(0), hasChanges: try has(1), hasTombstones: try has(2),
            hasQuarantinedRecords: try has(3))
    }

    func knownRows(_ keys: [DatabaseValue], _ table: TrackedTable) throws -> [BinaryComparedValue: KnownRow] {
        var rows: [BinaryComparedValue: KnownRow] = [:]
        try forEachEntry(
            "SELECT \(KnownRow.columns), k FROM sync_known WHERE e = \(table.number) AND ", keys
        ) { rows[($0[5] as DatabaseValue).exact] = try KnownRow($0) }
        return rows
    }

    func changes(of keys: [DatabaseValue], _ table: TrackedTable) throws -> [BinaryComparedValue: PendingChange] {
        var changes: [BinaryComparedValue: PendingChange] = [:]
        try forEachEntry(
            "SELECT \(PendingChange.columns) FROM sync_outbox WHERE e = \(table.number) AND ", keys
        ) { changes[($0[0] as DatabaseValue).exact] = try PendingChange($0) }
        return changes
    }

    /// Returns the keys of the rows that are stored.
    func storedKeys(among keys: [DatabaseValue], _ table: TrackedTable) throws -> Set<BinaryComparedValue> {
        var stored: Set<BinaryComparedValue> = []
        let key = "r.\(table.table.keyColumn.quoted)"
        try db.forEachRow(
            "SELECT \(key) FROM \(table.table.name.quoted) AS r WHERE true\(table.isOwn("r")) AND \(key) IN ", keys
        ) { stored.insert(($0[0] as DatabaseValue).exact) }
        return stored
    }

    /// Reads the entries of rows, and possibly those of rows with keys in between.
    ///
    /// - Parameter select: A query that ends before the condition for the column `k`.
    private func forEachEntry(_ select: String, _ keys: [DatabaseValue], _ body: (Row) throws -> Void) throws {
        guard let range = KeyList.denseRange(of: keys) else { return try db.forEachRow("\(select)k IN ", keys, body) }
        let rows = try Row.fetchCursor(
            db.cachedStatement(sql: "\(select)k BETWEEN ? AND ?"), arguments: [range.lowerBound, range.upperBound])
        while let row = try rows.next() { try body(row) }
    }

    func bases(of keys: [DatabaseValue], _ table: TrackedTable) throws -> [BinaryComparedValue: [String: Base]] {
        var bases: [BinaryComparedValue: [String: Base]] = [:]
        try db.forEachRow("SELECT \(Base.columns), k FROM sync_base WHERE e = \(table.number) AND k IN ", keys) { row in
            bases[(row[6] as DatabaseValue).exact, default: [:]][try row.decode(atIndex: 0)] = try Base(row)
        }
        return bases
    }

    /// Returns the keys of the rows that have a request.
    func keysWithRequests(among keys: [DatabaseValue], _ table: TrackedTable) throws -> Set<BinaryComparedValue> {
        var found: Set<BinaryComparedValue> = []
        try db.forEachRow("SELECT k FROM sync_request WHERE e = \(table.number) AND k IN ", keys) {
            found.insert(($0[0] as DatabaseValue).exact)
        }
        return found
    }

    // MARK: Changes to send

    /// The changes that one pass of a push examines.
    enum Selection {
        /// New and changed rows.
        case rows
        case newRows
        case deletions

        /// The clause that names the index. Without it, SQLite would also scan the deletions.
        fileprivate var index: String { self == .deletions ? "" : " INDEXED BY sync_outbox_row" }

        fileprivate var condition: String {
            switch self {
            case .rows: "kind <> 'delete'"
            case .newRows: "kind <> 'delete' AND kind = 'create'"
            case .deletions: "kind = 'delete'"
            }
        }
    }

    /// Returns the next changes that can be sent, in the order of their keys.
    ///
    /// - Parameters:
    ///   - key: The key after which the changes begin; NULL for the first changes.
    ///   - count: The largest number of changes to return.
    func changesToSend(
        of table: TrackedTable, _ selection: Selection, after key: DatabaseValue, upTo lastEdit: Int64,
        atMost count: Int
    ) throws -> [PendingChange] {
        var arguments: StatementArguments = [lastEdit]
        if !key.isNull { arguments += [key] }
        arguments += [count]
        let sql = Self.changesToSend(of: table, selection) + "\(key.isNull ? "" : " AND k > ?") ORDER BY k LIMIT ?"
        return try db.rows(sql, arguments).map(PendingChange.init)
    }

    /// Returns the query for changes to send. Changes that have a request are excluded.
    ///
    /// A create with an earlier attempt is not excluded if its outcome is unknown and the row was edited since.
    private static func changesToSend(of table: TrackedTable, _ selection: Selection) -> String {
        """
        SELECT \(PendingChange.columns) FROM sync_outbox AS c\(selection.index)
        WHERE e = \(table.number) AND seq <= ? AND state = 'ready' AND \(selection.condition)
          AND NOT EXISTS (SELECT 1 FROM sync_request AS r WHERE r.e = c.e AND r.k = c.k
            AND NOT (r.kind = 'create' AND c.kind = 'create' AND r.attempts > 0 AND r.seq < c.seq AND r.accepted_seq IS NULL))
        """
    }

    /// Returns the changes of rows that can be sent, and whose last edit is not after `lastEdit`.
    func changesToSend(
        of keys: [DatabaseValue], _ table: TrackedTable, _ selection: Selection, upTo lastEdit: Int64
    ) throws -> [PendingChange] {
        var changes: [PendingChange] = []
        try db.forEachRow(Self.changesToSend(of: table, selection) + " AND k IN ", head: [lastEdit], keys) {
            changes.append(try PendingChange($0))
        }
        return changes
    }

    // MARK: Requests

    /// A request to store.
    struct NewRequest {
        let request: OutgoingRequest
        let key: DatabaseValue
        let table: Int
        let sent: [SentField]
    }

    func nextRequestID() throws -> Int64 {
        try Int64.fetchOne(db.cachedStatement(sql: "SELECT ifnull(max(id), 0) + 1 FROM sync_request")) ?? 1
    }

    func insertRequests(_ requests: [NewRequest]) throws {
        try db.insert(
            requests,
            """
            INSERT INTO sync_request
              (id, e, k, kind, idempotency_key, remote, version, body, natural_key, seq, prepared_at, attempts) VALUES\u{20}
            """, row: "(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", ""
        ) { new in
            let (request, operation) = (new.request, new.request.operation)
            return [
                request.id.databaseValue, new.table.databaseValue, new.key, operation.kind.rawValue.databaseValue,
                operation.idempotencyKey.databaseValue, (operation.id?.text).databaseValue,
                operation.version.databaseValue, operation.record.text.databaseValue,
                (request.naturalKey?.text).databaseValue, request.edit.databaseValue,
                request.preparedAt.databaseValue, request.attempts.databaseValue,
            ]
        }
        try db.insert(
            requests.flatMap { new in new.sent.map { (new.request.id, $0) } },
            "INSERT INTO sync_sent (request, field, value) VALUES ", row: "(?, ?, ?)", ""
        ) { id, field in [id.databaseValue, field.name.databaseValue, field.value] }
    }

    /// Returns the current keys of the rows of requests, and whether their changes are the changes that were sent.
    func sentRows(ofRequests ids: [Int64]) throws -> [Int64: (key: DatabaseValue, isUnchanged: Bool)] {
        var rows: [Int64: (key: DatabaseValue, isUnchanged: Bool)] = [:]
        try db.forEachRow(
            """
            SELECT r.id, r.k, c.kind IS r.kind AND c.seq <= r.seq FROM sync_request AS r
            LEFT JOIN sync_outbox AS c ON c.e = r.e AND c.k = r.k WHERE r.id IN\u{20}
            """, ids.map(\.databaseValue)
        ) { rows[try $0.decode(atIndex: 0)] = ($0[1], try $0.decode(atIndex: 2)) }
        return rows
    }

    func sentFields(ofRequests ids: [Int64]) throws -> [Int64: [SentField]] {
        var fields: [Int64: [SentField]] = [:]
        try db.forEachRow("SELECT request, field, value FROM sync_sent WHERE request IN ", ids.map(\.databaseValue)) {
            row in
            fields[try row.decode(atIndex: 0), default: []].append(
                SentField(name: try row.decode(atIndex: 1), value: row[2]))
        }
        return fields
    }

    func deleteRequests(_ ids: [Int64]) throws {
        for start in ["sync_sent WHERE request", "sync_request WHERE id"] {
            try db.run("DELETE FROM \(start) IN ", keys: ids.map(\.databaseValue))
        }
    }

    func deleteAttemptedValues(of keys: [DatabaseValue], _ table: TrackedTable) throws {
        try db.run("DELETE FROM sync_tried WHERE e = \(table.number) AND k IN ", keys: keys)
    }

    /// Deletes the pending changes, base values, attempted values and join edits of rows. `isKnown` is whether the rows
    /// stay known. If false, their known versions, unreadable values and former keys are deleted too.
    func deleteEntries(of keys: [DatabaseValue], _ table: TrackedTable, isKnown: Bool = false) throws {
        for name in EngineSchema.changeTables + (isKnown ? [] : EngineSchema.knownTables) {
            try db.run("DELETE FROM \(name) WHERE e = \(table.number) AND k IN ", keys: keys)
        }
        guard !table.joinTables.isEmpty else { return }
        try db.run("DELETE FROM sync_link WHERE link IN (\(table.joinTableNames)) AND owner IN ", keys: keys)
    }

    /// Deletes the base values of fields.
    func deleteBases(of fields: Set<String>, _ keys: [DatabaseValue], _ table: TrackedTable) throws {
        let names = fields.sorted().map(\.literal).joined(separator: ", ")
        try db.run("DELETE FROM sync_base WHERE e = \(table.number) AND field IN (\(names)) AND k IN ", keys: keys)
    }

    /// Updates the changes of rows whose requests the service applied. See ``finishSent(_:_:)-(DatabaseValue,_)``.
    ///
    /// - Returns: The keys of rows that still have a change.
    func finishSent(_ keys: [DatabaseValue], _ table: TrackedTable) throws -> Set<BinaryComparedValue> {
        var left: Set<BinaryComparedValue> = []
        try db.forEachRow("SELECT DISTINCT k FROM sync_base WHERE e = \(table.number) AND k IN ", keys) {
            left.insert(($0[0] as DatabaseValue).exact)
        }
        if !table.joinTables.isEmpty {
            try db.forEachRow(
                "SELECT DISTINCT owner FROM sync_link WHERE link IN (\(table.joinTableNames)) AND owner IN ", keys
            ) {
                left.insert(($0[0] as DatabaseValue).exact)
            }
        }
        try db.run(
            "UPDATE sync_outbox SET \(Self.stillPending) WHERE e = \(table.number) AND k IN ",
            keys: keys.filter { left.contains($0.exact) })
        try db.run(
            "DELETE FROM sync_outbox WHERE e = \(table.number) AND k IN ",
            keys: keys.filter { !left.contains($0.exact) })
        return left
    }

    // MARK: Known rows

    /// A row to record as known.
    struct KnownEntry {
        let key: DatabaseValue
        let version: String?
        let time: Int64?
        /// Whether the store has all values of the version.
        var isWhole = false
        /// The remote ID as the service spells it; nil if an export spells it the same.
        let spelled: String?
    }

    /// How the engine learned that the service has a row.
    enum Source {
        /// The service returned a record, which is stored now.
        case pulled
        /// The service applied a request. The next record of the row is merged, whatever its version.
        case sent(isCreated: Bool)
        /// The service returned a record of a locally deleted row, whose deletion is sent for the version of the record.
        /// The row need not be known, since the response to its create may be lost.
        case pulledDeleted

        /// The assignments for a row that is already known.
        fileprivate var update: String {
            switch self {
            case .pulled:
                """
                version = excluded.version, time = excluded.time, origin = 'pulled', trust = excluded.trust,
                  remote = excluded.remote
                WHERE origin <> 'pulled' OR version IS NOT excluded.version OR time IS NOT excluded.time
                  OR trust <> excluded.trust OR remote IS NOT excluded.remote
                """
            case .sent(let isCreated):
                """
                version = coalesce(excluded.version, version), time = coalesce(excluded.time, time), origin = 'pulled',
                  trust = 'recheck', remote = coalesce(excluded.remote, remote)
                """ + (isCreated ? ", heard = excluded.heard" : "")
            case .pulledDeleted: "version = excluded.version, time = excluded.time"
            }
        }
    }

    /// Records rows as known.
    func insertKnown(_ entries: [KnownEntry], _ table: TrackedTable, _ source: Source) throws {
        // For many rows, the counter is read once.
        let edit = entries.count == 1 ? nil : try edit().databaseValue
        try db.insert(
            entries, "INSERT INTO sync_known (e, k, version, time, origin, trust, remote, heard) VALUES ",
            row: "(\(table.number), ?, ?, ?, 'pulled', ?, ?, \(edit == nil ? Self.currentEdit : "?"))",
            " ON CONFLICT DO UPDATE SET \(source.update)"
        ) { entry in
            let trust = entry.isWhole ? KnownRow.Trust.current : .recheck
            let values = [
                entry.key, entry.version.databaseValue, entry.time.databaseValue, trust.rawValue.databaseValue,
                entry.spelled.databaseValue,
            ]
            return edit.map { values + [$0] } ?? values
        }
        // The name of a deleted row cannot be read.
        if case .pulledDeleted = source { return }
        guard table.key.isSurrogate else { return }
        for entry in entries { try insertName(of: entry.key, table) }
    }

    /// Records that a listing has rows.
    func insertListed(_ keys: [DatabaseValue], _ table: TrackedTable) throws {
        try db.insert(
            keys, "INSERT INTO sync_listed (e, k) VALUES ", row: "(\(table.number), ?)", " ON CONFLICT DO NOTHING"
        ) { [$0] }
    }
}
