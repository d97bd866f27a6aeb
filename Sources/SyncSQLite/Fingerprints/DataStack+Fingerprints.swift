package import Foundation
import GRDB
package import SyncCore

extension DataStack {
    /// Reads the records of a payload that are not known from an earlier one, compares them with the stored rows, and
    /// writes the difference, in one transaction.
    ///
    /// - Throws: ``SyncError``, `CancellationError`, or what SQLite says; the store is then as it was.
    package func apply(
        _ data: Data, _ staging: PayloadStaging, _ use: FingerprintUse, options: SyncOptions, isDryRun: Bool
    ) async throws -> SyncResult {
        try await database.writeWithoutTransaction { db in
            var read = ToRead.none
            while true {
                do {
                    var result = SyncResult(entity: "")
                    try self.transaction(db, isDryRun: isDryRun) { db, arrivals in
                        let sync = FingerprintedSync(
                            data: data, staging: staging, use: use, options: options, model: self.model,
                            layout: self.layout, arrivals: arrivals, db: db)
                        result = try sync.apply(reading: read)
                        try Task.checkCancellation()
                    }
                    return result
                } catch let needs as KnownPlaces.NeedsRecords {
                    read.formUnion(needs.records)
                }
            }
        }
    }
}
