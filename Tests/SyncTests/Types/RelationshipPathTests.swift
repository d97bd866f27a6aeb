import Foundation
import GRDB
import Sync
import Testing

/// Types as `@Entity` would generate them, written by hand.
private struct Label: EntityRecord, Equatable {
    var id: Int
    var name: String?
    var artists = RelatedRows<Artist>()

    static let entityName = "Label"
    static var syncEntity: SyncModel.Entity {
        SyncModel.Entity(
            entityName, attributes: [.init("id", Int.self, isKey: true), .init("name", String?.self)],
            relationships: [.init("artists", to: Artist.self, many: true, inverse: "label")])
    }
    static var syncProperties: [PartialKeyPath<Label>: SyncProperty] {
        [
            \.id: "id", \.name: SyncProperty("name", inOptional: \Label?.?.name),
            \.artists.rows: SyncProperty("artists", to: Artist.self, inOptional: \Label?.?.artists.rows),
        ]
    }
    var syncKey: Int? { id }
    var syncID: JSONValue { Self.syncID(of: id) }

    init(entityRow row: EntityRowDecoder) throws {
        id = try row.value("id")
        name = try row.value("name")
    }
    func encode(into row: inout EntityRowEncoder) throws { try row.set("id", to: id) }
    mutating func setRelated(_ rows: [any EntityRecord], for relationship: String) { artists.load(rows) }
}

private struct Artist: EntityRecord, Equatable {
    var id: Int
    var name: String?
    var labelID: Int?
    private var labels = RelatedRows<Label>()
    private var albumRows = RelatedRows<Album>()

    var label: Label? { labels.rows?.first }
    var albums: [Album] { albumRows.rows ?? [] }

    static let entityName = "Artist"
    static var syncEntity: SyncModel.Entity {
        SyncModel.Entity(
            entityName, attributes: [.init("id", Int.self, isKey: true), .init("name", String?.self)],
            relationships: [
                .init("label", to: Label.self, inverse: "artists"),
                .init("albums", to: Album.self, many: true, inverse: "artist"),
            ])
    }
    static var syncProperties: [PartialKeyPath<Artist>: SyncProperty] {
        [
            \.id: "id", \.name: SyncProperty("name", inOptional: \Artist?.?.name),
            \.label: SyncProperty("label", to: Label.self, inOptional: \Artist?.?.label),
            \.albums: SyncProperty("albums", to: Album.self, inOptional: \Artist?.?.albums),
            \.albums.each: SyncProperty("albums", to: Album.self, inOptional: \Artist?.?.albums.each),
        ]
    }
    var syncKey: Int? { id }
    var syncID: JSONValue { Self.syncID(of: id) }

    init(entityRow row: EntityRowDecoder) throws {
        id = try row.value("id")
        name = try row.value("name")
        labelID = try row.value("labelID")
    }
    func encode(into row: inout EntityRowEncoder) throws { try row.set("id", to: id) }
    mutating func setRelated(_ rows: [any EntityRecord], for relationship: String) {
        if relationship == "label" { labels.load(rows) } else { albumRows.load(rows) }
    }
}

private struct Album: EntityRecord, Equatable {
    var id: Int
    var title: String?
    var artistID: Int?
    private var artists = RelatedRows<Artist>()

    var artist: Artist? { artists.rows?.first }

    static let entityName = "Album"
    static var syncEntity: SyncModel.Entity {
        SyncModel.Entity(
            entityName, attributes: [.init("id", Int.self, isKey: true), .init("title", String?.self)],
            relationships: [.init("artist", to: Artist.self, inverse: "albums")])
    }
    static var syncProperties: [PartialKeyPath<Album>: SyncProperty] {
        [
            \.id: "id", \.title: SyncProperty("title", inOptional: \Album?.?.title),
            \.artist: SyncProperty("artist", to: Artist.self, inOptional: \Album?.?.artist),
        ]
    }
    var syncKey: Int? { id }
    var syncID: JSONValue { Self.syncID(of: id) }

    init(entityRow row: EntityRowDecoder) throws {
        id = try row.value("id")
        title = try row.value("title")
        artistID = try row.value("artistID")
    }
    func encode(into row: inout EntityRowEncoder) throws { try row.set("id", to: id) }
    mutating func setRelated(_ rows: [any EntityRecord], for relationship: String) { artists.load(rows) }
}

@Suite("Key paths along relationships")
struct RelationshipPathTests {
    private static let json = """
        [{"id": 1, "title": "b", "artist": {"id": 10, "name": "Ann", "label": {"id": 20, "name": "L"}}},
         {"id": 2, "title": "a", "artist": {"id": 11, "name": "Bob"}}, {"id": 3, "artist": 10}, {"id": 4}]
        """

    private func stack() async throws -> DataStack {
        let stack = try DataStack.inMemory(SyncModel(Label.self, Artist.self, Album.self))
        try await Sync.changes(Data(Self.json.utf8), as: Album.self, stack: stack)
        return stack
    }

    @Test("A key path of several relationships loads the rows of each")
    func toOne() async throws {
        let stack = try await stack()
        let albums = try await stack.fetch(Album.self, including: \.artist?.label)
        #expect(albums.map(\.artist?.name) == ["Ann", "Bob", "Ann", nil])
        #expect(albums.map(\.artist?.label?.name) == ["L", nil, "L", nil])
        #expect(albums.first?.artist?.albums == [])
        #expect(try await stack.fetch(Album.self, including: \.artist).first?.artist?.label == nil)
        let one = try await stack.read { db in
            try stack.fetch(Album.self, id: 1, including: \.artist?.label, \.artist?.albums, in: db)
        }
        #expect(one?.artist?.label?.name == "L")
        #expect(one?.artist?.albums.map(\.id) == [1, 3])
    }

    @Test("'each' leads on from a to-many relationship")
    func toMany() async throws {
        let stack = try await stack()
        let artists = try await stack.fetch(Artist.self, including: \.albums.each?.artist?.label)
        #expect(artists.map { $0.albums.map(\.id) } == [[1, 3], [2]])
        #expect(artists.first?.albums.map(\.artist?.label?.name) == ["L", "L"])
        let albums = try await stack.fetch(Album.self, including: \.artist?.albums.each?.artist)
        let names = albums.map { $0.artist?.albums.map(\.artist?.name) }
        #expect(names == [["Ann", "Ann"], ["Bob"], ["Ann", "Ann"], nil])
    }

    @Test("A change at the end of a key path is observed")
    func observed() async throws {
        let stack = try await stack()
        var albums = try stack.observe(Album.self, id: 1, including: \.artist?.label).makeAsyncIterator()
        #expect(try await albums.next()??.artist?.label?.name == "L")
        try await stack.write { db in try db.execute(sql: "UPDATE Label SET name = 'M'") }
        #expect(try await albums.next()??.artist?.label?.name == "M")
    }

    @Test("A key path along to-one relationships orders rows")
    func order() async throws {
        let stack = try await stack()
        #expect(try await stack.fetch(Album.self, orderedBy: \.artist?.name).map(\.id) == [4, 1, 3, 2])
        let order = RowOrder(\Album.artist?.label?.name, ascending: false).then(\Album.title)
        #expect(try await stack.fetch(Album.self, orderedBy: order).map(\.id) == [3, 1, 4, 2])
        await #expect(throws: SyncError.self) {
            try await stack.fetch(Artist.self, orderedBy: \.albums.each?.title)
        }
    }

    @Test("A key path that does not end at a relationship is an error")
    func unknown() async throws {
        let stack = try await stack()
        for path in [\.title, \.artist?.name, \.artist?.id, \.artist?.label?.artists] as [PartialKeyPath<Album>] {
            let error = await #expect(throws: SyncError.self) {
                try await stack.fetch(Album.self, including: path)
            }
            #expect(error?.code == .unknownRelationship, "\(path)")
        }
    }
}
