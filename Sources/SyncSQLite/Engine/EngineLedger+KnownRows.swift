import GRDB
import SyncCore
import SyncStore

// Known rows, and the sets of rows in which the store and the entries differ.
extension EngineLedger {
    func knownRow(_ key: DatabaseValue, _ table: TrackedTable) throws -> KnownRow? {
        try db.row("SELECT \(KnownRow.columns) FROM sync_known WHERE e = ? AND k = ?", table.number, key).map(
            KnownRow.init)
    }

    func knownRows(_ keys: [DatabaseValue], _ table: TrackedTable) throws -> [BinaryComparedValue: KnownRow] {
        var rows: [BinaryComparedValue: KnownRow] = [:]
        try db.forEachEntry(
            "SELECT \(KnownRow.columns), k FROM sync_known WHERE e = \(table.number) AND ", keys
        ) { rows[$0[5].exact] = try KnownRow($0) }
        return rows
    }

    func isKnown(_ key: DatabaseValue, _ table: TrackedTable) throws -> Bool {
        try db.finds("SELECT 1 FROM sync_known WHERE e = ? AND k = ?", table.number, key)
    }

    /// Returns the name of a known row with a surrogate key, or else its key; nil if the row is not known.
    func loggedKey(of key: DatabaseValue, _ table: TrackedTable) throws -> DatabaseValue? {
        try db.value("SELECT coalesce(name, k) FROM sync_known WHERE e = ? AND k = ?", table.number, key)
    }

    /// Returns whether a row is not known. With an edit counter, a row that became known at this counter or later counts
    /// as not known, unless it was created locally.
    func isUnknown(_ key: DatabaseValue, _ table: TrackedTable, since edit: Int64?) throws -> Bool {
        try !db.finds(
            """
            SELECT 1 FROM sync_known AS n WHERE e = ? AND k = ? AND (
              ? IS NULL OR heard < ? OR EXISTS (SELECT 1 FROM sync_former_key AS a WHERE a.e = n.e AND a.k = n.k))
            """, table.number, key, edit, edit)
    }

    /// Returns the number of stored rows that are known or preexisting.
    func knownCount(of table: TrackedTable) throws -> Int {
        try db.first(
            Int.self,
            """
            SELECT count(*) FROM sync_known AS n WHERE e = ? AND EXISTS (
              SELECT 1 FROM \(table.sql) AS r
              WHERE r.\(table.keySQL) = +n.k\(table.isOwn("r")))
            """, table.number) ?? 0
    }

    func facts(of table: TrackedTable) throws -> RowEntries.Facts {
        let tables = ["sync_known", "sync_outbox", "sync_tombstone", "sync_quarantine"]
        let row = try db.row(
            "SELECT " + tables.map { "EXISTS (SELECT 1 FROM \($0) WHERE e = :e)" }.joined(separator: ", "),
            ["e": table.number])
        func has(_ index: Int) throws -> Bool { try row?.decode(Bool.self, atIndex: index) ?? true }
        return RowEntries.Facts(
            hasKnownRows: try has(0), hasChanges: try has(1), hasTombstones: try has(2),
            hasQuarantinedRecords: try has(3))
    }

    // MARK: Recording known rows

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

    /// Records a row as known only from inside other records. A record that contains the row confirms a preexisting row.
    /// The merge of the page handles edits that were not captured.
    func insertNested(_ key: DatabaseValue, _ table: TrackedTable) throws {
        try db.run(
            """
            INSERT INTO sync_known (e, k, origin, heard) VALUES (?, ?, 'nested', \(Self.currentEdit))
            ON CONFLICT DO UPDATE SET origin = 'nested', trust = 'recheck'
            WHERE origin = 'preexisting' OR origin = 'nested' AND trust = 'uncaptured'
            """, table.number, key)
        try insertName(of: key, table)
        // Count the row as listed, because a record contains it.
        try insertListed([key], table)
    }

    /// Records the name of a known row, if the table has a surrogate key and no name is recorded. See ``TrackedKey``.
    func insertName(of key: DatabaseValue, _ table: TrackedTable) throws {
        guard table.key.isSurrogate else { return }
        let (name, keyColumn) = (table.sql, table.keySQL)
        try db.run(
            """
            UPDATE sync_known SET name = coalesce(
              (SELECT \(table.key.name(of: "r")) FROM \(name) AS r WHERE r.\(keyColumn) = sync_known.k), sync_known.k)
            WHERE e = ? AND k = ? AND name IS NULL
            """, table.number, key)
    }

    /// Records the name of a known row again, because its key changed.
    func updateName(of key: DatabaseValue, _ table: TrackedTable) throws {
        try db.run("UPDATE sync_known SET name = NULL WHERE e = ? AND k = ?", table.number, key)
        try insertName(of: key, table)
    }

    func deleteNames(of number: Int) throws { try db.run("UPDATE sync_known SET name = NULL WHERE e = ?", number) }

    func insertSpelledID(_ id: String, of key: DatabaseValue, _ number: Int) throws {
        try db.run("UPDATE sync_known SET remote = coalesce(remote, ?) WHERE e = ? AND k = ?", id, number, key)
    }

    func deleteKnown(_ key: DatabaseValue, _ table: TrackedTable) throws {
        try db.run("DELETE FROM sync_known WHERE e = ? AND k = ?", table.number, key)
    }

    /// Returns the known rows whose surrogate key no longer belongs to their name: the old key, and the current key, or
    /// the name if the row is not stored.
    func movedSurrogateKeys(of table: TrackedTable) throws -> [(old: DatabaseValue, new: DatabaseValue)] {
        let key = "r.\(table.keySQL)"
        return try db.rows(
            """
            SELECT k, now FROM (
              SELECT n.k, coalesce((SELECT \(key) FROM \(table.sql) AS r
                WHERE \(table.key.condition(of: "r", isNamed: "n.name"))), n.name) AS now
              FROM sync_known AS n WHERE n.e = \(table.number) AND n.name IS NOT NULL)
            WHERE now IS NOT k
            """
        ).map { ($0[0], $0[1]) }
    }

    // MARK: Comparing again

    /// Makes the next record of a row be merged, whatever its version.
    func recheck(_ key: DatabaseValue, _ table: TrackedTable) throws {
        try db.run(
            "UPDATE sync_known SET trust = 'recheck' WHERE e = ? AND k = ? AND trust = 'current'", table.number, key)
    }

    /// Makes the next record of a row be merged, whatever its version, even if the row was known only from inside other
    /// records or may have edits that were not captured.
    func recheckAny(_ key: DatabaseValue, _ table: TrackedTable) throws {
        try db.run(
            "UPDATE sync_known SET origin = 'pulled', trust = 'recheck' WHERE e = ? AND k = ?", table.number, key)
    }

    /// Makes the next record of each row of an entity be merged, whatever its version.
    func recheckAll(of table: TrackedTable) throws {
        try db.run("UPDATE sync_known SET trust = 'recheck' WHERE e = ? AND trust = 'current'", table.number)
    }

    /// Forgets the versions of all rows of an entity. Rows that may have edits that were not captured keep their
    /// versions, which are needed to find these edits. Rows that are known only from inside other records have none.
    func clearVersions(of table: TrackedTable) throws {
        try db.run(
            """
            UPDATE sync_known SET version = NULL, time = NULL, trust = 'recheck'
            WHERE e = ? AND origin <> 'nested' AND trust <> 'uncaptured'
            """, table.number)
    }

    /// Records that edits are captured, although the pull of all rows could not store some rows.
    func setCaptured(_ table: TrackedTable) throws {
        try db.run(
            "UPDATE sync_known SET trust = 'recheck' WHERE e = ? AND origin <> 'nested' AND trust = 'uncaptured'",
            table.number)
    }

    // MARK: All rows of an entity

    /// Records the stored rows of an entity that is synced for the first time. Rows with a temporary key are recorded as
    /// new, and all others as preexisting.
    func insertPreexisting(_ table: TrackedTable) throws {
        let (name, key) = (table.sql, table.keySQL)
        let isLocal = table.key.isLocal
        try insertCreates(of: table, where: isLocal)
        try db.run(
            """
            INSERT INTO sync_known (e, k, origin, heard, name)
            SELECT \(table.number), \(key), 'preexisting', 0, \(table.key.isSurrogate ? table.key.name(of: "r") : "NULL")
            FROM \(name) AS r WHERE \(key) IS NOT NULL AND NOT (\(isLocal))\(table.isOwn("r"))
            """)
    }

    /// Records the stored rows that are neither known nor changed as new.
    func insertUnknown(_ table: TrackedTable) throws {
        let key = table.keySQL
        try insertCreates(
            of: table,
            where: """
                \(key) IS NOT NULL AND NOT EXISTS (
                  SELECT 1 FROM sync_known WHERE e = \(table.number) AND k = +r.\(key))
                """)
    }

    /// Records all stored rows of an entity as new.
    func insertAll(_ table: TrackedTable) throws { try insertCreates(of: table, where: "\(table.keySQL) IS NOT NULL") }

    private func insertCreates(of table: TrackedTable, where condition: String) throws {
        try db.run(
            """
            INSERT INTO sync_outbox (e, k, kind, creation_id, seq)
            SELECT \(table.number), \(table.keySQL), 'create', lower(hex(randomblob(16))), 0
            FROM \(table.sql) AS r WHERE \(condition)\(table.isOwn("r"))
            ON CONFLICT DO NOTHING
            """)
    }

    /// Records that the edits of all rows of an entity may not have been captured.
    func setUncaptured(_ table: TrackedTable) throws {
        try db.run("UPDATE sync_known SET trust = 'uncaptured' WHERE e = ?", table.number)
    }

    /// Turns the pending deletions of rows that were inserted again into updates or creates, and unblocks them.
    func reopenReinserted(_ table: TrackedTable) throws {
        try increaseEdit()
        try db.run(
            """
            UPDATE sync_outbox SET kind = CASE WHEN creation_id IS NULL THEN 'update' ELSE 'create' END,
              seq = \(Self.currentEdit), cause = 'edit', state = 'ready', reason = NULL, message = NULL,
              contentions = 0
            WHERE e = ? AND kind = 'delete' AND NOT \(table.isMissing("sync_outbox"))
            """, table.number)
    }

    /// Records a local deletion for each known row that is not stored.
    func insertMissing(_ table: TrackedTable) throws {
        try db.run(
            """
            INSERT INTO sync_outbox (e, k, kind, seq)
            SELECT e, k, 'delete', 0 FROM sync_known AS n WHERE e = \(table.number) AND \(table.isMissing("n"))
            ON CONFLICT DO UPDATE SET kind = 'delete', state = 'ready', reason = NULL, message = NULL
            """)
    }

    /// Records a local deletion for each changed row that is not stored.
    func setMissingDeleted(_ table: TrackedTable) throws {
        try db.run(
            """
            UPDATE sync_outbox SET kind = 'delete', cause = 'edit', state = 'ready', reason = NULL, message = NULL
            WHERE e = ? AND kind <> 'delete' AND \(table.isMissing("sync_outbox"))
            """, table.number)
    }

    /// Deletes the entries of rows that are not stored and not recorded as deleted, except in the conflict log. Returns
    /// whether there were such rows.
    func deleteMissing(_ table: TrackedTable) throws -> Bool {
        let number = table.number
        let keys = """
            SELECT k FROM (SELECT k FROM sync_known WHERE e = \(number) UNION SELECT k FROM sync_outbox WHERE e = \(number)) AS n
            WHERE \(table.isMissing("n")) AND NOT EXISTS (
              SELECT 1 FROM sync_outbox AS c WHERE c.e = \(number) AND c.k = n.k AND c.kind = 'delete')
            """
        guard try db.finds(keys) else { return false }
        let isGone = "e = \(number) AND k IN (\(keys))"
        for joinTable in table.joinTables {
            try db.run("DELETE FROM sync_link WHERE link = ? AND owner IN (\(keys))", joinTable.name)
        }
        // The known rows and the outbox come last, because the statements read the keys from them.
        let last = ["sync_known", "sync_outbox"]
        let names = EngineSchema.rowTables.filter { $0 != "sync_conflict" && !last.contains($0) }
        for name in names + ["sync_former_key"] + last { try db.execute(sql: "DELETE FROM \(name) WHERE \(isGone)") }
        try deleteOrphanedSentValues()
        return true
    }

    /// Turns preexisting rows that a listing lacks into new rows.
    func insertUnlistedPreexisting(_ table: TrackedTable) throws {
        let isLacking = """
            e = \(table.number) AND \(KnownRow.isPreexisting) AND NOT EXISTS (
              SELECT 1 FROM sync_listed AS s WHERE s.e = sync_known.e AND s.k = sync_known.k)
            """
        try db.run(
            """
            INSERT INTO sync_outbox (e, k, kind, creation_id, seq)
            SELECT e, k, 'create', lower(hex(randomblob(16))), 0 FROM sync_known WHERE \(isLacking)
            ON CONFLICT DO UPDATE SET kind = 'create', creation_id = excluded.creation_id, cause = 'edit',
              state = 'ready', reason = NULL, message = NULL, rejections = 0, contentions = 0 WHERE kind = 'update'
            """)
        let rows = """
            SELECT k FROM sync_known WHERE \(isLacking) AND EXISTS (
              SELECT 1 FROM sync_outbox AS c WHERE c.e = sync_known.e AND c.k = sync_known.k AND c.kind = 'create')
            """
        // All values of a new row are sent, so its edited columns need no base values.
        try db.run(
            """
            INSERT INTO sync_made (e, k, field, edited)
            SELECT e, k, field, edited FROM sync_base WHERE e = \(table.number) AND k IN (\(rows)) ON CONFLICT DO NOTHING
            """)
        for name in ["sync_base", "sync_known"] {
            try db.execute(sql: "DELETE FROM \(name) WHERE e = \(table.number) AND k IN (\(rows))")
        }
    }

    func hasExchangedData() throws -> Bool {
        try db.finds(
            """
            SELECT 1 FROM sync_cursor UNION ALL SELECT 1 FROM sync_request UNION ALL SELECT 1 FROM sync_former_key
            UNION ALL SELECT 1 FROM sync_known WHERE origin <> 'preexisting'
            """)
    }

    // MARK: Listings

    /// Returns the SQL condition that an entry is of a row that the service has returned only inside other records.
    static func isNestedOnly(_ entry: String) -> String {
        """
        EXISTS (SELECT 1 FROM sync_known AS n WHERE n.e = \(entry).e AND n.k = \(entry).k AND n.\(KnownRow.isNestedOnly))
        """
    }

    func entitiesWithNestedOnlyRows() throws -> Set<Int> {
        try Set(db.all(Int.self, "SELECT DISTINCT e FROM sync_known WHERE \(KnownRow.isNestedOnly)"))
    }

    func isNestedOnlyRowUnlisted(of table: TrackedTable) throws -> Bool {
        try db.finds(
            """
            SELECT 1 FROM sync_known AS n WHERE e = ? AND \(KnownRow.isNestedOnly)
              AND NOT EXISTS (SELECT 1 FROM sync_listed AS s WHERE s.e = n.e AND s.k = n.k)
            """, table.number)
    }

    /// Returns the keys of the known rows that the current listing lacks, except new rows and retained rows. `ways` has
    /// the relationships through which stored rows retain rows that are known only from inside other records.
    func missingKeys(of table: TrackedTable, _ ways: [SQLiteEngineStore.NestingWay]?) throws -> [DatabaseValue] {
        let isNotRetained =
            "(NOT n.\(KnownRow.isNestedOnly) OR n.k NOT IN (SELECT held.k FROM held WHERE held.e = n.e))"
        return try db.values(
            """
            \(ways.map(Self.held) ?? "")
            SELECT k FROM sync_known AS n WHERE e = ? AND heard <= (SELECT seq FROM sync_sweep WHERE e = n.e)
              AND NOT EXISTS (SELECT 1 FROM sync_listed AS s WHERE s.e = n.e AND s.k = n.k)
              AND NOT EXISTS (SELECT 1 FROM sync_outbox AS c WHERE c.e = n.e AND c.k = n.k AND c.kind = 'create')
              AND \(ways == nil ? "true" : isNotRetained)
            """, table.number)
    }

    /// Returns the common table expression `held`: the rows known only from inside other records that are linked to a
    /// stored row. The stored row itself is not known only from inside other records. The link may lead through other
    /// rows of `held`.
    private static func held(_ ways: [SQLiteEngineStore.NestingWay]) -> String {
        let first = ways.map { way in
            """
            SELECT n.e, n.k FROM sync_known AS n JOIN \(way.names.table) AS l ON l.\(way.names.other) = +n.k
              JOIN \(way.outer.sql) AS r ON r.\(way.outer.keySQL) = l.\(way.names.mine)
            WHERE n.e = \(way.inner.number) AND n.\(KnownRow.isNestedOnly) AND NOT EXISTS (
              SELECT 1 FROM sync_known AS o
              WHERE o.e IN (\(way.outerNumbers)) AND o.k = +l.\(way.names.mine) AND o.\(KnownRow.isNestedOnly))
            """
        }
        let next = ways.map { way in
            """
            SELECT n.e, n.k FROM held AS h JOIN \(way.names.table) AS l ON l.\(way.names.mine) = +h.k
              JOIN sync_known AS n ON n.e = \(way.inner.number) AND n.k = +l.\(way.names.other) AND n.\(KnownRow.isNestedOnly)
            WHERE h.e IN (\(way.outerNumbers))
            """
        }
        let all = ["SELECT NULL, NULL WHERE 0"] + first + next
        return "WITH RECURSIVE held(e, k) AS (\(all.joined(separator: "\nUNION\n")))"
    }

    /// Returns the version of a listed row: of the quarantined record, or of the known row. Returns nil if the row is
    /// neither known nor quarantined. The inner value is nil without a version.
    func listedVersion(of id: JSONValue, _ key: DatabaseValue, _ table: TrackedTable) throws -> String?? {
        try db.row(
            """
            SELECT version FROM sync_quarantine WHERE e = ? AND k = ?
            UNION ALL SELECT version FROM sync_known WHERE e = ? AND k = ?
            """, table.number, id.text, table.number, key
        ).map { try $0.decode(String?.self, atIndex: 0) }
    }

    /// Returns the condition that the service has the row of an entry `f`.
    static let isKnownEntry = "EXISTS (SELECT 1 FROM sync_known AS n WHERE n.e = f.e AND n.k = f.k)"
}
