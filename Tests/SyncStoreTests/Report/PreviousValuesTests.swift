import SyncCore
import Testing

@testable import SyncStore

@Suite("Previous values")
struct PreviousValuesTests {
    private let store = FakeStore()
    private let model: CompiledModel
    private let history: PreviousValues
    private let songs: CompiledEntity

    init() throws {
        model = try SongModel.model().compiled
        songs = try model.entity(named: "Song")
        history = PreviousValues(store, model, RowIdentityCache(store, model))
        for shelf in [7, 8] as [Int64] {
            let row = try model.row("Shelf", .integer(shelf))
            store.identities[row] = StoredIdentity(
                entity: try model.entity(named: "Shelf").id, key: .integer(shelf))
        }
    }

    /// Stores a song, or replaces its values.
    @discardableResult
    private func put(
        _ key: Int64, _ name: String?, length: Double? = nil, shelf: Int64? = nil, as entity: String = "Song"
    ) throws -> StoredRow {
        let row = StoredRow(table: songs.table, key: .integer(key))
        let shelfKey = try #require(model[songs.table].foreignKeys.firstIndex(of: model.link("Song", "shelf").link.id))
        func slot(_ name: String) throws -> Int { try #require(songs.slotByName[name]) }
        store.identities[row] = StoredIdentity(entity: try model.entity(named: entity).id, key: row.key)
        store.values[row] = StoredValues(
            attributes: [
                (try slot("id"), .integer(key)), (try slot("name"), name.map { .string($0) } ?? .null),
                (try slot("length"), length.map { .double($0) } ?? .null),
            ], targets: shelf.map { [(shelfKey, .integer($0))] } ?? [])
        return row
    }

    private func result(_ changes: (inout SyncResult.EntityChanges) -> Void) throws -> SyncResult.EntityChanges {
        var result = SyncResult(entity: "Song")
        changes(&result.entities["Song", default: .init()])
        try history.add(to: &result)
        return result["Song"]
    }

    @Test("Previous values are those before the first write")
    func keepsValuesBeforeFirstWrite() throws {
        let row = try put(1, "a", length: 0.1, shelf: 7)
        try history.capture([row])
        try put(1, "b", length: 0.1, shelf: 7)
        try history.capture([row])
        try put(1, "c", shelf: 8)
        let changes = try result {
            $0.updated = [.init(key: .integer(1), changedAttributes: ["name", "shelf", "length"])]
        }
        #expect(
            changes.updated.first?.values == [
                "name": .init(old: "a", new: "c"), "shelf": .init(old: 7, new: 8), "length": .init(old: 0.1, new: nil),
            ])
    }

    @Test("Values are reported for changed properties only")
    func reportsChangedPropertiesOnly() throws {
        let row = try put(1, "a", shelf: 7)
        try history.capture([row])
        try put(1, nil, shelf: 8)
        let changes = try result { $0.updated = [.init(key: .integer(1), changedAttributes: ["name"])] }
        #expect(changes.updated.first?.values == ["name": .init(old: "a", new: nil)])
        #expect(changes.insertedRows == [] && changes.deletedRows == [])
    }

    @Test("Deleted rows have all their previous values")
    func deletedRowsHaveAllValues() throws {
        let rows = try [put(1, "a", shelf: 7), put(2, nil, length: 2.5)]
        try history.capture(rows)
        store.values = [:]
        let changes = try result { $0.deleted = [.integer(1), .integer(2), .integer(3)] }
        #expect(
            changes.deletedRows == [
                .init(key: .integer(1), values: ["id": 1, "name": "a", "shelf": 7]),
                .init(key: .integer(2), values: ["id": 2, "length": 2.5]), .init(key: .integer(3), values: [:]),
            ])
    }

    @Test("Inserted rows have no previous values")
    func insertedRowsHaveNoPreviousValues() throws {
        let row = StoredRow(table: songs.table, key: .integer(4))
        history.record(row, as: .init(entity: songs.id, key: .integer(4)))
        try put(4, "d", shelf: 8)
        let changes = try result { $0.inserted = [.integer(4)] }
        #expect(changes.insertedRows == [.init(key: .integer(4), values: ["id": 4, "name": "d", "shelf": 8])])
    }

    @Test("Previous values are read in one operation, each row once")
    func readsEachRowOnce() throws {
        let rows = try [put(1, "a"), put(2, "b"), put(3, "c")]
        try history.capture(rows.prefix(2))
        try history.capture(rows)
        #expect(store.takeOperations().filter { $0.hasPrefix("values") } == ["values of 1, 2", "values of 3"])
    }

    @Test("Changed links are reported in order")
    func reportsLinksInOrder() throws {
        func link(_ song: Int64) -> SyncResult.Link {
            .init(entity: "Song", key: .integer(song), relationship: "shelf", target: .integer(7))
        }
        for song in [2, 1] as [Int64] {
            history.recordAdded(link(song))
            history.recordRemoved(link(song + 10))
        }
        var result = SyncResult(entity: "Song")
        try history.add(to: &result)
        #expect(result.addedLinks == [link(1), link(2)] && result.removedLinks == [link(11), link(12)])
    }
}
