import SyncCore
import Testing

@testable import SyncStore

@Suite("Replaced ends")
struct ReplacedEndsTests {
    @Test("Each association has its own two replaced ends")
    func endsAreSeparate() {
        func spoken(_ node: Int) -> ReplacedEnd {
            var end = ReplacedEnd(count: 4)
            end.record(NodeID(node), 3, deletes: false)
            return end
        }
        var claimed = ReplacedEnds([(spoken(0), ReplacedEnd()), (spoken(1), spoken(2))])
        #expect(claimed[AssociationID(0), .first].nodes == [NodeID(0)] && claimed[AssociationID(0), .second].isEmpty)
        #expect(
            claimed[AssociationID(1), .first].nodes == [NodeID(1)]
                && claimed[AssociationID(1), .second].nodes == [NodeID(2)])
        claimed[AssociationID(1), .second].record(NodeID(3), 5, deletes: true)
        claimed[AssociationID(0), .first] = spoken(3)
        #expect(claimed[AssociationID(1), .second].nodes == [NodeID(2), NodeID(3)])
        #expect(
            claimed[AssociationID(1), .first].nodes == [NodeID(1)]
                && claimed[AssociationID(0), .first].nodes == [NodeID(3)])
    }
}
