/// What each root record of a payload speaks of, kept if the store wants fingerprints of them.
package struct RecordLog: Sendable {
    /// A root record that was read.
    package struct Record: Sendable {
        package var hash: RecordHash
        package var length: UInt32
        /// Where its rows begin in `nodes`; the first is its own.
        package var firstNode: Int
        /// The last place of a statement about links in it.
        package var lastSequence: UInt32
        /// Whether nothing of it was skipped or reported.
        package var isWhole: Bool
        /// Its place in `unmapped`.
        package var unmapped: Int
    }

    /// A row that a record speaks of.
    package struct LoggedNode: Sendable {
        package var table: TableID
        package var node: NodeID
        /// Whether it gives the row, not only its id.
        package var isGiven: Bool
    }

    package internal(set) var records: [Record] = []
    package internal(set) var nodes: [LoggedNode] = []
    /// Rows that records give different values.
    package internal(set) var contested: Set<ChangePlan.RowReference> = []
    /// What the records have that nothing in the model takes; many have the same.
    package internal(set) var unmapped: [[SyncResult.UnmappedKey]] = [[]]
    /// Counts per key table and entry → place in `unmapped`.
    var unmappedPlaces: [[Int]: Int] = [[]: 0]
    /// The entries of key tables that were unmapped in the record being mapped, once for each time.
    var unmappedEntries: [UnmappedEntry] = []

    struct UnmappedEntry: Hashable {
        let table: Int
        let entry: Int
    }

    package init() {}
}
