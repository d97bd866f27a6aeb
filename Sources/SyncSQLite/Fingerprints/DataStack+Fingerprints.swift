package import Foundation
import GRDB
package import SyncCore

extension DataStack {
    /// Reads the records of a payload that are not known from an earlier one, compares them with the stored rows, and
    /// writes the difference, in one transaction.
    ///
    /// - Throws: ``SyncError``, `CancellationError`, or what SQLite says; the store is then as it was.
    package func sync(
        _ data: Data, _ staging: PayloadStaging, _ use: FingerprintUse, _ request: SyncRequest
    ) async throws -> SyncResult {
        try await database.writeWithoutTransaction { db in try self.sync(data, staging, use, request, in: db) }
    }

    /// The same in the transaction that the connection is in, if it is in one.
    package func sync(
        _ data: Data, _ staging: PayloadStaging, _ use: FingerprintUse, _ request: SyncRequest, in db: Connection
    ) throws -> SyncResult {
        var read = ToRead.none
        var damage: FingerprintDamage?
        var defersIndexes = false
        while true {
            do {
                var result = try transaction(db, request, deferringIndexes: defersIndexes) { session, db in
                    let sync = FingerprintedSync(
                        data: data, staging: staging, use: use, model: self.model, layout: self.layout,
                        session: session, db: db)
                    if damage != nil || defersIndexes { try FingerprintSchema.reset(db) }
                    return try defersIndexes ? sync.syncAll() : sync.sync(reading: read)
                }
                if let damage { result.diagnostics.append(damage.diagnostic(of: use.entity)) }
                return result
            } catch let needs as KnownPlaces.NeedsRecords {
                read.formUnion(needs.records)
            } catch let found as FingerprintDamage {
                if damage != nil { throw SyncError(.storeFailure, "fingerprints cannot be made: \(found.reason)") }
                damage = found
                read = .none
            } catch {
                guard try !defersIndexes && HandMadeSchema(self.layout, db).isInTheWay(error) else { throw error }
                defersIndexes = true
            }
        }
    }

    /// Before anything is written to a store that keeps fingerprints: has their triggers go if they cannot run.
    func stopBrokenTriggers(in db: Database) throws {
        if model.keepsFingerprints { try FingerprintSchema.stopBroken(in: db) }
    }
}
