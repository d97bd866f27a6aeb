import SyncCore
import Testing

@testable import SyncStore

@Suite("Marks that were moved out of memory")
struct SpilledRowFlagsTests {
    private func row(_ key: Int64) -> StoredRow { StoredRow(table: TableID(0), key: .integer(key)) }

    @Test("are read in one operation, of each row once")
    func once() throws {
        let store = FakeStore()
        store.marks = [row(1): [.mentioned], row(2): [.counted, .listed]]
        let marks = SpilledRowFlags(store)
        try marks.load([row(2), row(3), row(2)], from: "run")
        try marks.load([row(3), row(1), row(2)], from: "run")
        try marks.load([], from: "run")
        #expect(store.takeOperations() == ["marks of 2, 3 in run", "marks of 1 in run"])
        let found = try [1, 2, 3].map { try marks.mark(of: row($0), from: "run") }
        #expect(found == [[.mentioned], [.counted, .listed], []])
        #expect(store.takeOperations() == [])
    }

    @Test("are read where they were not before")
    func unread() throws {
        let store = FakeStore()
        store.marks = [row(1): [.root]]
        #expect(try SpilledRowFlags(store).mark(of: row(1), from: "run") == [.root])
        #expect(store.takeOperations() == ["marks of 1 in run"])
    }
}
