/// What a mapper remembers of records that are rows which earlier records gave. Empty for a payload without any.
struct RepeatedRecords {
    /// A statement about the links of a row, in such a record.
    struct LinkStatement {
        /// The links that it is one of, and from where.
        struct Side: Hashable {
            let link: LinkID
            let end: Link.End
        }

        var side: Side
        var sequence: UInt32
        var record: Int32
        /// Where the model has the relationship.
        var entity: Int
        var index: Int
    }

    /// What the records of a table's rows say together, for those that have several, where the plan keeps them apart.
    private struct SaidRows {
        /// By node: where its slots begin; -1 for rows that were given once.
        var places: [Int] = []
        var slots: [Slot] = []
    }

    /// So many rows are remembered that records contradict each other about.
    static let rowLimit = SyncResult.diagnosticLimit

    /// How many there are.
    var count: Int32 = 0
    /// Those of them that contradict an earlier one.
    var contradicting: Set<Int32> = []
    /// The rows whose first record contradicts one that is nested in it, and came before.
    var contradictingFirst: Set<ChangePlan.RowReference> = []
    /// The slots that were given different values: whatever comes next contradicts one of them.
    var contestedSlots: [ChangePlan.RowReference: Set<Int>] = [:]
    /// In their order.
    var links: [LinkStatement] = []
    private var said: [SaidRows] = []

    /// What records that are kept apart say of a row together, to which that of one more is added.
    ///
    /// - Parameter first: What the first of them says.
    mutating func adding(
        _ values: UnsafeBufferPointer<Slot>, to row: ChangePlan.RowReference, startingAs first: ArraySlice<Slot>,
        _ body: (UnsafeBufferPointer<Slot>) -> Void
    ) {
        let (table, node) = (row.table.index, row.node.index)
        while said.count <= table { said.append(SaidRows()) }
        let missing = node + 1 - said[table].places.count
        if missing > 0 { said[table].places += repeatElement(-1, count: max(missing, said[table].places.count)) }
        if said[table].places[node] < 0 {
            said[table].places[node] = said[table].slots.count
            said[table].slots += first
        }
        let start = said[table].places[node]
        said[table].slots.withUnsafeBufferPointer {
            body(UnsafeBufferPointer(rebasing: $0[start..<start + values.count]))
        }
        for slot in values.indices where values[slot].kind != .absent { said[table].slots[start + slot] = values[slot] }
    }
}

extension TextPool {
    /// Whether both are values, and not the same.
    func areContrary(_ one: Slot, _ other: Slot) -> Bool {
        if one.kind == .absent || other.kind == .absent { return false }
        if one.isText, other.isText { return !TextPool.equal(bytes(one), bytes(other)) }
        if one.kind == .arenaBlob, other.kind == .arenaBlob { return !TextPool.equal(bytes(one), bytes(other)) }
        return one.kind != other.kind || one.bits != other.bits
    }

    /// The slots of which a record says something else than earlier ones.
    ///
    /// - Parameter contested: The slots of which those say different things already.
    func contrarySlots(
        _ row: UnsafeBufferPointer<Slot>, _ earlier: UnsafeBufferPointer<Slot>, _ contested: Set<Int>?
    ) -> [Int] {
        var found: [Int] = []
        for slot in 0..<min(row.count, earlier.count) {
            if areContrary(row[slot], earlier[slot]) {
                found.append(slot)
            } else if let contested, row[slot].kind != .absent, contested.contains(slot) {
                found.append(slot)
            }
        }
        return found
    }
}
