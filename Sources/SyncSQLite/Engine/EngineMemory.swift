import Foundation
import GRDB

/// State that an engine keeps between the transactions of a run, so that they need not read it again. It is discarded
/// if anything else was written in between.
///
/// `@unchecked Sendable`: it is used in write transactions only, one at a time. `lock` protects its variables.
final class EngineMemory: @unchecked Sendable {
    private let lock = NSLock()
    private var point: StoreMonitor.Moment?
    private var newRows: [Int: NewRows] = [:]
    /// The outbox entries that a push has examined.
    let outboxScan = OutboxScan()

    /// Runs a transaction.
    ///
    /// - Parameter isKept: Whether the state is valid after the transaction, because the transaction updates it.
    func during<T>(_ db: Database, isPreserved: Bool, _ body: () throws -> T) throws -> T {
        let start = try StoreMonitor.Moment(db)
        lock.withLock {
            if point != start || !isPreserved { clear() }
            point = nil
        }
        let result = try body()
        let end = start.after(writesOf: db)
        if isPreserved { db.afterNextTransaction(onCommit: { [self] _ in lock.withLock { point = end } }) }
        return result
    }

    private func clear() {
        outboxScan.clear()
        newRows = [:]
    }

    /// Returns the new rows of a table. They are read once.
    func newRows(of table: Int) -> NewRows {
        lock.withLock {
            if let known = newRows[table] { return known }
            let rows = NewRows()
            newRows[table] = rows
            return rows
        }
    }
}
