import SyncCore
import Testing

@testable import SyncStore

@Suite("Row identity cache")
struct RowIdentityCacheTests {
    private let store = FakeStore()
    private let model: CompiledModel
    private let identities: RowIdentityCache

    init() throws {
        model = try SongModel.model().compiled
        identities = RowIdentityCache(store, model)
    }

    /// Stores a row.
    private func put(_ entity: String, _ row: RowKey, key: RowKey? = nil) throws -> StoredRow {
        let compiled = try model.entity(named: entity)
        let stored = StoredRow(table: compiled.table, key: row)
        store.identities[stored] = StoredIdentity(entity: compiled.id, key: compiled.keySlot == nil ? nil : key ?? row)
        return stored
    }

    @Test("Identities are loaded in one operation for each table, each row once")
    func loadsEachRowOnce() throws {
        let songs = try [1, 2].map { try put("Song", .integer($0)) }
        let shelf = try put("Shelf", .integer(7))
        let missing = try model.row("Song", .integer(3))
        try identities.load([songs[0], shelf, missing, songs[1], songs[0]])
        #expect(store.takeOperations() == ["identities of 7", "identities of 1, 3, 2"])
        try identities.load([songs[1], missing, shelf])
        let found = try (songs + [missing, shelf]).map { try identities[$0]?.key }
        #expect(found == [.integer(1), .integer(2), nil, .integer(7)])
        #expect(store.takeOperations() == [])
    }

    @Test("Identities that were not loaded are read on demand")
    func readsOnDemand() throws {
        let live = try put("Live", .integer(1))
        #expect(try identities[live] == .init(entity: model.entity(named: "Live").id, key: .integer(1)))
        #expect(try identities[live] != nil)
        #expect(store.takeOperations() == ["identities of 1"])
    }

    @Test("A deleted row has no identity until the cache is cleared")
    func deletedRowsHaveNoIdentity() throws {
        let song = try put("Song", .integer(1))
        let other = try put("Song", .integer(2))
        try identities.load([song, other])
        identities.recordDeleted([song])
        #expect(try identities[song] == nil && identities[other] != nil)
        _ = store.takeOperations()
        identities.removeAll()
        #expect(try identities[song] != nil)
        #expect(store.takeOperations() == ["identities of 1"])
    }

    @Test("An identity has the primary key, or the row key of a keyless row")
    func identityHasPrimaryKey() throws {
        let book = try put("Book", .integer(4), key: .text("isbn"))
        let sleeve = try put("Sleeve", .integer(5))
        #expect(try identities[book]?.key == .text("isbn") && identities[sleeve]?.key == .integer(5))
        #expect(try identities.isKeyless(sleeve) && !identities.isKeyless(book))
        #expect(try !identities.isKeyless(put("Song", .integer(1))))
        #expect(try !identities.isKeyless(model.row("Sleeve", .integer(6))))
    }

    @Test("A missing row at the end of an association has the entity of that end")
    func missingRowHasEntityOfItsEnd() throws {
        let (link, _) = try model.link("Song", "shelf")
        let song = try put("Live", .integer(1))
        #expect(try identities.end(song, link, .first).entity == model.entity(named: "Live").id)
        let gone = try identities.end(model.row("Shelf", .integer(8)), link, .second)
        #expect(try gone == .init(entity: model.entity(named: "Shelf").id, key: .integer(8)))
    }

    @Test("A row is local if it has no remote ID yet")
    func rowsWithoutRemoteIDAreLocal() throws {
        let low = RowKey.integer(.min + 3)
        #expect(try identities.isLocal(model.row("Song", low)) && !identities.isLocal(model.row("Song", .integer(1))))
        #expect(store.takeOperations() == [])
        #expect(try !identities.isLocal(put("Book", .integer(4), key: .text("isbn"))))
        #expect(try identities.isLocal(put("Book", .integer(5), key: .text(TemporaryKey.text()))))
        let nameless = try put("Film", .integer(6))
        store.identities[nameless]?.key = nil
        #expect(try identities.isLocal(nameless))
        #expect(try !identities.isLocal(put("Sleeve", .integer(7))))
        #expect(try !identities.isLocal(model.row("Book", .integer(8))))
    }
}
