import SyncCore
import Testing

@testable import SyncStore

@Suite("Deletion candidates")
struct DeletionCandidatesTests {
    private let shelf = AssociationID(0)
    private let list = AssociationID(1)

    private func row(_ key: Int64) -> StoredRow { StoredRow(table: TableID(0), key: .integer(key)) }

    @Test("Deletion candidates are found by their reason")
    func findsCandidatesByReason() {
        var leaving = DeletionCandidates()
        leaving[row(1)].unlisted.insert(shelf)
        leaving[row(2)].unlinked.insert(shelf)
        leaving[row(3)].repairedRelationships.insert("shelf")
        leaving.addOmittedFromScope([row(1), row(4)])
        #expect(leaving.unlisted == [row(1)])
        #expect(leaving.rows(where: \.isOmittedFromScope) == [row(1), row(4)])
        #expect(
            leaving.rows { !$0.unlinked.isEmpty } == [row(2)]
                && leaving.rows { !$0.repairedRelationships.isEmpty } == [row(3)])
        #expect(leaving[row(1)].unlisted == [shelf] && leaving[row(5)].unlisted.isEmpty)
    }

    @Test("A candidate that keeps one link is not deleted, and returns its other links to remove")
    func keptCandidateReturnsOtherLinks() {
        var leaving = DeletionCandidates()
        leaving[row(1)].unlisted = [shelf]
        leaving[row(1)].unlinked = [list, shelf]
        #expect(leaving.preserveLink(shelf, of: row(1)) == [list])
        #expect(leaving.unlisted.isEmpty && leaving[row(1)].unlinked == [list])
        #expect(leaving.preserveLink(shelf, of: row(1)) == [])
    }

    @Test("A candidate is kept only if every list that omits it keeps it")
    func candidateIsKeptByEveryList() {
        var leaving = DeletionCandidates()
        leaving[row(1)].unlisted = [shelf, list]
        leaving[row(1)].unlinked = [list]
        #expect(leaving.preserveLink(shelf, of: row(1)) == [] && leaving.unlisted == [row(1)])
        #expect(leaving.preserveLink(list, of: row(1)) == [] && leaving.unlisted.isEmpty)
        #expect(leaving[row(1)].unlinked.isEmpty)
    }

    @Test("Keeping a link does not change a row that only loses links")
    func keepingIgnoresUnlinkedRows() {
        var leaving = DeletionCandidates()
        leaving[row(1)].unlinked = [shelf, list]
        #expect(leaving.preserveLink(shelf, of: row(1)) == [] && leaving[row(1)].unlinked == [list])
        #expect(leaving.preserveLink(shelf, of: row(2)) == [])
    }

    @Test("Orphans are returned once, and later orphans are returned again")
    func orphansAreReturnedOnce() {
        var leaving = DeletionCandidates()
        leaving.addOrphan(row(1))
        leaving.addOrphans([row(1), row(2)])
        #expect(leaving.removeAllOrphans() == [row(1), row(2)] && leaving.removeAllOrphans().isEmpty)
        leaving.addOrphan(row(2))
        #expect(leaving.removeAllOrphans() == [row(2)])
    }
}
