import Testing

@testable import SyncCore

@Suite("Node batches")
struct NodeBatchTests {
    private static var noTexts: TextPool {
        TextPool(payload: .init(start: nil, count: 0), arena: .init(start: nil, count: 0))
    }

    private func merge(
        _ values: [PackedValue], into node: NodeID, of batch: inout NodeBatch, _ permission: AllowedOperations = .full,
        mention: Int32 = -1
    ) {
        values.withUnsafeBufferPointer { batch.merge($0, into: node, permission: permission, occurrence: mention) }
    }

    /// Returns the values of each version of a node. Absent values are nil.
    private func versions(_ node: NodeID, _ batch: NodeBatch) -> [[Int64?]] {
        var found: [[Int64?]] = []
        var version = batch.nodes[node.index].firstVersion
        while version >= 0 {
            let values = batch.slots[batch.indexes(ofVersion: Int(version))]
            found.append(values.map { $0.kind == .absent ? nil : $0.integer })
            version = batch.version(after: version)
        }
        return found
    }

    private func batch(nodes: Int) -> NodeBatch {
        var batch = NodeBatch(slotCount: 2)
        for key in 0..<nodes { _ = batch.node(forKey: .integer(Int64(key)), keyOwner: 0, entity: 0, Self.noTexts) }
        return batch
    }

    @Test("A later value replaces an earlier one, and an absent value keeps it")
    func laterValuesReplaceEarlierOnes() {
        var batch = batch(nodes: 2)
        #expect(batch.nodes.map(\.isGiven) == [false, false])
        merge([.integer(1), .integer(2)], into: 0, of: &batch)
        merge([.absent, .integer(3)], into: 0, of: &batch)
        #expect(versions(0, batch) == [[1, 3]])
        #expect(versions(1, batch) == [])
    }

    @Test("A key in the first slot is only stored in its node")
    func keysAreStoredOnce() {
        var batch = NodeBatch(slotCount: 3, firstSlot: 1)
        for key in 1...2 { _ = batch.node(forKey: .integer(Int64(key)), keyOwner: 0, entity: 0, Self.noTexts) }
        merge([.integer(1), .integer(10), .absent], into: 0, of: &batch)
        merge([.integer(2), .integer(20), .integer(200)], into: 1, of: &batch)
        merge([.integer(1), .absent, .integer(100)], into: 0, of: &batch)
        #expect(versions(0, batch) == [[10, 100]])
        #expect(versions(1, batch) == [[20, 200]])
        #expect(batch.nodes.map(\.key.integer) == [1, 2])
    }

    @Test("Occurrences with other permissions are separate versions in document order")
    func permissionsSeparateVersions() {
        var batch = batch(nodes: 2)
        merge([.integer(1), .absent], into: 0, of: &batch)
        merge([.integer(5), .absent], into: 1, of: &batch)
        merge([.integer(2), .absent], into: 0, of: &batch, .update)
        merge([.absent, .integer(3)], into: 0, of: &batch, .update)
        merge([.absent, .integer(4)], into: 0, of: &batch)
        #expect(versions(0, batch) == [[1, nil], [2, 3], [nil, 4]])
        #expect(versions(1, batch) == [[5, nil]])
    }

    @Test("Each tracked occurrence is a separate version")
    func trackedOccurrencesAreVersions() {
        var batch = batch(nodes: 1)
        merge([.integer(1), .absent], into: 0, of: &batch, mention: 4)
        merge([.integer(2), .absent], into: 0, of: &batch, mention: 7)
        #expect(versions(0, batch) == [[1, nil], [2, nil]])
        let first = batch.nodes[0].firstVersion
        #expect(
            batch.occurrence(ofVersion: first) == 4 && batch.occurrence(ofVersion: batch.version(after: first)) == 7)
    }

    @Test("Absorbing a node merges its versions in document order", arguments: [false, true])
    func absorbedVersionsKeepDocumentOrder(tracksOccurrences: Bool) {
        var batch = batch(nodes: 2)
        merge([.integer(1), .integer(1)], into: 1, of: &batch, mention: tracksOccurrences ? 0 : -1)
        merge([.integer(2), .absent], into: 0, of: &batch, mention: tracksOccurrences ? 1 : -1)
        merge(
            [.absent, .integer(3)], into: 1, of: &batch, tracksOccurrences ? .full : .full,
            mention: tracksOccurrences ? 2 : -1)
        batch.absorb(1, into: 0)
        #expect(versions(1, batch) == [])
        #expect(versions(0, batch) == (tracksOccurrences ? [[1, 1], [2, nil], [nil, 3]] : [[2, 3]]))
    }

    @Test("A row without a key is identified by its owner and position")
    func keylessRowsAreIdentifiedByOwner() {
        var batch = NodeBatch(slotCount: 0)
        let first = NodeBatch.OwnerLink(link: 0, end: .first, table: 0, node: 0, position: 0)
        var second = first
        second.position = 1
        let nodes = [first, second, first].map { batch.node(ownedBy: $0, entity: 2) }
        #expect(nodes.map(\.node) == [0, 1, 0] && nodes.map(\.isNew) == [true, true, false])
        #expect(batch.nodes.map(\.ownerIndex) == [0, 1] && batch.owners == [first, second])
    }
}
