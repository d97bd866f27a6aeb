import SyncCore
import Testing

@testable import SyncStore

@Suite("Spilled row flags")
struct SpilledRowFlagsTests {
    private func row(_ key: Int64) -> StoredRow { StoredRow(table: TableID(0), key: .integer(key)) }

    @Test("Spilled row flags are loaded in one operation, each row once")
    func loadsEachRowOnce() throws {
        let store = FakeStore()
        store.marks = [row(1): [.mentioned], row(2): [.counted, .listed]]
        let marks = SpilledRowFlags(store)
        try marks.load([row(2), row(3), row(2)], from: "run")
        try marks.load([row(3), row(1), row(2)], from: "run")
        try marks.load([], from: "run")
        #expect(store.takeOperations() == ["marks of 2, 3 in run", "marks of 1 in run"])
        let found = try [1, 2, 3].map { try marks.rowFlags(of: row($0), from: "run") }
        #expect(found == [[.mentioned], [.counted, .listed], []])
        #expect(store.takeOperations() == [])
    }

    @Test("Spilled row flags that were not loaded are read on demand")
    func readsOnDemand() throws {
        let store = FakeStore()
        store.marks = [row(1): [.root]]
        #expect(try SpilledRowFlags(store).rowFlags(of: row(1), from: "run") == [.root])
        #expect(store.takeOperations() == ["marks of 1 in run"])
    }
}
