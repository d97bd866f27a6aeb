import SyncCore

/// The marks of a run's rows that were moved out of memory, read in sets.
final class SpilledMarks {
    private let store: any StoreSession
    private var known: [StoredRow: RowMark] = [:]

    init(_ store: any StoreSession) { self.store = store }

    func load(_ rows: some Sequence<StoredRow>, from table: String) throws {
        var seen: Set<StoredRow> = []
        let unknown = rows.filter { known[$0] == nil && seen.insert($0).inserted }
        guard !unknown.isEmpty else { return }
        for (row, mark) in zip(unknown, try store.marks(of: unknown, in: table)) { known[row] = mark }
    }

    /// Forgets what was read: because it may be different now, or because there would be too much of it.
    func removeAll() { known = [:] }

    func mark(of row: StoredRow, from table: String) throws -> RowMark {
        try load(CollectionOfOne(row), from: table)
        return known[row] ?? []
    }
}
