import GRDB
import SyncCore
import SyncStore

// The outbox: pending changes, one for each row.
extension EngineLedger {
    // MARK: Reading

    func change(of key: DatabaseValue, _ table: TrackedTable) throws -> PendingChange? {
        try db.rowCached(
            sql: "SELECT \(PendingChange.columns) FROM sync_change WHERE e = ? AND k = ?",
            arguments: [table.number, key]
        ).map(PendingChange.init)
    }

    /// Returns the creation IDs of the new rows of an entity.
    ///
    /// - Parameter key: The key of the row to read; nil to read all new rows.
    func creationIDs(of table: TrackedTable, _ key: DatabaseValue? = nil) throws -> [(id: String, key: DatabaseValue)] {
        try db.rowsCached(
            sql: "SELECT birth, k FROM sync_change WHERE e = ? AND kind = 'create' AND birth IS NOT NULL"
                + (key == nil ? "" : " AND k = ?"),
            arguments: StatementArguments([table.number.databaseValue] + [key].compactMap(\.self))
        ).map { (try $0.decode(atIndex: 0), $0[1]) }
    }

    func hasChanges(of table: TrackedTable) throws -> Bool {
        try db.finds(sql: "SELECT 1 FROM sync_change WHERE e = ?", arguments: [table.number])
    }

    /// Returns whether the outbox has changes, or rows that were deleted before they were sent.
    func hasChanges() throws -> Bool {
        try db.finds(sql: "SELECT 1 FROM sync_change UNION ALL SELECT 1 FROM sync_unsent", arguments: [])
    }

    func hasBlockedChanges() throws -> Bool {
        try db.finds(sql: "SELECT 1 FROM sync_change WHERE state = 'parked'", arguments: [])
    }

    /// Returns the number of pending changes of entities that are not blocked.
    func pendingCount(of numbers: [Int]) throws -> Int {
        try numbers.reduce(0) { count, number in
            try count
                + (Int.fetchOne(
                    db, sql: "SELECT count(*) FROM sync_change WHERE e = ? AND state <> 'parked'", arguments: [number])
                    ?? 0)
        }
    }

    /// Returns the number of pending and blocked changes of an entity; nil for all entities.
    func changeCount(of number: Int? = nil) throws -> Int {
        try Int.fetchOne(
            db, sql: "SELECT count(*) FROM sync_change WHERE ? IS NULL OR e = ?", arguments: [number, number]) ?? 0
    }

    /// Returns the number of pending and blocked changes of a row: 0 or 1.
    func changeCount(of key: DatabaseValue, _ number: Int) throws -> Int {
        try Int.fetchOne(
            db, sql: "SELECT count(*) FROM sync_change WHERE e = ? AND k = ?", arguments: [number, key]) ?? 0
    }

    /// Returns the blocked changes of an entity, with the reasons for users.
    func blockedChanges(of table: TrackedTable) throws -> [(key: DatabaseValue, reason: String)] {
        try Row.fetchAll(
            db, sql: "SELECT k, reason FROM sync_change WHERE e = ? AND state = 'parked'", arguments: [table.number]
        ).map { ($0[0], try $0.decode(String?.self, atIndex: 1).map(CascadeMarker.shown) ?? "") }
    }

    /// Returns the keys of the rows of a table with pending or blocked changes.
    func changedKeys(of model: CompiledModel, _ table: TableID) throws -> [DatabaseValue] {
        try DatabaseValue.fetchAll(
            db, sql: "SELECT k FROM sync_change WHERE e IN (\(model.engineNumbers(of: table)))")
    }

    /// Returns the keys of the locally deleted rows of each entity, by the number of the entity.
    func deletedKeys() throws -> [Int: Set<BinaryComparedValue>] {
        try Row.fetchAll(db, sql: "SELECT e, k FROM sync_change WHERE kind = 'delete'").reduce(into: [:]) { keys, row in
            keys[row[0], default: []].insert((row[1] as DatabaseValue).exact)
        }
    }

    /// Returns the numbers of the entities with deletions to send, or with rows that were deleted before they were sent.
    func entitiesWithDeletions() throws -> Set<Int> {
        try Set(
            Int.fetchAll(
                db.cachedStatement(
                    sql: """
                        SELECT e FROM sync_change WHERE kind = 'delete' AND state = 'ready' UNION SELECT e FROM sync_unsent
                        """)))
    }

    // MARK: Changes to send

    /// The changes that one pass of a push examines.
    enum Selection {
        /// New and changed rows.
        case rows
        case newRows
        case deletions

        /// The clause that names the index. Without it, SQLite would also scan the deletions.
        fileprivate var index: String { self == .deletions ? "" : " INDEXED BY sync_change_row" }

        fileprivate var condition: String {
            switch self {
            case .rows: "kind <> 'delete'"
            case .newRows: "kind <> 'delete' AND kind = 'create'"
            case .deletions: "kind = 'delete'"
            }
        }
    }

    /// Returns the change of a row if it can be sent, and if its last edit is not after `lastEdit`.
    func changeToSend(
        of key: DatabaseValue, _ table: TrackedTable, _ selection: Selection, upTo lastEdit: Int64
    ) throws -> PendingChange? {
        try db.rowCached(
            sql: Self.changesToSend("k = ?", selection), arguments: [table.number, key, lastEdit]
        ).map(PendingChange.init)
    }

    /// Returns the next changes that can be sent, at most 1000, in the order of their keys.
    ///
    /// - Parameter key: The key after which the changes begin; NULL for the first changes.
    func changesToSend(
        of table: TrackedTable, _ selection: Selection, after key: DatabaseValue, upTo lastEdit: Int64
    ) throws -> [PendingChange] {
        try db.rowsCached(
            sql: Self.changesToSend(key.isNull ? "true" : "k > ?", selection) + " ORDER BY k LIMIT 1000",
            arguments: StatementArguments(
                [table.number.databaseValue] + (key.isNull ? [] : [key]) + [lastEdit.databaseValue])
        ).map(PendingChange.init)
    }

    /// Returns the query for changes to send. Changes that have a request are excluded.
    ///
    /// A create with an earlier attempt is not excluded if its outcome is unknown and the row was edited since.
    private static func changesToSend(_ keys: String, _ selection: Selection) -> String {
        """
        SELECT \(PendingChange.columns) FROM sync_change AS c\(selection.index)
        WHERE e = ? AND \(keys) AND seq <= ? AND state = 'ready' AND \(selection.condition)
          AND NOT EXISTS (SELECT 1 FROM sync_request AS r WHERE r.e = c.e AND r.k = c.k
            AND NOT (r.kind = 'create' AND c.kind = 'create' AND r.attempts > 0 AND r.seq < c.seq AND r.taken IS NULL))
        """
    }

    // MARK: Recording changes

    /// Records an update of a known row, unless the row already has a change. The push determines which fields differ.
    func insertUpdate(of key: DatabaseValue, _ table: TrackedTable) throws {
        try db.executeCached(
            sql: """
                INSERT INTO sync_change (e, k, kind, seq) VALUES (?, ?, 'update', (SELECT seq FROM sync_engine))
                ON CONFLICT DO NOTHING
                """, arguments: [table.number, key])
    }

    /// Records that a row is to be created again, because the service deleted it.
    func insertRestoration(of key: DatabaseValue, _ table: TrackedTable, _ creationID: CreationID) throws {
        // `attempts` is 0 so that the creation ID gets no suffix. Two devices that create the row again therefore create
        // only one row.
        try db.executeCached(
            sql: """
                INSERT INTO sync_change (e, k, kind, birth, seq) VALUES (?, ?, 'create', ?, (SELECT seq FROM sync_engine))
                ON CONFLICT DO UPDATE SET kind = 'create', birth = excluded.birth, state = 'ready', reason = NULL,
                  attempts = 0, rounds = 0
                """, arguments: [table.number, key, creationID.text])
    }

    /// Sets the creation ID of a new row.
    func setCreationID(_ creationID: CreationID, of key: DatabaseValue, _ table: TrackedTable) throws {
        try db.execute(
            sql: "UPDATE sync_change SET birth = ? WHERE e = ? AND k = ? AND kind = 'create'",
            arguments: [creationID.text, table.number, key])
    }

    /// Turns the change of a row into a deletion.
    func setDeletion(of key: DatabaseValue, _ table: TrackedTable) throws {
        try db.executeCached(
            sql: "UPDATE sync_change SET kind = 'delete' WHERE e = ? AND k = ?", arguments: [table.number, key])
    }

    /// Records that the service has a locally deleted row. It may have carried out a create without a response.
    func setKnownDeletion(of key: DatabaseValue, _ table: TrackedTable) throws {
        try db.executeCached(
            sql: "UPDATE sync_change SET birth = NULL WHERE e = ? AND k = ?", arguments: [table.number, key])
    }

    /// Turns the change of a row into the deletion of a row that the service has now, to be sent.
    func setDeletionOfSentRow(_ key: DatabaseValue, _ table: TrackedTable) throws {
        try db.executeCached(
            sql: """
                UPDATE sync_change SET kind = 'delete', birth = NULL, attempts = 0, state = 'ready', reason = NULL
                WHERE e = ? AND k = ?
                """, arguments: [table.number, key])
    }

    /// Turns the change of a row into a create with a new creation ID, because the service has deleted the row.
    func setCreate(of key: DatabaseValue, _ table: TrackedTable) throws {
        try db.executeCached(
            sql: """
                UPDATE sync_change SET kind = 'create', birth = lower(hex(randomblob(16))), attempts = 0, rounds = 0
                WHERE e = ? AND k = ?
                """, arguments: [table.number, key])
    }

    /// Records updates of the known rows with a foreign key to a row whose remote ID was replaced. At the service, these
    /// rows still reference the former ID.
    func insertUpdates(
        ofRowsReferencing new: DatabaseValue, formerly old: DatabaseValue, in column: TrackedTable.Column,
        of table: TrackedTable
    ) throws {
        let key = "r.\(table.table.keyColumn.quoted)"
        let rows = """
            FROM \(table.table.name.quoted) AS r WHERE r.\(column.name.quoted) = ?\(table.isOwn("r"))
              AND EXISTS (SELECT 1 FROM sync_known WHERE e = \(table.number) AND k = +\(key))
            """
        try db.execute(
            sql: """
                INSERT INTO sync_base (e, k, domain, value, edited) SELECT \(table.number), \(key), ?, ?, ? \(rows)
                ON CONFLICT DO NOTHING
                """, arguments: [column.name, old, SQLiteEngineStore.now, new])
        try db.execute(
            sql: """
                INSERT INTO sync_change (e, k, kind, seq)
                SELECT \(table.number), \(key), 'update', (SELECT seq FROM sync_engine) \(rows) ON CONFLICT DO NOTHING
                """, arguments: [new])
    }

    // MARK: Outcomes

    /// Updates the change of a merged row, which the service has. A create becomes an update. An update without
    /// differences and without a request is deleted.
    func finishMerge(_ key: DatabaseValue, _ table: TrackedTable) throws {
        let (e, k) = (table.number, key)
        try db.executeCached(
            sql: """
                UPDATE sync_change SET kind = 'update', birth = NULL, attempts = 0, rounds = 0, reason = NULL,
                  state = CASE state WHEN 'parked' THEN 'ready' ELSE state END WHERE e = ? AND k = ? AND kind = 'create'
                """, arguments: [e, k])
        try endConflict(key, table)
        try db.executeCached(
            sql: """
                DELETE FROM sync_change WHERE e = ? AND k = ? AND kind = 'update'
                  AND NOT EXISTS (SELECT 1 FROM sync_base WHERE e = ? AND k = ?)
                  AND NOT EXISTS (SELECT 1 FROM sync_link WHERE owner = ? AND link IN (\(table.joinTableNames)))
                  AND NOT EXISTS (SELECT 1 FROM sync_request WHERE e = ? AND k = ?)
                """, arguments: [e, k, e, k, k, e, k])
    }

    /// Updates the change of a row whose request the service applied. The change is deleted if no field differs any
    /// more. Otherwise it becomes an update.
    func finishSent(_ key: DatabaseValue, _ table: TrackedTable) throws {
        let isLeft = try db.finds(
            sql: """
                SELECT 1 FROM sync_base WHERE e = ? AND k = ?
                UNION ALL SELECT 1 FROM sync_link WHERE owner = ? AND link IN (\(table.joinTableNames))
                """, arguments: [table.number, key, key])
        try db.executeCached(
            sql: isLeft
                ? """
                UPDATE sync_change SET kind = 'update', birth = NULL, attempts = 0, rounds = 0,
                  state = CASE state WHEN 'conflicted' THEN 'conflicted' ELSE 'ready' END WHERE e = ? AND k = ?
                """ : "DELETE FROM sync_change WHERE e = ? AND k = ?",
            arguments: [table.number, key])
    }

    func setConflicted(_ key: DatabaseValue, _ table: TrackedTable) throws {
        try db.executeCached(
            sql: "UPDATE sync_change SET state = 'conflicted' WHERE e = ? AND k = ?", arguments: [table.number, key])
    }

    /// Makes the change of a row ready to be sent if the row has no open conflict any more.
    func endConflict(_ key: DatabaseValue, _ table: TrackedTable) throws {
        try db.executeCached(
            sql: """
                UPDATE sync_change SET state = 'ready' WHERE e = ? AND k = ? AND state = 'conflicted'
                  AND NOT EXISTS (SELECT 1 FROM sync_conflict WHERE e = ? AND k = ? AND open = 1)
                """, arguments: [table.number, key, table.number, key])
    }

    /// Makes the changes of an entity ready to be sent if their rows have no open conflict any more.
    func endConflicts(of number: Int) throws {
        try db.execute(
            sql: """
                UPDATE sync_change SET state = 'ready' WHERE e = ? AND state = 'conflicted' AND NOT EXISTS (
                  SELECT 1 FROM sync_conflict AS c WHERE c.e = sync_change.e AND c.k = sync_change.k AND open = 1)
                """, arguments: [number])
    }

    /// Records a final rejection of a change.
    func addRejection(of key: DatabaseValue, _ table: TrackedTable) throws {
        try db.executeCached(
            sql: """
                UPDATE sync_change SET attempts = attempts + 1, seq = (SELECT seq FROM sync_engine) WHERE e = ? AND k = ?
                """, arguments: [table.number, key])
    }

    /// Records a final rejection of a create whose row was edited since. The row is sent with another idempotency key,
    /// because the service may repeat its rejection for the old key.
    func addRejectionOfEarlierCreate(_ key: DatabaseValue, _ table: TrackedTable) throws {
        try db.executeCached(
            sql: "UPDATE sync_change SET attempts = attempts + 1 WHERE e = ? AND k = ? AND kind = 'create'",
            arguments: [table.number, key])
    }

    /// Records a response with another version.
    ///
    /// - Returns: The number of such responses in a row.
    func addRound(of key: DatabaseValue, _ table: TrackedTable) throws -> Int? {
        try db.executeCached(
            sql: "UPDATE sync_change SET rounds = rounds + 1 WHERE e = ? AND k = ?", arguments: [table.number, key])
        return try change(of: key, table)?.rounds
    }

    func setRounds(_ rounds: Int, of key: DatabaseValue, _ table: TrackedTable) throws {
        try db.executeCached(
            sql: "UPDATE sync_change SET rounds = ? WHERE e = ? AND k = ?", arguments: [rounds, table.number, key])
    }

    // MARK: Blocking

    func block(_ key: DatabaseValue, _ table: TrackedTable, _ reason: String) throws {
        try db.executeCached(
            sql: "UPDATE sync_change SET state = 'parked', reason = \(CascadeMarker.blocked()) WHERE e = ? AND k = ?",
            arguments: [reason, table.number, key])
    }

    /// Blocks the change of a row, unless the row was deleted or edited after a request was built.
    ///
    /// - Returns: Whether the change is blocked.
    func block(_ key: DatabaseValue, _ table: TrackedTable, _ reason: String, unlessEditedSince request: Int64) throws
        -> Bool
    {
        try db.executeCached(
            sql: """
                UPDATE sync_change SET state = 'parked', reason = \(CascadeMarker.blocked())
                WHERE e = ? AND k = ? AND kind <> 'delete' AND seq <= (SELECT seq FROM sync_request WHERE id = ?)
                """, arguments: [reason, table.number, key, request])
        return db.changesCount > 0
    }

    /// Makes blocked changes pending again.
    ///
    /// - Returns: The number of changes.
    @discardableResult
    func unblock(_ changes: Unblocked) throws -> Int {
        let (condition, arguments) = Self.condition(of: changes)
        let rounds =
            switch changes {
            case .model, .run: ", rounds = 0"
            default: ""
            }
        try db.executeCached(
            sql:
                "UPDATE sync_change SET state = 'ready', reason = \(CascadeMarker.preserved)\(rounds) WHERE \(condition)",
            arguments: arguments)
        return db.changesCount
    }

    private static func condition(of changes: Unblocked) -> (sql: String, arguments: StatementArguments) {
        let isOtherReason = "state = 'parked' AND NOT \(CascadeMarker.isBlockedAsMissing)"
        switch changes {
        case .model:
            let hasRequest =
                "EXISTS (SELECT 1 FROM sync_request AS r WHERE r.e = sync_change.e AND r.k = sync_change.k)"
            return ("\(isOtherReason) AND NOT \(hasRequest)", [])
        case .run: return ("state = 'parked' AND rounds >= ?", [RequestCompletion.maximumRounds])
        case .rejectedOnce(let table): return ("e = ? AND state = 'parked' AND attempts = 1", [table.number])
        case .cycle:
            let prefix = OutgoingRequestBuilder.cycle
            return ("state = 'parked' AND substr(reason, 1, \(prefix.count)) = ?", [prefix])
        case .referencing(let table, let column, let numbers):
            return (
                """
                e = ? AND state = 'parked' AND attempts > 0 AND kind <> 'delete' AND EXISTS (
                  SELECT 1 FROM \(table.table.name.quoted) AS r JOIN sync_known AS n
                    ON n.e IN (\(numbers.map { "\($0)" }.joined(separator: ", "))) AND n.k = +r.\(column.name.quoted)
                  WHERE r.\(table.table.keyColumn.quoted) = +sync_change.k AND n.seq >= sync_change.seq)
                """, [table.number]
            )
        case .rows(let table, let keys, let key):
            return ("e = :e AND \(isOtherReason) AND k IN (\(keys))", ["e": table.number, "key": key])
        case .row(let table, let key): return ("e = ? AND k = ? AND \(isOtherReason)", [table.number, key])
        case .storedRow(let table, let key): return ("e = ? AND k = ?", [table.number, key])
        case .listed(let table):
            return (
                """
                e = ? AND state = 'parked' AND \(CascadeMarker.isBlockedAsMissing) AND EXISTS (
                  SELECT 1 FROM sync_seen AS s WHERE s.e = sync_change.e AND s.k = sync_change.k)
                """, [table.number]
            )
        }
    }
}
