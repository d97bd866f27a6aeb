import SyncCore
import Testing

@testable import SyncStore

@Suite("Ends that were spoken for")
struct ClaimedEndsTests {
    @Test("are those of each link, either for itself")
    func ends() {
        func spoken(_ node: Int) -> SpokenEnd {
            var end = SpokenEnd(count: 4)
            end.note(NodeID(node), 3, deletes: false)
            return end
        }
        var claimed = ClaimedEnds([(spoken(0), SpokenEnd()), (spoken(1), spoken(2))])
        #expect(claimed[LinkID(0), .first].nodes == [NodeID(0)] && claimed[LinkID(0), .second].isEmpty)
        #expect(claimed[LinkID(1), .first].nodes == [NodeID(1)] && claimed[LinkID(1), .second].nodes == [NodeID(2)])
        claimed[LinkID(1), .second].note(NodeID(3), 5, deletes: true)
        claimed[LinkID(0), .first] = spoken(3)
        #expect(claimed[LinkID(1), .second].nodes == [NodeID(2), NodeID(3)])
        #expect(claimed[LinkID(1), .first].nodes == [NodeID(1)] && claimed[LinkID(0), .first].nodes == [NodeID(3)])
    }
}
