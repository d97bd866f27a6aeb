import SyncCore
import Testing

@testable import SyncStore

@Suite("Row keys beside the slots")
struct RowKeysTests {
    @Test("Hidden keys are found both ways")
    func hidden() {
        var keys = RowKeys()
        #expect(keys.isEmpty && !keys.hasOwned)
        keys.meet(NodeID(3), hidden: 40)
        #expect(keys[NodeID(3)] == .integer(40) && keys.node(ofHidden: 40) == NodeID(3))
        #expect(keys[NodeID(4)] == nil && keys.node(ofHidden: 3) == nil)
        #expect(!keys.isEmpty && !keys.hasOwned && keys.owned(.integer(40)) == nil)
    }

    @Test("A row that is met through its owner is known by its key, hidden or not", arguments: [true, false])
    func owned(isHidden: Bool) {
        var keys = RowKeys()
        keys.own(NodeID(1), .integer(5), isHidden: isHidden)
        keys.own(NodeID(2), .text("local"), isHidden: isHidden)
        #expect(keys.owned(.integer(5)) == NodeID(1) && keys.owned(.text("local")) == NodeID(2) && keys.hasOwned)
        #expect(keys.node(ofHidden: 5) == (isHidden ? NodeID(1) : nil))
        #expect(keys[NodeID(1)] == .integer(5) && keys[NodeID(2)] == .text("local"))
    }

    @Test("A key that is lent stays the first node's, and can be taken back")
    func lent() {
        var keys = RowKeys()
        keys.own(NodeID(1), .integer(5), isHidden: true)
        keys.lend(.integer(5), to: NodeID(2))
        #expect(keys[NodeID(2)] == .integer(5))
        #expect(keys.owned(.integer(5)) == NodeID(1) && keys.node(ofHidden: 5) == NodeID(1))
        keys.forget(NodeID(2))
        #expect(keys[NodeID(2)] == nil && keys[NodeID(1)] == .integer(5))
    }
}
