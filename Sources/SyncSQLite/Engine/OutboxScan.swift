import GRDB

/// The rows of the outbox that a push has examined. The push continues after them. It examines a waiting row again when
/// the request of the row it waits for is completed.
final class OutboxScan {
    /// The changes that are examined.
    enum Pass {
        /// New and changed rows.
        case rows
        case deletions
    }

    private struct Position: Hashable {
        let pass: Pass
        let table: Int
    }

    /// The key of the last examined row of each table.
    private var lastKeys: [Position: DatabaseValue] = [:]
    /// The rows that wait for each row.
    private var dependents: [OutgoingRequestBuilder.RowName: [OutgoingRequestBuilder.RowName]] = [:]
    private var requeued: [Position: [DatabaseValue]] = [:]
    /// Whether no new rows wait for each other. It is valid until a row is examined again.
    var hasNoCycle = false

    /// Whether no row was examined.
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

    /// Returns a row to be examined again, and removes it.
    func next(_ pass: Pass, _ table: Int) -> DatabaseValue? {
        requeued[Position(pass: pass, table: table)]?.popLast()
    }

    // MARK: Waiting rows

    func add(_ row: OutgoingRequestBuilder.RowName, dependingOn others: [OutgoingRequestBuilder.RowName]) {
        for other in others { dependents[other, default: []].append(row) }
    }

    /// Marks a row to be examined again after its request, together with the rows that wait for it.
    func requeue(_ row: OutgoingRequestBuilder.RowName) {
        for row in [row] + (dependents.removeValue(forKey: row) ?? []) {
            for pass in [Pass.rows, .deletions] {
                requeued[Position(pass: pass, table: row.table), default: []].append(row.key)
            }
        }
    }
}
