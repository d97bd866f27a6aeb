import GRDB

/// The rows of the outbox that a push has examined. The push continues after them. It examines a waiting row again when
/// the request of the row it waits for is completed.
final class WaitingRows {
    /// The changes that are examined.
    enum Pass {
        /// New and changed rows.
        case rows
        case deletions
    }

    private struct Place: Hashable {
        let pass: Pass
        let table: Int
    }

    /// The key of the last examined row of each table.
    private var ends: [Place: DatabaseValue] = [:]
    /// The rows that wait for each row.
    private var waiting: [OutgoingRequestBuilder.RowName: [OutgoingRequestBuilder.RowName]] = [:]
    private var woken: [Place: [DatabaseValue]] = [:]
    /// Whether no new rows wait for each other. It is valid until a row is examined again.
    var hasNoCycle = false

    /// Whether no row was examined.
    var isEmpty: Bool { ends.isEmpty }

    func clear() {
        (ends, waiting, woken) = ([:], [:], [:])
        hasNoCycle = false
    }

    // MARK: Progress

    func end(_ pass: Pass, _ table: Int) -> DatabaseValue { ends[Place(pass: pass, table: table)] ?? .null }

    func move(_ pass: Pass, _ table: Int, to key: DatabaseValue) {
        ends[Place(pass: pass, table: table)] = key
    }

    /// Returns a row to be examined again, and removes it.
    func next(_ pass: Pass, _ table: Int) -> DatabaseValue? {
        woken[Place(pass: pass, table: table)]?.popLast()
    }

    // MARK: Waiting rows

    func add(_ row: OutgoingRequestBuilder.RowName, waitsFor others: [OutgoingRequestBuilder.RowName]) {
        for other in others { waiting[other, default: []].append(row) }
    }

    /// Marks a row to be examined again after its request, together with the rows that wait for it.
    func settle(_ row: OutgoingRequestBuilder.RowName) {
        for row in [row] + (waiting.removeValue(forKey: row) ?? []) {
            for pass in [Pass.rows, .deletions] {
                woken[Place(pass: pass, table: row.table), default: []].append(row.key)
            }
        }
    }
}
