import GRDB
package import SyncCore

extension DataStack {
    /// Compares a plan with the stored rows and writes the difference, in one transaction.
    ///
    /// - Throws: ``SyncError``, `CancellationError`, or what SQLite says; the store is then as it was.
    package func apply(
        _ plan: ChangePlan, predicate: RecordPredicate?, options: SyncOptions, isDryRun: Bool
    ) async throws -> SyncResult {
        let layout = layout
        return try await database.writeWithoutTransaction { db in
            try Self.apply(plan, predicate, options, layout, isDryRun: isDryRun, in: db)
        }
    }

    /// A dry run does all the work and rolls it back.
    private static func apply(
        _ plan: ChangePlan, _ predicate: RecordPredicate?, _ options: SyncOptions, _ layout: StoreLayout,
        isDryRun: Bool, in db: Database
    ) throws -> SyncResult {
        var result = SyncResult(entity: "")
        try db.inTransaction(.immediate) {
            result = try SyncTransaction.apply(plan, predicate: predicate, options: options, layout: layout, in: db)
            try Task.checkCancellation()
            return isDryRun ? .rollback : .commit
        }
        return result
    }
}
