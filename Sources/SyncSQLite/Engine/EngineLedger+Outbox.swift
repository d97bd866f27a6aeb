import GRDB
import SyncCore
import SyncStore

// The outbox: pending changes, one for each row.
extension EngineLedger {
    // MARK: Reading

    func change(of key: DatabaseValue, _ table: TrackedTable) throws -> PendingChange? {
        try db.row("SELECT \(PendingChange.columns) FROM sync_outbox WHERE e = ? AND k = ?", table.number, key).map(
            PendingChange.init)
    }

    func changes(of keys: [DatabaseValue], _ table: TrackedTable) throws -> [BinaryComparedValue: PendingChange] {
        var changes: [BinaryComparedValue: PendingChange] = [:]
        try db.forEachEntry(
            "SELECT \(PendingChange.columns) FROM sync_outbox WHERE e = \(table.number) AND ", keys
        ) { changes[$0[0].exact] = try PendingChange($0) }
        return changes
    }

    /// Returns whether a deletion also applies to a pulled row with another key: the row was deleted before it was
    /// pulled, and the pulled row was not edited since.
    func wasDeleted(_ old: DatabaseValue, before new: DatabaseValue, _ table: TrackedTable) throws -> Bool {
        try db.finds(
            """
            SELECT 1 FROM sync_outbox AS c JOIN sync_known AS n ON n.e = c.e
            WHERE c.e = ? AND c.k = ? AND n.k = ? AND c.kind = 'delete' AND n.heard >= c.seq
              AND n.origin <> 'preexisting'
              AND NOT EXISTS (SELECT 1 FROM sync_outbox AS own WHERE own.e = n.e AND own.k = n.k)
            """, table.number, old, new)
    }

    /// Returns the creation IDs of the new rows of an entity. `key`: nil to read all new rows.
    func creationIDs(of table: TrackedTable, _ key: DatabaseValue? = nil) throws -> [(id: String, key: DatabaseValue)] {
        try db.rows(
            "SELECT creation_id, k FROM sync_outbox WHERE e = ? AND kind = 'create' AND creation_id IS NOT NULL"
                + (key == nil ? "" : " AND k = ?"),
            list: [table.number.databaseValue] + [key].compactMap(\.self)
        ).map { (try $0.decode(atIndex: 0), $0[1]) }
    }

    func hasChanges(of table: TrackedTable) throws -> Bool {
        try db.finds("SELECT 1 FROM sync_outbox WHERE e = ?", table.number)
    }

    /// Returns whether the outbox has changes, or rows that were deleted before they were sent.
    func hasChanges() throws -> Bool { try db.finds("SELECT 1 FROM sync_outbox UNION ALL SELECT 1 FROM sync_unsent") }

    func hasBlockedChanges() throws -> Bool { try db.finds("SELECT 1 FROM sync_outbox WHERE state = 'blocked'") }

    /// Returns the number of pending changes of entities that are not blocked.
    func pendingCount(of numbers: [Int]) throws -> Int {
        try numbers.reduce(0) { count, number in
            try count
                + (db.first(Int.self, "SELECT count(*) FROM sync_outbox WHERE e = ? AND state <> 'blocked'", number)
                    ?? 0)
        }
    }

    /// Notifies observations of the outbox. SQLite does not report writes to tables without a rowid.
    func notifyObservers() throws {
        try db.notifyChanges(in: db.cachedStatement(sql: "SELECT * FROM sync_outbox").databaseRegion)
    }

    func changeCount(of number: Int) throws -> Int {
        try db.first(Int.self, "SELECT count(*) FROM sync_outbox WHERE e = ?", number) ?? 0
    }

    func changeCount(of key: DatabaseValue, _ number: Int) throws -> Int {
        try db.first(Int.self, "SELECT count(*) FROM sync_outbox WHERE e = ? AND k = ?", number, key) ?? 0
    }

    func blockedChanges(of table: TrackedTable) throws -> [(key: DatabaseValue, reason: String)] {
        try db.rows("SELECT k, message FROM sync_outbox WHERE e = ? AND state = 'blocked'", table.number).map {
            ($0[0], try $0.decode(String?.self, atIndex: 1) ?? "")
        }
    }

    /// Returns the keys of the rows of a table with pending or blocked changes, also in a database without an engine.
    func changedKeys(of model: CompiledModel, _ table: TableID) throws -> [DatabaseValue] {
        guard let outbox = try EngineSchema.names(in: db)?.outbox else { return [] }
        return try db.values("SELECT k FROM \(outbox) WHERE e IN (\(model.engineNumbers(of: table)))")
    }

    /// Returns the number of pending and blocked changes of all entities, also in a database without an engine.
    func totalChangeCount() throws -> Int {
        guard let outbox = try EngineSchema.names(in: db)?.outbox else { return 0 }
        return try db.first(Int.self, "SELECT count(*) FROM \(outbox)") ?? 0
    }

    /// Returns the number of pending and blocked changes of all entities, and the number of deletions among them. Returns
    /// nil in a database without an outbox, and in one that an earlier version wrote.
    func totalChangeCounts() throws -> PendingChangeCounts? {
        guard try EngineSchema.names(in: db) != nil, try EngineSchema.isCurrent(in: db),
            let row = try db.row("SELECT count(*), coalesce(sum(kind = 'delete'), 0) FROM sync_outbox")
        else { return nil }
        return PendingChangeCounts(changes: try row.decode(atIndex: 0), deletions: try row.decode(atIndex: 1))
    }

    /// Returns the keys of the rows with a change of a kind, by the number of the entity.
    func changedKeys(_ kind: PendingChange.Kind) throws -> [Int: Set<BinaryComparedValue>] {
        try db.rows("SELECT e, k FROM sync_outbox WHERE kind = ?", kind.rawValue).reduce(into: [:]) { keys, row in
            keys[try row.decode(atIndex: 0), default: []].insert(row[1].exact)
        }
    }

    /// Returns the numbers of the entities with deletions to send, or with rows that were deleted before they were sent.
    func entitiesWithDeletions() throws -> Set<Int> {
        try Set(
            db.all(
                Int.self,
                "SELECT e FROM sync_outbox WHERE kind = 'delete' AND state = 'ready' UNION SELECT e FROM sync_unsent"))
    }

    // MARK: Recording changes

    static let currentEdit = "(SELECT seq FROM sync_engine)"
    /// The SQL of the columns of a change that is ready to be sent.
    private static let isReady = "state = 'ready', reason = NULL, message = NULL"
    /// The SQL of the columns of a change that is ready to be sent and was not judged by the service.
    private static let isFresh = "\(isReady), rejections = 0, contentions = 0"

    /// Updates the change of a row. `columns` has a parameter for each of `values`.
    private func set(
        _ columns: String, _ values: String..., of key: DatabaseValue, _ table: TrackedTable,
        where condition: String = ""
    ) throws {
        try db.run(
            "UPDATE sync_outbox SET \(columns) WHERE e = ? AND k = ?" + (condition.isEmpty ? "" : " AND \(condition)"),
            list: values.map(\.databaseValue) + [table.number.databaseValue, key])
    }

    /// Records an update of a known row, unless the row already has a change. The push determines which fields differ.
    func insertUpdate(of key: DatabaseValue, _ table: TrackedTable) throws {
        try db.run(
            "INSERT INTO sync_outbox (e, k, kind, seq) VALUES (?, ?, 'update', \(Self.currentEdit)) ON CONFLICT DO NOTHING",
            table.number, key)
    }

    /// Records that a row is to be created again, because the service deleted it.
    func insertRestoration(of key: DatabaseValue, _ table: TrackedTable, _ creationID: CreationID) throws {
        // `rejections` is 0 so that the creation ID gets no suffix. Two devices that create the row again therefore
        // create only one row.
        try db.run(
            """
            INSERT INTO sync_outbox (e, k, kind, creation_id, seq) VALUES (?, ?, 'create', ?, \(Self.currentEdit))
            ON CONFLICT DO UPDATE SET kind = 'create', creation_id = excluded.creation_id, cause = 'edit', \(Self.isFresh)
            """, table.number, key, creationID.text)
    }

    func setCreationID(_ creationID: CreationID, of key: DatabaseValue, _ table: TrackedTable) throws {
        try set("creation_id = ?", creationID.text, of: key, table, where: "kind = 'create'")
    }

    func setDeletion(of key: DatabaseValue, _ table: TrackedTable) throws { try set("kind = 'delete'", of: key, table) }

    /// Records that the service has a locally deleted row. It may have carried out a create without a response.
    func setKnownDeletion(of key: DatabaseValue, _ table: TrackedTable) throws {
        try set("creation_id = NULL", of: key, table, where: "kind = 'delete'")
    }

    /// Turns the change of a row into the deletion of a row that the service has now, to be sent.
    func setDeletionOfSentRow(_ key: DatabaseValue, _ table: TrackedTable) throws {
        try set("kind = 'delete', creation_id = NULL, cause = 'edit', \(Self.isReady), rejections = 0", of: key, table)
    }

    /// Turns the change of a row into a create with a new creation ID, because the service has deleted the row.
    func setCreate(of key: DatabaseValue, _ table: TrackedTable) throws {
        let id = "lower(hex(randomblob(16)))"
        try set("kind = 'create', creation_id = \(id), rejections = 0, contentions = 0", of: key, table)
    }

    // MARK: Outcomes

    /// Updates the change of a merged row, which the service has. A create becomes an update. An update without
    /// differences and without a request is deleted.
    func finishMerge(_ key: DatabaseValue, _ table: TrackedTable) throws {
        try set(
            """
            kind = 'update', creation_id = NULL, rejections = 0, contentions = 0, cause = 'edit',
              reason = NULL, message = NULL, state = iif(state = 'blocked', 'ready', state)
            """, of: key, table, where: "kind = 'create'")
        try endConflict(key, table)
        try db.run(
            """
            DELETE FROM sync_outbox WHERE e = ?1 AND k = ?2 AND kind = 'update'
              AND NOT EXISTS (SELECT 1 FROM sync_base WHERE e = ?1 AND k = ?2)
              AND NOT EXISTS (SELECT 1 FROM sync_link WHERE owner = ?2 AND link IN (\(table.joinTableNames)))
              AND NOT EXISTS (SELECT 1 FROM sync_request WHERE e = ?1 AND k = ?2)
            """, table.number, key)
    }

    /// Updates the change of a row whose request the service applied. The change is deleted if no field differs any
    /// more. Otherwise it becomes an update.
    func finishSent(_ key: DatabaseValue, _ table: TrackedTable) throws {
        let isLeft = try db.finds(
            """
            SELECT 1 FROM sync_base WHERE e = ? AND k = ?
            UNION ALL SELECT 1 FROM sync_link WHERE owner = ? AND link IN (\(table.joinTableNames))
            """, table.number, key, key)
        if isLeft { return try set(Self.stillPending, of: key, table) }
        try db.run("DELETE FROM sync_outbox WHERE e = ? AND k = ?", table.number, key)
    }

    /// Updates the changes of rows whose requests the service applied. See ``finishSent(_:_:)-(DatabaseValue,_)``.
    ///
    /// - Returns: The keys of rows that still have a change.
    func finishSent(_ keys: [DatabaseValue], _ table: TrackedTable) throws -> Set<BinaryComparedValue> {
        var left: Set<BinaryComparedValue> = []
        try db.forEachRow("SELECT DISTINCT k FROM sync_base WHERE e = \(table.number) AND k IN ", keys) {
            left.insert($0[0].exact)
        }
        if !table.joinTables.isEmpty {
            try db.forEachRow(
                "SELECT DISTINCT owner FROM sync_link WHERE link IN (\(table.joinTableNames)) AND owner IN ", keys
            ) {
                left.insert($0[0].exact)
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

    /// The SQL of the columns of a change of which the service applied an earlier part.
    static let stillPending = """
        kind = 'update', creation_id = NULL, rejections = 0, contentions = 0, reason = NULL, message = NULL,
          state = \(readyUnlessConflicted)
        """

    /// The SQL of the state of a change after an edit. The edit unblocks the change, but does not resolve an open
    /// conflict.
    static let readyUnlessConflicted = "CASE \"state\" WHEN 'conflicted' THEN 'conflicted' ELSE 'ready' END"

    /// Returns the SQL of the assignments that make a change pending again after an edit of its row. The edit counter is
    /// in `excluded`.
    static func edited(state: String = readyUnlessConflicted) -> String {
        """
        "seq" = excluded."seq", "state" = \(state), "cause" = 'edit', "reason" = NULL, "message" = NULL, "contentions" = 0
        """
    }

    func setConflicted(_ key: DatabaseValue, _ table: TrackedTable) throws {
        try set("state = 'conflicted', reason = NULL, message = NULL", of: key, table)
    }

    private static let isResolved = """
        state = 'conflicted' AND NOT EXISTS (
          SELECT 1 FROM sync_conflict AS c WHERE c.e = sync_outbox.e AND c.k = sync_outbox.k AND winner = 'open')
        """

    /// Makes the change of a row ready to be sent if the row has no open conflict any more.
    func endConflict(_ key: DatabaseValue, _ table: TrackedTable) throws {
        try set("state = 'ready'", of: key, table, where: Self.isResolved)
    }

    /// Makes the changes of an entity ready to be sent if their rows have no open conflict any more.
    func endConflicts(of number: Int) throws {
        try db.run("UPDATE sync_outbox SET state = 'ready' WHERE e = ? AND \(Self.isResolved)", number)
    }

    /// Records a final rejection of a change.
    func addRejection(of key: DatabaseValue, _ table: TrackedTable) throws {
        try set("rejections = rejections + 1, judged = \(Self.currentEdit)", of: key, table)
    }

    /// Records a final rejection of a create whose row was edited since. The row is sent with another idempotency key,
    /// because the service may repeat its rejection for the old key.
    func addRejectionOfEarlierCreate(_ key: DatabaseValue, _ table: TrackedTable) throws {
        try set("rejections = rejections + 1", of: key, table, where: "kind = 'create'")
    }

    /// Records a response with another version, or one that rejects the ID of a row that is created again. Returns the
    /// number of consecutive responses of this kind.
    func addContention(of key: DatabaseValue, _ table: TrackedTable) throws -> Int? {
        try set("contentions = contentions + 1", of: key, table)
        return try change(of: key, table)?.contentions
    }

    // MARK: Blocking

    /// Blocks the change of a row. `message` is for users.
    func block(
        _ key: DatabaseValue, _ table: TrackedTable, _ reason: PendingChange.BlockReason, _ message: String
    ) throws { try set("state = 'blocked', reason = ?, message = ?", reason.rawValue, message, of: key, table) }

    /// Blocks the create of a row that an earlier attempt may have created, unless the row was deleted or edited after
    /// the request was built. Returns whether the change is blocked.
    func blockUncertain(_ key: DatabaseValue, _ table: TrackedTable, _ message: String, request: Int64) throws -> Bool {
        try db.run(
            """
            UPDATE sync_outbox SET state = 'blocked', reason = 'uncertain', message = ?
            WHERE e = ? AND k = ? AND kind <> 'delete' AND seq <= (SELECT seq FROM sync_request WHERE id = ?)
            """, message, table.number, key, request)
        return db.changesCount > 0
    }

    /// Makes blocked changes pending again. Returns the number of changes.
    @discardableResult
    func unblock(_ changes: Unblocked) throws -> Int {
        try db.run(
            "UPDATE sync_outbox SET \(Self.isReady)\(changes.more) WHERE state = 'blocked' AND \(changes.condition)",
            changes.arguments)
        return db.changesCount
    }

    /// The blocked changes that an event makes pending again.
    struct Unblocked {
        /// The SQL condition of the changes, besides that they are blocked.
        private(set) var condition: String
        private(set) var arguments: StatementArguments = []
        /// The SQL of further assignments, beginning with a comma.
        private(set) var more = ""

        /// All changes without a stored request, except those of missing rows: the store got another model.
        static var model: Unblocked {
            let hasRequest =
                "EXISTS (SELECT 1 FROM sync_request AS r WHERE r.e = sync_outbox.e AND r.k = sync_outbox.k)"
            return Unblocked(condition: "reason <> 'missing' AND NOT \(hasRequest)", more: ", contentions = 0")
        }

        /// Contended and failing changes: another run begins.
        static var run: Unblocked {
            Unblocked(condition: "reason IN ('contended', 'failing')", more: ", contentions = 0")
        }

        /// New rows in a cycle. The next push determines whether they still form one.
        static var cycle: Unblocked { Unblocked(condition: "reason = 'cycle'") }

        /// Changes of an entity that the service rejected once: rows were deleted.
        static func rejectedOnce(_ table: TrackedTable) -> Unblocked {
            Unblocked(condition: "e = ? AND rejections = 1", arguments: [table.number])
        }

        /// Changes of an entity that the service rejected after an edit counter: later changes were applied. These
        /// rejections do not count for ``rejectedOnce(_:)``, except those of creates, whose next attempt needs another
        /// idempotency key.
        static func rejected(_ table: TrackedTable, after edit: Int64) -> Unblocked {
            Unblocked(
                condition: "e = ? AND reason = 'rejected' AND judged > ?", arguments: [table.number, edit],
                more: ", rejections = rejections - (kind <> 'create')")
        }

        /// Rejected changes of rows whose foreign key in a column references a row that became known since. `numbers`
        /// has the numbers of the referenced entities.
        static func referencing(_ table: TrackedTable, _ column: TrackedTable.Column, _ numbers: [Int]) -> Unblocked {
            let list = numbers.map(String.init).joined(separator: ", ")
            return Unblocked(
                condition: """
                    e = ? AND rejections > 0 AND kind <> 'delete' AND EXISTS (
                      SELECT 1 FROM \(table.sql) AS r JOIN sync_known AS n ON n.e IN (\(list)) AND n.k = +r.\(column.sql)
                        AND n.origin <> 'preexisting'
                      WHERE r.\(table.keySQL) = +sync_outbox.k AND n.heard >= ifnull(sync_outbox.judged, 0))
                    """, arguments: [table.number])
        }

        /// Changes of rows in a list of keys, as SQL with the parameter `:key`, except those of missing rows: a row that
        /// they reference is created again, or gone.
        static func rows(_ table: TrackedTable, keys: String, _ key: DatabaseValue) -> Unblocked {
            Unblocked(
                condition: "e = :e AND reason <> 'missing' AND k IN (\(keys))",
                arguments: ["e": table.number, "key": key])
        }

        /// The change of a row, unless the service does not have the row.
        static func row(_ table: TrackedTable, _ key: DatabaseValue) -> Unblocked {
            Unblocked(condition: "e = ? AND k = ? AND reason <> 'missing'", arguments: [table.number, key])
        }

        /// The change of a row, whatever the reason.
        static func storedRow(_ table: TrackedTable, _ key: DatabaseValue) -> Unblocked {
            Unblocked(condition: "e = ? AND k = ?", arguments: [table.number, key])
        }

        /// Changes of missing rows of an entity that the current listing has.
        static func listed(_ table: TrackedTable) -> Unblocked {
            Unblocked(
                condition: """
                    e = ? AND reason = 'missing' AND EXISTS (
                      SELECT 1 FROM sync_listed AS s WHERE s.e = sync_outbox.e AND s.k = sync_outbox.k)
                    """, arguments: [table.number])
        }
    }
}
