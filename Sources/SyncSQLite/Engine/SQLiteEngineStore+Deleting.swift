import Foundation
import GRDB
package import SyncCore
package import SyncStore

extension SQLiteEngineStore {
    package func applyDeletions(
        limit: DeletionLimit?, listed: [String], _ lease: EngineLease
    ) async throws -> (outcome: SyncReport, refusal: SyncError?) {
        let listed = try listed.map { try table($0) }
        return try await writing(lease, keepsMemory: true) { [self] db in
            memory.outboxScan.clear()
            // Rows that the service reported as deleted are deleted even if the deletion limit keeps the missing rows.
            var outcome = try deleteRows(with: .reported, in: db)
            // Reset the count: `deleteMissing` tries all quarantined records again, and counts the rejected records.
            for entity in outcome.entities.keys { outcome[entity].blockedChanges = 0 }
            do {
                try db.inSavepoint {
                    outcome.add(try deleteMissing(limit, listed, in: db))
                    return .commit
                }
            } catch let error as SyncError where error.code == .deletionLimitExceeded {
                return (outcome, error)
            }
            return (outcome, nil)
        }
    }

    private func deleteMissing(
        _ limit: DeletionLimit?, _ listed: [TrackedTable], in db: Database
    ) throws -> SyncReport {
        // Counting reads all rows, so count only if rows may be deleted.
        let ledger = EngineLedger(db)
        let isAnyMissing = try ledger.hasTombstones(.missing)
        let before = isAnyMissing ? try limit.map { _ in try tables.map(ledger.knownCount) } : nil
        var outcome = try deleteRows(with: .missing, in: db)
        if let limit, let before, !outcome.entities.isEmpty { try check(limit, before, in: db) }
        for table in listed { try ledger.endListing(of: table, at: Self.now) }
        // Reset the count: the retry below counts the records that are rejected again.
        for entity in outcome.entities.keys { outcome[entity].blockedChanges = 0 }
        // Try to write the quarantined records again.
        for table in tables { outcome.add(try QuarantinedRecords(self, table, db).retry()) }
        return outcome
    }

    /// Deletes the rows with a tombstone. Referencing rows come first, so that each is merged by its own state before
    /// rows that it references are deleted.
    private func deleteRows(with source: EngineLedger.Tombstone.Source, in db: Database) throws -> SyncReport {
        var outcome = SyncReport()
        for table in parentsFirst.reversed() {
            let tombstones = try EngineLedger(db).tombstones(of: table, source)
            guard !tombstones.isEmpty else { continue }
            var writer = try PageWriter(self, table, nil, db)
            writer.options.isMissing = source == .missing
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
