import GRDB
package import SyncCore
package import SyncStore

extension SQLiteEngineStore {
    package func beginListing(of entity: String, _ lease: EngineLease) async throws {
        let table = try table(entity)
        try await writing(lease) { db in
            // Keep the rows that are known only from inside other records. Records that were pulled before may contain
            // them.
            try db.execute(
                sql: """
                    DELETE FROM sync_seen WHERE e = ? AND NOT EXISTS (
                      SELECT 1 FROM sync_known AS n WHERE n.e = sync_seen.e AND n.k = sync_seen.k AND n.\(NestedOnlyRows.condition))
                    """, arguments: [table.number])
            try db.execute(sql: "DELETE FROM sync_gone WHERE e = ? AND guarded", arguments: [table.number])
            try db.execute(
                sql: """
                    INSERT INTO sync_sweep (e, seq) VALUES (?, (SELECT seq FROM sync_engine))
                    ON CONFLICT DO UPDATE SET seq = excluded.seq
                    """, arguments: [table.number])
            // A row that becomes known from now on is not missing from this listing.
            try db.execute(sql: "UPDATE sync_engine SET seq = seq + 1")
        }
    }

    package func insertListed(
        _ listed: [ListedRecord], of entity: String, _ lease: EngineLease
    ) async throws -> ListingDifference {
        let table = try table(entity)
        return try await writing(lease) { [self] db in
            var news = ListingDifference()
            for row in listed {
                try db.cachedStatement(sql: "INSERT INTO sync_seen (e, k) VALUES (?, ?) ON CONFLICT DO NOTHING")
                    .execute(arguments: [table.number, QuarantinedRecords.listed(row.id, table, in: db)])
                guard let key = try table.key.k(of: row.id, in: db) else { continue }
                // The last version of a quarantined record is not in `sync_known`.
                let statement = try db.cachedStatement(
                    sql: """
                        SELECT version FROM sync_inbound WHERE e = ? AND k = ?
                        UNION ALL SELECT version FROM sync_known WHERE e = ? AND k = ?
                        """)
                let known = try Row.fetchOne(
                    statement, arguments: [table.number, row.id.text, table.number, key])
                guard let known else {
                    news.unknown.append(row.id)
                    continue
                }
                if try isBehind(known.decode(atIndex: 0), row.version) { news.outdated.append(row.id) }
            }
            return news
        }
    }

    /// Returns whether a listing has another version of a row than the known version, and not an older one.
    private func isBehind(_ known: String?, _ listed: String?) -> Bool {
        guard let listed else { return false }
        guard let known else { return true }
        let (here, there) = (RowVersion(known), RowVersion(listed))
        // The listing may come from a stale replica.
        return !here.isSame(as: there) && !(registration.ordersVersions && there.isBehind(here, at: Self.now))
    }

    package func missing(from entity: String, _ lease: EngineLease) async throws -> [JSONValue] {
        let table = try table(entity)
        return try await writing(lease) { [self] db in
            if registration.clientAssignsIDs { try uploadPreexisting(table, in: db) }
            try QuarantinedRecords(self, table, db).removeUnlisted()
            try db.execute(
                sql: """
                    UPDATE sync_change SET state = 'ready', reason = \(CascadeMarker.preserved)
                    WHERE e = ? AND state = 'parked' AND \(RequestCompletion.isNotFound) AND EXISTS (
                      SELECT 1 FROM sync_seen AS s WHERE s.e = sync_change.e AND s.k = sync_change.k)
                    """, arguments: [table.number])
            let bodies = try OutgoingRecordBuilder(self, db)
            let inside = NestedOnlyRows(self, db)
            let isAnyInside = try inside.isAnyUnlisted(of: table)
            return try DatabaseValue.fetchAll(
                db,
                sql: """
                    \(isAnyInside ? inside.held() : "")
                    SELECT k FROM sync_known AS n WHERE e = ? AND seq <= (SELECT seq FROM sync_sweep WHERE e = n.e)
                      AND NOT EXISTS (SELECT 1 FROM sync_seen AS s WHERE s.e = n.e AND s.k = n.k)
                      AND NOT EXISTS (SELECT 1 FROM sync_change AS c WHERE c.e = n.e AND c.k = n.k AND c.kind = 'create')
                      AND \(isAnyInside ? NestedOnlyRows.isNotRetained : "true")
                    """, arguments: [table.number]
            ).map { try bodies.remoteID(of: $0, table) }
        }
    }

    /// Turns preexisting rows that the service lacks into new rows. This requires a service that accepts IDs of the
    /// client.
    private func uploadPreexisting(_ table: TrackedTable, in db: Database) throws {
        let isLacking = """
            e = \(table.number) AND \(PreexistingRows.condition) AND NOT EXISTS (
              SELECT 1 FROM sync_seen AS s WHERE s.e = sync_known.e AND s.k = sync_known.k)
            """
        try db.execute(
            sql: """
                INSERT INTO sync_change (e, k, kind, birth, seq)
                SELECT e, k, 'create', lower(hex(randomblob(16))), 0 FROM sync_known WHERE \(isLacking)
                ON CONFLICT DO UPDATE SET kind = 'create', birth = excluded.birth, state = 'ready', reason = NULL,
                  attempts = 0, rounds = 0 WHERE kind = 'update'
                """)
        let rows = """
            SELECT k FROM sync_known WHERE \(isLacking) AND EXISTS (
              SELECT 1 FROM sync_change AS c WHERE c.e = sync_known.e AND c.k = sync_known.k AND c.kind = 'create')
            """
        // All values of a new row are sent, so its edited columns need no base values.
        try db.execute(
            sql: """
                INSERT INTO sync_made (e, k, domain, edited)
                SELECT e, k, domain, edited FROM sync_base WHERE e = \(table.number) AND k IN (\(rows)) ON CONFLICT DO NOTHING
                """)
        for name in ["sync_base", "sync_known"] {
            try db.execute(sql: "DELETE FROM \(name) WHERE e = \(table.number) AND k IN (\(rows))")
        }
    }

    package func finishListing(of entity: String, missing ids: [JSONValue], _ lease: EngineLease) async throws {
        let table = try table(entity)
        try await writing(lease) { [self] db in
            let writer = try PageWriter(self, table, nil, db)
            for id in ids { try writer.insertTombstone(id, isLimited: true) }
        }
    }
}
