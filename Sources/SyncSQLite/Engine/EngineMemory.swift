import Foundation
import GRDB

/// What an engine knows from one transaction of a run to the next, so that none reads it again: as long as nothing is written in
/// between.
///
/// `@unchecked Sendable`: it is used inside transactions that write, one at a time, and its own variables while `lock` is held.
final class EngineMemory: @unchecked Sendable {
    private let lock = NSLock()
    private var point: StoreMonitor.Moment?
    private var newRows: [Int: NewRows] = [:]
    /// What a push has looked at.
    let waitingRows = WaitingRows()

    /// - Parameter isKept: Whether the transaction leaves it true, because it notes here what it changes itself.
    func during<T>(_ db: Database, isKept: Bool, _ body: () throws -> T) throws -> T {
        let start = try StoreMonitor.Moment(db)
        lock.withLock {
            if point != start || !isKept { clear() }
            point = nil
        }
        let result = try body()
        let end = start.after(writesOf: db)
        if isKept { db.afterNextTransaction(onCommit: { [self] _ in lock.withLock { point = end } }) }
        return result
    }

    private func clear() {
        waitingRows.clear()
        newRows = [:]
    }

    /// The new rows of a table, which are read once.
    func newRows(of table: Int) -> NewRows {
        lock.withLock {
            if let known = newRows[table] { return known }
            let rows = NewRows()
            newRows[table] = rows
            return rows
        }
    }
}
