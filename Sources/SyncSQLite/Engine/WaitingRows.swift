import GRDB

/// The rows of the outbox that a push has looked at: it goes on behind them, and looks again at one that waits for another row
/// when that one is settled.
final class WaitingRows {
    /// What is looked for.
    enum Pass {
        /// New and changed rows.
        case rows
        case deletions
    }

    private struct Place: Hashable {
        let pass: Pass
        let table: Int
    }

    /// Up to which key the rows of a table were looked at.
    private var ends: [Place: DatabaseValue] = [:]
    /// Row → those that wait for it.
    private var waiting: [OutgoingRequestBuilder.RowName: [OutgoingRequestBuilder.RowName]] = [:]
    private var woken: [Place: [DatabaseValue]] = [:]
    /// Whether no new rows wait for each other: so it stays until one is looked at again.
    var hasNoCycle = false

    /// Whether nothing was looked at.
    var isEmpty: Bool { ends.isEmpty }

    func clear() {
        (ends, waiting, woken) = ([:], [:], [:])
        hasNoCycle = false
    }

    // MARK: Where to go on

    func end(_ pass: Pass, _ table: Int) -> DatabaseValue { ends[Place(pass: pass, table: table)] ?? .null }

    func move(_ pass: Pass, _ table: Int, to key: DatabaseValue) {
        ends[Place(pass: pass, table: table)] = key
    }

    /// A row that is to be looked at again.
    func next(_ pass: Pass, _ table: Int) -> DatabaseValue? {
        woken[Place(pass: pass, table: table)]?.popLast()
    }

    // MARK: What waits

    func add(_ row: OutgoingRequestBuilder.RowName, waitsFor others: [OutgoingRequestBuilder.RowName]) {
        for other in others { waiting[other, default: []].append(row) }
    }

    /// Something became of the request of a row: it is looked at again itself, and so is what waits for it.
    func settle(_ row: OutgoingRequestBuilder.RowName) {
        for row in [row] + (waiting.removeValue(forKey: row) ?? []) {
            for pass in [Pass.rows, .deletions] {
                woken[Place(pass: pass, table: row.table), default: []].append(row.key)
            }
        }
    }
}
