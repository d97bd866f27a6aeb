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
    private var areKeysFree = false
    let outboxScan = OutboxScan()

    /// Runs `body`, inside a transaction. Discards the state first if it is out of date. `start` is the current moment.
    /// `isPreserved`: whether `body` keeps the state up to date. If false, the state is discarded.
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
        areKeysFree = false
    }

    /// Whether no new row has the key of a pending reference of the service. See ``KeyCollisions/removePendingKeys()``.
    var arePendingKeysFree: Bool {
        get { lock.withLock { areKeysFree } }
        set { lock.withLock { areKeysFree = newValue } }
    }

    func newRows(of table: Int, _ make: () -> NewRows) -> NewRows {
        lock.withLock {
            let rows = newRows[table] ?? make()
            newRows[table] = rows
            return rows
        }
    }
}

/// The progress of a push through the outbox. The push examines rows by key, and continues after the last examined row.
/// If a row waits for another row, the push examines it again once the request of the other row is completed.
final class OutboxScan {
    /// The push examines first the rows, then the deletions.
    typealias Pass = EngineLedger.Selection

    private struct Position: Hashable {
        let pass: Pass
        let table: Int
    }

    /// The key of the last examined row of each table.
    private var lastKeys: [Position: DatabaseValue] = [:]
    /// The waiting rows, by the row that they wait for.
    private var dependents: [TrackedRow: [TrackedRow]] = [:]
    private var requeued: [Position: [DatabaseValue]] = [:]
    /// Whether the push found no cycle of new rows. The value becomes false when the push examines another row.
    var hasNoCycle = false

    var isEmpty: Bool { lastKeys.isEmpty }

    func clear() {
        (lastKeys, dependents, requeued) = ([:], [:], [:])
        hasNoCycle = false
    }

    // MARK: Progress

    func lastKey(_ pass: Pass, _ table: Int) -> DatabaseValue { lastKeys[Position(pass: pass, table: table)] ?? .null }

    func advance(_ pass: Pass, _ table: Int, to key: DatabaseValue) {
        lastKeys[Position(pass: pass, table: table)] = key
    }

    /// Removes and returns the keys of rows to examine again, at most `limit`.
    func takeRequeued(_ pass: Pass, _ table: Int, _ limit: Int) -> [DatabaseValue] {
        let position = Position(pass: pass, table: table)
        let keys = requeued[position]?.suffix(limit) ?? []
        requeued[position]?.removeLast(keys.count)
        return Array(keys)
    }

    /// Marks rows to be examined again before all other rows.
    func requeue(_ keys: [DatabaseValue], _ pass: Pass, _ table: Int) {
        guard !keys.isEmpty else { return }
        requeued[Position(pass: pass, table: table), default: []] += keys
    }

    // MARK: Waiting rows

    func add(_ row: TrackedRow, dependingOn others: [TrackedRow]) {
        for other in others { dependents[other, default: []].append(row) }
    }

    /// Marks the rows that wait for a row to be examined again, and the row itself if it still has a change.
    func requeue(_ row: TrackedRow, hasChange: Bool = true) {
        for row in (hasChange ? [row] : []) + (dependents.removeValue(forKey: row) ?? []) {
            for pass in [Pass.rows, .deletions] {
                requeued[Position(pass: pass, table: row.table), default: []].append(row.key)
            }
        }
    }
}
