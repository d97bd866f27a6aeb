import SyncCore
import Testing

@testable import SyncStore

@Suite("Rows on their way out")
struct DeletionCandidatesTests {
    private let shelf = AssociationID(0)
    private let list = AssociationID(1)

    private func row(_ key: Int64) -> StoredRow { StoredRow(table: TableID(0), key: .integer(key)) }

    @Test("have their reasons")
    func reasons() {
        var leaving = DeletionCandidates()
        leaving[row(1)].leftOut.insert(shelf)
        leaving[row(2)].unlinked.insert(shelf)
        leaving[row(3)].mended.insert("shelf")
        leaving.addOutOfScope([row(1), row(4)])
        #expect(leaving.leftOut == [row(1)])
        #expect(leaving.rows(where: \.isOutOfScope) == [row(1), row(4)])
        #expect(leaving.rows { !$0.unlinked.isEmpty } == [row(2)] && leaving.rows { !$0.mended.isEmpty } == [row(3)])
        #expect(leaving[row(1)].leftOut == [shelf] && leaving[row(5)].leftOut.isEmpty)
    }

    @Test("stay with the link they keep, and lose the others that they would have gone with")
    func kept() {
        var leaving = DeletionCandidates()
        leaving[row(1)].leftOut = [shelf]
        leaving[row(1)].unlinked = [list, shelf]
        #expect(leaving.keep(shelf, of: row(1)) == [list])
        #expect(leaving.leftOut.isEmpty && leaving[row(1)].unlinked == [list])
        #expect(leaving.keep(shelf, of: row(1)) == [])
    }

    @Test("go all the same if another list leaves them out")
    func leftOutTwice() {
        var leaving = DeletionCandidates()
        leaving[row(1)].leftOut = [shelf, list]
        leaving[row(1)].unlinked = [list]
        #expect(leaving.keep(shelf, of: row(1)) == [] && leaving.leftOut == [row(1)])
        #expect(leaving.keep(list, of: row(1)) == [] && leaving.leftOut.isEmpty)
        #expect(leaving[row(1)].unlinked.isEmpty)
    }

    @Test("that only lose links keep what they lose")
    func unlinked() {
        var leaving = DeletionCandidates()
        leaving[row(1)].unlinked = [shelf, list]
        #expect(leaving.keep(shelf, of: row(1)) == [] && leaving[row(1)].unlinked == [list])
        #expect(leaving.keep(shelf, of: row(2)) == [])
    }

    @Test("without an owner are taken once; who comes later is another")
    func orphans() {
        var leaving = DeletionCandidates()
        leaving.addOrphan(row(1))
        leaving.addOrphans([row(1), row(2)])
        #expect(leaving.removeAllOrphans() == [row(1), row(2)] && leaving.removeAllOrphans().isEmpty)
        leaving.addOrphan(row(2))
        #expect(leaving.removeAllOrphans() == [row(2)])
    }
}
