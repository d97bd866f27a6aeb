package import SyncCore

/// Which values count for each node: those of one version, or of several merged.
package struct CountingValues: Sendable {
    /// No version of the node counts.
    package static let none: Int32 = -1

    /// By node: the version in the batch, or beyond those the place among the merged ones; ``none`` for none.
    package var versions: [Int32]
    /// A row of slots for each merged version.
    package private(set) var merged: [Slot] = []

    init(_ batch: RowBatch) { versions = batch.nodes.map(\.firstVersion) }

    package func count(for node: NodeID) -> Bool { versions[node.index] >= 0 }

    /// The value of a slot.
    func slot(_ slot: Int, of node: NodeID, _ batch: RowBatch) -> Slot {
        let version = Int(versions[node.index])
        if version < 0 { return .absent }
        if version < batch.versionCount { return batch.slots[version * batch.stride + slot] }
        return merged[(version - batch.versionCount) * batch.stride + slot]
    }

    /// Takes the versions whose mentions count, later values over earlier ones.
    mutating func weigh(_ batch: RowBatch, counts: (_ mention: Int32) -> Bool) {
        merged.removeAll()
        for node in batch.nodes.indices {
            var values = Self.none
            var version = batch.nodes[node].firstVersion
            while version >= 0 {
                defer { version = batch.version(after: version) }
                guard counts(batch.mention(ofVersion: version)) else { continue }
                values = values < 0 ? version : merge(version, over: values, batch)
            }
            versions[node] = values
        }
    }

    private mutating func merge(_ version: Int32, over earlier: Int32, _ batch: RowBatch) -> Int32 {
        let stride = batch.stride
        func slots(_ version: Int32) -> ArraySlice<Slot> {
            let index = Int(version)
            guard index >= batch.versionCount else { return batch.slots[index * stride..<(index + 1) * stride] }
            let place = index - batch.versionCount
            return merged[place * stride..<(place + 1) * stride]
        }
        let values = zip(slots(earlier), slots(version)).map { $1.kind == .absent ? $0 : $1 }
        let place = batch.versionCount + merged.count / max(stride, 1)
        merged += values
        return Int32(truncatingIfNeeded: place)
    }
}
