import Foundation
import GRDB
package import SyncCore
package import SyncStore

extension SQLiteEngineStore {
    package func begin(holder: String) async throws -> RunState {
        try await transaction { [self] db, _ in
            let lease = try LeaseStore.acquire(holder, in: db)
            // The service did not reject these changes. It had another version, or failed, several consecutive times.
            let ledger = EngineLedger(db)
            try ledger.unblock(.run)
            try ConflictLog(db).closeResolved(tables)
            if try ledger.hasChanges() {
                // `REPLACE` may have deleted changed rows.
                for table in tables where !table.key.isSurrogate { try ledger.setMissingDeleted(table) }
                try removeDanglingReferences(in: db)
                try KeyCollisions(self, db).removePendingKeys()
            }
            for table in tables { try KeyReplacement(self, table, db).assignFreedKeys() }
            let start = try ledger.start()
            return RunState(
                lease: lease, cursors: try cursors(in: db), edits: start.edit, notBefore: start.notBefore,
                attempts: start.attempts, isAnyUnanswered: try ledger.hasRequests(),
                isAnyBlocked: try ledger.hasBlockedChanges())
        }
    }

    package func renew(_ lease: EngineLease) async throws {
        try await transaction(keepsMemory: true) { db, _ in try LeaseStore.renew(lease, in: db) }
    }

    package func cursors() async throws -> [String: PullState] {
        try await reading { [self] db in try cursors(in: db) }
    }

    private func cursors(in db: Database) throws -> [String: PullState] {
        var cursors: [String: PullState] = [:]
        for table in tables {
            let name = table.entity.name
            cursors[name] = try EngineLedger(db).pullState(of: table, filter: registration.filters[name] ?? "")
        }
        return cursors
    }

    package func hasChanges(_ page: PulledPage) async throws -> Bool {
        let table = try table(page.entity)
        return try await reading { [self] db in
            let now = try db.now()
            return try page.rows.contains { row in
                guard let key = try table.key.engineKey(of: row.id, in: db) else { return true }
                let known = try EngineLedger(db).knownRow(key, table)
                if !page.acceptsOlderVersions, isBehind(row, known, at: now, page.serverTime) { return false }
                if row.record == nil { return known != nil }
                return known == nil || row.version == nil || known?.version != row.version
            }
        }
    }

    /// Returns whether a record has an older version than the known one. Such a record comes from a stale replica.
    /// `now` is the current time, and `serverTime` is the clock of the service when it responded, in milliseconds since
    /// 1970.
    func isBehind(_ row: RemoteRecord, _ known: KnownRow?, at now: Int64, _ serverTime: Int64?) -> Bool {
        guard registration.ordersVersions, let version = row.version, let known = known?.version else { return false }
        return RowVersion(version).isBehind(RowVersion(known), at: now, serverTime: serverTime)
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
                guard let key = try table.key.engineKey(of: id, in: db) else { return false }
                return try EngineLedger(db).isUnknown(key, table, since: edit)
            }
        }
    }

    package func id(of record: JSONValue, _ entity: String) throws -> JSONValue? {
        let table = try table(entity)
        return model.compiled.rowKey(record, of: table.entity)?.recordKey(table.key.type).json
    }

    package func clearNextPage(of entity: String, _ lease: EngineLease) async throws {
        let table = try table(entity)
        try await writing(lease) { db in try EngineLedger(db).clearNextPage(of: table) }
    }

    package func apply(_ pages: [PulledPage], _ lease: EngineLease) async throws -> SyncReport {
        for page in pages { _ = try table(page.entity) }
        return try await writing(lease, keepsMemory: true) { [self] db in
            memory.outboxScan.clear()
            if !memory.arePendingKeysFree {
                try KeyCollisions(self, db).removePendingKeys()
                memory.arePendingKeysFree = true
            }
            var outcome = SyncReport()
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

extension SQLiteEngineStore {
    package func beginListing(of entity: String, _ lease: EngineLease) async throws {
        let table = try table(entity)
        try await writing(lease) { db in try EngineLedger(db).beginListing(of: table) }
    }

    package func insertListed(
        _ listed: [ListedRecord], of entity: String, _ lease: EngineLease
    ) async throws -> ListingDifference {
        let table = try table(entity)
        return try await writing(lease) { [self] db in
            let ledger = EngineLedger(db)
            let now = try db.now()
            var news = ListingDifference()
            try ledger.insertListed(listed.map { try QuarantinedRecords.listed($0.id, table, in: db) }, table)
            for row in listed {
                guard let key = try table.key.engineKey(of: row.id, in: db) else { continue }
                // The last version of a quarantined record is not the known version.
                guard let known = try ledger.listedVersion(of: row.id, key, table) else {
                    news.unknown.append(row.id)
                    continue
                }
                if isBehind(known, row.version, at: now) { news.outdated.append(row.id) }
            }
            return news
        }
    }

    /// Returns whether a listing has another version of a row than the known version, and not an older one.
    private func isBehind(_ known: String?, _ listed: String?, at now: Int64) -> Bool {
        guard let listed else { return false }
        guard let known else { return true }
        let (here, there) = (RowVersion(known), RowVersion(listed))
        // The listing may come from a stale replica.
        return !here.isSame(as: there) && !(registration.ordersVersions && there.isBehind(here, at: now))
    }

    package func missing(from entity: String, _ lease: EngineLease) async throws -> [JSONValue] {
        let table = try table(entity)
        return try await writing(lease) { [self] db in
            let ledger = EngineLedger(db)
            if registration.clientAssignsIDs { try ledger.insertUnlistedPreexisting(table) }
            try QuarantinedRecords(self, table, db).removeUnlisted()
            try ledger.unblock(.listed(table))
            let bodies = try OutgoingRecordBuilder(self, db)
            return try missingKeys(of: table, in: db).map { try bodies.remoteID(of: $0, table) }
        }
    }

    package func finishListing(of entity: String, missing ids: [JSONValue], _ lease: EngineLease) async throws {
        let table = try table(entity)
        try await writing(lease) { [self] db in
            let writer = try PageWriter(self, table, nil, db)
            for id in ids { try writer.insertTombstone(id, .missing) }
        }
    }
}

// MARK: - Deletions

extension SQLiteEngineStore {
    package func applyDeletions(
        limit: DeletionLimit?, listed: [String], _ lease: EngineLease
    ) async throws -> (outcome: SyncReport, refusal: SyncError?) {
        let listed = try listed.map { try table($0) }
        return try await writing(lease, keepsMemory: true) { [self] db in
            memory.outboxScan.clear()
            let restored = try CascadeLinks(self, db).restoredRows()
            // Rows that the service reported as deleted are deleted even if the deletion limit keeps the missing rows.
            var outcome = try deleteRows(with: .reported, except: restored, in: db)
            // Reset the count: `deleteMissing` tries all quarantined records again, and counts the rejected records.
            for entity in outcome.entities.keys { outcome[entity].blockedChanges = 0 }
            do {
                try db.inSavepoint {
                    outcome.add(try deleteMissing(limit, listed, except: restored, in: db))
                    return .commit
                }
            } catch let error as SyncError where error.code == .deletionLimitExceeded {
                return (outcome, error)
            }
            return (outcome, nil)
        }
    }

    private func deleteMissing(
        _ limit: DeletionLimit?, _ listed: [TrackedTable], except restored: Set<TrackedRow>, in db: Database
    ) throws -> SyncReport {
        // Counting reads all rows, so count only if rows may be deleted.
        let ledger = EngineLedger(db)
        let isAnyMissing = try ledger.hasTombstones(.missing)
        let before = isAnyMissing ? try limit.map { _ in try tables.map(ledger.knownCount) } : nil
        var outcome = try deleteRows(with: .missing, except: restored, in: db)
        if let limit, let before, !outcome.entities.isEmpty { try check(limit, before, in: db) }
        for table in listed { try ledger.endListing(of: table, at: db.now()) }
        // Reset the count: the retry below counts the records that are rejected again.
        for entity in outcome.entities.keys { outcome[entity].blockedChanges = 0 }
        // Try to write the quarantined records again.
        for table in tables { outcome.add(try QuarantinedRecords(self, table, db).retry()) }
        return outcome
    }

    /// Deletes the rows with a tombstone. Referencing rows come first, so that each is merged by its own state before
    /// rows that it references are deleted. Rows in `restored` are created again instead.
    private func deleteRows(
        with source: EngineLedger.Tombstone.Source, except restored: Set<TrackedRow>, in db: Database
    ) throws -> SyncReport {
        var outcome = SyncReport()
        for table in parentsFirst.reversed() {
            let tombstones = try EngineLedger(db).tombstones(of: table, source)
            guard !tombstones.isEmpty else { continue }
            var writer = try PageWriter(self, table, nil, db)
            writer.options.isMissing = source == .missing
            writer.options.restoredRows = restored
            try writer.apply(
                tombstones.map {
                    RemoteRecord(id: $0.id, record: nil, modifiedAt: $0.time.map(Date.init(milliseconds:)))
                })
            try EngineLedger(db).deleteTombstones(of: table, source)
            outcome.add(writer.outcome)
        }
        return outcome
    }

    /// Checks the deletion limit of each table. `before` is the number of rows of each table before the deletion, as
    /// ``EngineLedger/knownCount(of:)`` returned it.
    private func check(_ limit: DeletionLimit, _ before: [Int], in db: Database) throws {
        for (table, before) in zip(tables, before) {
            let deleted = before - (try EngineLedger(db).knownCount(of: table))
            guard deleted > limit.allowed(of: before) else { continue }
            throw SyncError(
                .deletionLimitExceeded,
                "the sync would delete \(deleted) of \(before) \(table.entity.name) rows, because the "
                    + "service no longer has them or their owners; nothing was deleted", entity: table.entity.name)
        }
    }
}
