import SyncCore
import Testing

@testable import SyncStore

@Suite("Row keys of nodes")
struct NodeRowKeysTests {
    @Test("A surrogate key is found by its node, and the node by its key")
    func findsSurrogateKeysBothWays() {
        var keys = NodeRowKeys(areSurrogates: true)
        #expect(keys.isEmpty && !keys.hasOwned)
        keys.match(NodeID(3), surrogate: 40)
        #expect(keys[NodeID(3)] == .integer(40) && keys.node(ofSurrogate: 40) == NodeID(3))
        #expect(keys[NodeID(4)] == nil && keys[NodeID(400)] == nil && keys.node(ofSurrogate: 3) == nil)
        #expect(keys.node(ofSurrogate: .min) == nil && keys.owned(.text("40")) == nil)
        #expect(!keys.isEmpty && !keys.hasOwned && keys.owned(.integer(40)) == NodeID(3))
    }

    @Test("A row that is matched through its owner is found by its row key")
    func findsOwnedRows() {
        var hidden = NodeRowKeys(areSurrogates: true)
        hidden.own(NodeID(1), .integer(5))
        #expect(hidden.owned(.integer(5)) == NodeID(1) && hidden.hasOwned && hidden[NodeID(1)] == .integer(5))
        #expect(hidden.node(ofSurrogate: 5) == NodeID(1))
        var own = NodeRowKeys(areSurrogates: false)
        own.own(NodeID(1), .integer(5))
        own.own(NodeID(2), .text("local"))
        #expect(own.owned(.integer(5)) == NodeID(1) && own.owned(.text("local")) == NodeID(2) && own.hasOwned)
        #expect(own[NodeID(1)] == .integer(5) && own[NodeID(2)] == .text("local") && own.node(ofSurrogate: 5) == nil)
    }

    @Test("A key that is lent to a second node stays with the first, and can be taken back", arguments: [true, false])
    func lentKeyStaysWithFirstNode(areHidden: Bool) {
        var keys = NodeRowKeys(areSurrogates: areHidden)
        keys.own(NodeID(1), .integer(5))
        keys.assign(.integer(5), to: NodeID(2))
        #expect(keys[NodeID(2)] == .integer(5))
        #expect(keys.owned(.integer(5)) == NodeID(1) && keys.node(ofSurrogate: 5) == (areHidden ? NodeID(1) : nil))
        keys.remove(NodeID(2))
        #expect(keys[NodeID(2)] == nil && keys[NodeID(1)] == .integer(5))
    }

    @Test("Thousands of surrogate keys find their nodes after removals and changes")
    func findsManySurrogateKeys() {
        var keys = NodeRowKeys(areSurrogates: true)
        var expected: [Int64: NodeID] = [:]
        var byNode: [NodeID: Int64] = [:]
        var random = SystemRandomNumberGenerator()
        for _ in 0..<20_000 {
            let node = NodeID(Int.random(in: 0..<5_000, using: &random))
            let key = Int64.random(in: -3_000..<3_000, using: &random) * (Bool.random(using: &random) ? 1 : 1 << 40)
            if Int.random(in: 0..<10, using: &random) == 0 {
                keys.remove(node)
                if let known = byNode.removeValue(forKey: node) { expected[known] = nil }
                continue
            }
            if let known = byNode[node] { expected[known] = nil }
            if let known = expected[key] {
                keys.remove(known)
                byNode[known] = nil
            }
            keys.match(node, surrogate: key)
            expected[key] = node
            byNode[node] = key
        }
        #expect(
            expected.allSatisfy { keys.node(ofSurrogate: $0.key) == $0.value && keys[$0.value] == .integer($0.key) })
        #expect((0..<5_000).allSatisfy { keys[NodeID($0)] == byNode[NodeID($0)].map { .integer($0) } })
        #expect((-3_000..<3_000).allSatisfy { keys.node(ofSurrogate: $0) == expected[$0] })
    }
}
