import Foundation
import GRDB

/// The state that the transactions of a run share, so that each transaction need not read it again. The cache discards
/// the state if another writer wrote between two transactions.
///
/// `@unchecked Sendable`: only write transactions use the cache, one at a time. `lock` protects its variables.
final class EngineRunCache: @unchecked Sendable {
    private let lock = NSLock()
    private var point: StoreMonitor.Moment?
    private var newRows: [Int: NewRows] = [:]
    /// The progress of the push through the outbox.
    let outboxScan = OutboxScan()

    /// Runs `body`, inside a transaction. Discards the state first if it is out of date.
    ///
    /// - Parameters:
    ///   - start: The current moment.
    ///   - isPreserved: Whether `body` keeps the state up to date. If false, the state is discarded.
    func during<T>(
        _ db: Database, since start: StoreMonitor.Moment, isPreserved: Bool, _ transactionEnd: TransactionEndObserver,
        _ body: () throws -> T
    ) throws -> T {
        lock.withLock {
            if point != start || !isPreserved { clear() }
            point = nil
        }
        let result = try body()
        let end = start.after(writesOf: db)
        if isPreserved {
            transactionEnd.afterTransaction(of: db, onCommit: { [self] _ in lock.withLock { point = end } })
        }
        return result
    }

    private func clear() {
        outboxScan.clear()
        newRows = [:]
    }

    /// Returns the index of the new rows of an entity, given its number. The first caller that needs the index fills
    /// it.
    func newRows(of table: Int) -> NewRows {
        lock.withLock {
            if let known = newRows[table] { return known }
            let rows = NewRows()
            newRows[table] = rows
            return rows
        }
    }
}
