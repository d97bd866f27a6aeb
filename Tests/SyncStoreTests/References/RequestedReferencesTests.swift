import SyncCore
import Testing

@testable import SyncStore

@Suite("Requested references")
struct RequestedReferencesTests {
    private func reference(_ owner: Int64, _ target: Int64, _ relationship: String = "shelf") -> PendingReference {
        PendingReference(
            owner: StoredRow(table: TableID(0), key: .integer(owner)), ownerEntity: 0, relationship: relationship,
            targetEntity: 1, target: .integer(target))
    }

    @Test("Requested references keep their order, each once with its first position")
    func keepsFirstPosition() {
        var wanted = RequestedReferences(capacity: 4)
        for (reference, position) in [
            (reference(1, 9), -1), (reference(1, 9, "lists"), 4), (reference(1, 9, "lists"), 5), (reference(2, 9), -1),
            (reference(1, 9), -1), (reference(1, 8), 3),
        ] as [(PendingReference, Int64)] {
            wanted.add(reference, at: position)
        }
        let expected = [reference(1, 9), reference(1, 9, "lists"), reference(2, 9), reference(1, 8)]
        #expect(wanted.references.map(\.reference) == expected)
        #expect(wanted.references.map(\.position) == [-1, 4, -1, 3])
        #expect(expected.map { wanted.index(of: $0) } == [0, 1, 2, 3] && wanted.index(of: reference(3, 9)) == nil)
    }
}
