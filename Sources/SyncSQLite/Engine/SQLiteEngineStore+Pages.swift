import GRDB
package import SyncCore
package import SyncStore

extension SQLiteEngineStore {
    package func begin(_ registration: EngineRegistration, holder: String) async throws -> RunState {
        try await transaction { [self] db in
            let lease = try LeaseStore.acquire(holder, in: db)
            // The service did not reject these changes. It had another version, or failed, several consecutive times.
            try db.executeCached(
                sql: """
                    UPDATE sync_change SET state = 'ready', reason = \(CascadeMarker.preserved), rounds = 0
                    WHERE state = 'parked' AND rounds >= ?
                    """, arguments: [RequestCompletion.maximumRounds])
            try ConflictLog(db).closeResolved(tables)
            let edits = "SELECT 1 FROM sync_change UNION ALL SELECT 1 FROM sync_unsent"
            if try db.finds(sql: edits, arguments: []) {
                for table in tables { try recordReplaced(table, in: db) }
                try OrphanedRows(self, db).removeDanglingReferences()
            }
            for table in tables { try KeyReplacement(self, table, db).assignFreedKeys() }
            let cursors = try cursors(registration, in: db)
            let engine = try db.rowCached(
                sql: """
                    SELECT seq, not_before, attempts, EXISTS (SELECT 1 FROM sync_request),
                      EXISTS (SELECT 1 FROM sync_change WHERE state = 'parked') FROM sync_engine
                    """)
            return RunState(
                lease: lease, cursors: cursors, edits: try engine?.decode(atIndex: 0) ?? 0,
                notBefore: try engine?.decode(atIndex: 1),
                attempts: try engine?.decode(atIndex: 2) ?? 0,
                isAnyUnanswered: try engine?.decode(atIndex: 3) ?? true,
                isAnyBlocked: try engine?.decode(atIndex: 4) ?? true)
        }
    }

    package func renew(_ lease: EngineLease) async throws {
        try await transaction(keepsMemory: true) { db in try LeaseStore.renew(lease, in: db) }
    }

    /// Records a local deletion for each changed row that is not stored. `REPLACE` may have deleted such rows.
    private func recordReplaced(_ table: TrackedTable, in db: Database) throws {
        guard !table.key.isSurrogate else { return }
        try db.executeCached(
            sql: """
                UPDATE sync_change SET kind = 'delete', state = 'ready', reason = NULL
                WHERE e = ? AND kind <> 'delete' AND NOT EXISTS (
                  SELECT 1 FROM \(table.table.name.quoted) AS r
                  WHERE r.\(table.table.keyColumn.quoted) = +sync_change.k\(table.isOwn("r")))
                """, arguments: [table.number])
    }

    package func cursors(_ registration: EngineRegistration) async throws -> [String: PullState] {
        try await reading { [self] db in try cursors(registration, in: db) }
    }

    private func cursors(_ registration: EngineRegistration, in db: Database) throws -> [String: PullState] {
        var cursors: [String: PullState] = [:]
        for table in tables {
            let row = try db.rowCached(
                sql: """
                    SELECT cursor, next, initial, fingerprint, swept,
                      cursor IS NOT NULL AND next IS NULL AND EXISTS (SELECT 1 FROM sync_sweep AS s WHERE s.e = c.e)
                    FROM sync_cursor AS c WHERE e = ?
                    """, arguments: [table.number])
            guard let row else { continue }
            // With another filter or mapping, the rows that were pulled before are incomplete.
            let isSame = try row.decode(String.self, atIndex: 3) == registration.filters[table.entity.name] ?? ""
            cursors[table.entity.name] = PullState(
                cursor: try isSame ? row.decode(atIndex: 0) : nil, next: try isSame ? row.decode(atIndex: 1) : nil,
                isInitialSyncComplete: try row.decode(Int.self, atIndex: 2) != 0,
                lastListing: try row.decode(atIndex: 4),
                hasUnprocessedListing: try isSame && row.decode(Bool.self, atIndex: 5))
        }
        return cursors
    }

    package func hasChanges(_ page: PulledPage) async throws -> Bool {
        let table = try table(page.entity)
        return try await reading { [self] db in
            try page.rows.contains { row in
                if !page.acceptsOlderVersions, try isBehind(row, table, page.serverTime, in: db) { return false }
                guard let key = try table.key.k(of: row.id, in: db) else { return true }
                let known = try Row.fetchOne(
                    db, sql: "SELECT version FROM sync_known WHERE e = ? AND k = ?", arguments: [table.number, key])
                if row.record == nil { return known != nil }
                return try known == nil || row.version == nil || known?.decode(atIndex: 0) != row.version
            }
        }
    }

    /// Returns whether a record has an older version than the known one. Such a record comes from a stale replica.
    ///
    /// - Parameter serverTime: The clock of the service when it responded, in milliseconds since 1970.
    func isBehind(
        _ row: PulledPage.Record, _ table: TrackedTable, _ serverTime: Int64?, in db: Database
    ) throws -> Bool {
        guard registration.ordersVersions, let version = row.version, let key = try table.key.k(of: row.id, in: db)
        else { return false }
        let known = try String.fetchOne(
            db.cachedStatement(sql: "SELECT version FROM sync_known WHERE e = ? AND k = ?"),
            arguments: [table.number, key])
        return known.map {
            RowVersion(version).isBehind(RowVersion($0), at: Self.now, serverTime: serverTime)
        } ?? false
    }

    package func areSame(_ id: JSONValue, _ other: JSONValue, of entity: String) throws -> Bool {
        let key = try table(entity).key
        guard let known = key.rowKey(id) else { return id == other }
        return known == key.rowKey(other)
    }

    package func unknown(_ ids: [JSONValue], of entity: String, since edit: Int64?) async throws -> [JSONValue] {
        let table = try table(entity)
        return try await reading { db in
            try ids.filter { id in
                guard let key = try table.key.k(of: id, in: db) else { return false }
                return try !db.finds(
                    sql: """
                        SELECT 1 FROM sync_known AS n WHERE e = ? AND k = ? AND (
                          ? IS NULL OR seq < ? OR EXISTS (SELECT 1 FROM sync_alias AS a WHERE a.e = n.e AND a.k = n.k))
                        """,
                    arguments: [table.number, key, edit, edit])
            }
        }
    }

    package func id(of record: JSONValue, _ entity: String) throws -> JSONValue? {
        let table = try table(entity)
        return model.compiled.rowKey(record, of: table.entity)?.recordKey(table.key.type).json
    }

    package func apply(_ pages: [PulledPage], _ lease: EngineLease) async throws -> AppliedChanges {
        for page in pages { _ = try table(page.entity) }
        return try await writing(lease, keepsMemory: true) { [self] db in
            memory.outboxScan.clear()
            var outcome = AppliedChanges()
            for table in pages.count > 1 ? parentsFirst : tables {
                for page in pages where page.entity == table.entity.name {
                    var writer = try PageWriter(self, table, page.serverTime, db)
                    try writer.apply(page)
                    outcome.add(writer.outcome)
                }
            }
            return outcome
        }
    }
}
