import SyncCore
import Testing

@testable import SyncStore

@Suite("Changed columns")
struct ChangedColumnsTests {
    @Test("Changed columns are kept for each node, for any number of columns", arguments: [1, 63, 64, 65, 128, 200])
    func keepsColumnsOfEachNode(count: Int) {
        var changed = ChangedColumns(columnCount: count, nodeCount: 3)
        let columns = Set([0, 62, 63, 64, 127, 128, count - 1].filter { $0 < count }).sorted()
        for column in columns.reversed() { changed.insert(column, of: NodeID(1)) }
        changed.insert(count - 1, of: NodeID(2))
        #expect(changed.columns(changed.mask(of: NodeID(1))) == columns)
        #expect(changed.columns(changed.mask(of: NodeID(2))) == [count - 1])
        #expect(changed.columns(changed.mask(of: NodeID(0))) == [])
        #expect((0..<3).map { changed.contains(NodeID($0)) } == [false, true, true])
    }

    @Test("Nodes with the same changed columns have the same mask")
    func equalColumnsHaveEqualMasks() {
        var changed = ChangedColumns(columnCount: 70, nodeCount: 3)
        #expect(changed.mask(of: NodeID(0)) == [] && changed.columns([]) == [])
        for (node, columns) in [[1, 69], [69, 1, 1], [1, 5]].enumerated() {
            for column in columns { changed.insert(column, of: NodeID(node)) }
        }
        #expect(changed.mask(of: NodeID(0)) == changed.mask(of: NodeID(1)))
        #expect(changed.mask(of: NodeID(0)) != changed.mask(of: NodeID(2)))
    }

    @Test("Changed columns are removed for one node at a time")
    func removesColumnsOfOneNode() {
        var changed = ChangedColumns(columnCount: 70, nodeCount: 2)
        changed.removeAll(of: NodeID(1))
        #expect(!changed.contains(NodeID(1)))
        for column in [0, 69] {
            for node in 0..<2 { changed.insert(column, of: NodeID(node)) }
        }
        changed.removeAll(of: NodeID(0))
        #expect(!changed.contains(NodeID(0)) && changed.columns(changed.mask(of: NodeID(1))) == [0, 69])
    }

    @Test("A table without columns has no changed columns")
    func tableWithoutColumnsHasNoChanges() {
        #expect(!ChangedColumns(columnCount: 0, nodeCount: 2).contains(NodeID(1)))
    }
}
