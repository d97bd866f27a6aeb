import GRDB

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
    private var dependents: [OutgoingRequestBuilder.RowName: [OutgoingRequestBuilder.RowName]] = [:]
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

    func add(_ row: OutgoingRequestBuilder.RowName, dependingOn others: [OutgoingRequestBuilder.RowName]) {
        for other in others { dependents[other, default: []].append(row) }
    }

    /// Marks the rows that wait for a row to be examined again, and the row itself if it still has a change.
    func requeue(_ row: OutgoingRequestBuilder.RowName, hasChange: Bool = true) {
        for row in (hasChange ? [row] : []) + (dependents.removeValue(forKey: row) ?? []) {
            for pass in [Pass.rows, .deletions] {
                requeued[Position(pass: pass, table: row.table), default: []].append(row.key)
            }
        }
    }
}
