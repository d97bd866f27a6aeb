import SyncCore
import Testing

@testable import SyncStore

@Suite("Rows on their way out")
struct LeavingRowsTests {
    private let shelf = LinkID(0)
    private let list = LinkID(1)

    private func row(_ key: Int64) -> StoredRow { StoredRow(table: TableID(0), key: .integer(key)) }

    @Test("have their reasons")
    func reasons() {
        var leaving = LeavingRows()
        leaving[row(1)].leftOut.insert(shelf)
        leaving[row(2)].unlinked.insert(shelf)
        leaving[row(3)].mended.insert("shelf")
        leaving.noteOutOfScope([row(1), row(4)])
        #expect(leaving.leftOut == [row(1)])
        #expect(leaving.rows(where: \.isOutOfScope) == [row(1), row(4)])
        #expect(leaving.rows { !$0.unlinked.isEmpty } == [row(2)] && leaving.rows { !$0.mended.isEmpty } == [row(3)])
        #expect(leaving[row(1)].leftOut == [shelf] && leaving[row(5)].leftOut.isEmpty)
    }

    @Test("stay with the link they keep, and lose the others that they would have gone with")
    func kept() {
        var leaving = LeavingRows()
        leaving[row(1)].leftOut = [shelf]
        leaving[row(1)].unlinked = [list, shelf]
        #expect(leaving.keep(shelf, of: row(1)) == [list])
        #expect(leaving.leftOut.isEmpty && leaving[row(1)].unlinked == [list])
        #expect(leaving.keep(shelf, of: row(1)) == [])
    }

    @Test("go all the same if another list leaves them out")
    func leftOutTwice() {
        var leaving = LeavingRows()
        leaving[row(1)].leftOut = [shelf, list]
        leaving[row(1)].unlinked = [list]
        #expect(leaving.keep(shelf, of: row(1)) == [] && leaving.leftOut == [row(1)])
        #expect(leaving.keep(list, of: row(1)) == [] && leaving.leftOut.isEmpty)
        #expect(leaving[row(1)].unlinked.isEmpty)
    }

    @Test("that only lose links keep what they lose")
    func unlinked() {
        var leaving = LeavingRows()
        leaving[row(1)].unlinked = [shelf, list]
        #expect(leaving.keep(shelf, of: row(1)) == [] && leaving[row(1)].unlinked == [list])
        #expect(leaving.keep(shelf, of: row(2)) == [])
    }

    @Test("without an owner are taken once; who comes later is another")
    func orphans() {
        var leaving = LeavingRows()
        leaving.noteOrphan(row(1))
        leaving.noteOrphans([row(1), row(2)])
        #expect(leaving.takeOrphans() == [row(1), row(2)] && leaving.takeOrphans().isEmpty)
        leaving.noteOrphan(row(2))
        #expect(leaving.takeOrphans() == [row(2)])
    }
}
