import Foundation
import GRDB
import Sync
import SyncTesting
import Testing

@testable import SyncService

/// Entities with inheritance: each with its own list on the service, or all in one list with a discriminator.
@Suite("Subentities")
struct SubentityTests {
    private static func schema(_ root: String) -> String {
        """
        {"entities": {
          "Event": {\(root), "attributes": {"remoteID": {"type": "integer"}, "name": {"type": "string"}},
            "relationships": {"person": {"entity": "Person", "inverse": "events"},
              "notes": {"entity": "Note", "many": true, "inverse": "event", "deleteRule": "cascade"}}},
          "Holiday": {"parent": "Event", "attributes": {"country": {"type": "string"}}},
          "Birthday": {"parent": "Event", "attributes": {"gift": {"type": "string"}},
            "relationships": {"guests": {"entity": "Person", "many": true, "inverse": "invitations"}}},
          "Note": {"attributes": {"remoteID": {"type": "integer"}, "text": {"type": "string"}},
            "relationships": {"event": {"entity": "Event", "inverse": "notes"}}},
          "Person": {"attributes": {"remoteID": {"type": "integer"}, "name": {"type": "string"}},
            "relationships": {"events": {"entity": "Event", "many": true, "inverse": "person"},
              "invitations": {"entity": "Birthday", "many": true, "inverse": "guests"}}}
        }}
        """
    }

    private static let abstract = schema("\"abstract\": true")
    private static let kinds = schema(
        "\"discriminator\": {\"key\": \"type\", \"values\": {\"holiday\": \"Holiday\", \"birthday\": \"Birthday\"}}")

    private var configuration: SyncEngine.Configuration {
        var configuration = Device.configuration
        configuration.deletionLimit = nil
        configuration.inDoubtTimeout = .zero
        return configuration
    }

    @Test(
        "Registering a hierarchy instead of its subentities, or the reverse, creates the same triggers",
        arguments: [true, false])
    func registeredOtherwise(_ isTogetherFirst: Bool) async throws {
        let service = InMemoryService(pageSize: 10)
        let (together, apart): ([SyncedEntity], [SyncedEntity]) = (["Event"], ["Holiday", "Birthday"])
        let device = try Device(
            service, schema: Self.kinds, entities: isTogetherFirst ? together : apart, configuration)
        let first = try await device.rows("SELECT count(*) FROM sqlite_schema WHERE name GLOB 'sync_outbox_*'")
        let now = isTogetherFirst ? apart : together
        _ = try Device(device.stack, service, entities: now, configuration)
        let fresh = try Device(service, schema: Self.kinds, entities: now, configuration)
        let query = "SELECT name FROM sqlite_schema WHERE name GLOB 'sync_outbox_*' ORDER BY 1"
        #expect(try await device.rows(query) == fresh.rows(query))
        #expect(first != ["0"])
    }

    @Test("An import of a list deletes no rows with pending changes of a subentity", arguments: [false, true])
    func pendingRowsSurviveImport(_ isScoped: Bool) async throws {
        let service = InMemoryService(pageSize: 10)
        for id in 10...12 { await service.set("Holiday", JSONValue(id), ["name": "h", "country": "FR"]) }
        let device = try Device(service, schema: Self.abstract, entities: ["Holiday", "Birthday"], configuration)
        try await device.engine.sync()
        try await device.write("UPDATE Event SET country = 'DE' WHERE remoteID = 10")
        try await device.stack.insert("Holiday", values: ["name": "new", "country": "FR"])
        let list: JSONValue = [["id": 11, "name": "h", "country": "FR"]]
        let scope: RowPredicate? = isScoped ? "remoteID > 0 OR name == 'new'" : nil
        try await Sync.changes(list, inEntity: "Holiday", stack: device.stack, predicate: scope)
        #expect(
            try await device.rows("SELECT name, country FROM Event ORDER BY remoteID") == ["new FR", "h DE", "h FR"])
    }

    @Test("Subentities with their own lists are never sent to the list of another")
    func ownLists() async throws {
        let service = InMemoryService(pageSize: 10)
        await service.set("Person", 1, ["name": "Ada"])
        await service.set("Holiday", 10, ["name": "May Day", "country": "FR"])
        await service.set("Birthday", 20, ["name": "Ada's", "gift": "cake", "person_id": 1, "guest_ids": [1]])
        await service.set("Note", 30, ["text": "n", "event_id": 20])
        let entities: [SyncedEntity] = ["Holiday", "Birthday", "Note", "Person"]
        let one = try Device(service, schema: Self.abstract, entities: entities, configuration)
        let two = try Device(service, schema: Self.abstract, entities: entities, configuration)
        for device in [one, two] { try await device.engine.sync() }
        #expect(
            try await two.rows("SELECT sync_entity, remoteID, country, gift FROM Event ORDER BY 2")
                == ["Holiday 10 FR nil", "Birthday 20 nil cake"])
        try await one.write(
            """
            UPDATE Event SET country = 'DE' WHERE remoteID = 10;
            UPDATE Event SET gift = 'tea', personID = NULL WHERE remoteID = 20;
            DELETE FROM Birthday_guests;
            """)
        try await one.stack.insert("Holiday", values: ["name": "New Year"])
        let birthday = try await one.stack.insert("Birthday", values: ["name": "Bob's", "gift": "hat"])
        try await one.stack.insert("Note", values: ["text": "of Bob's"], relationships: ["event": [birthday]])
        try await two.write("DELETE FROM Note")
        for device in [one, two, one] { try await device.engine.sync() }
        #expect(await service.contents(of: "Holiday")[10]?["country"] == "DE")
        #expect(await service.contents(of: "Holiday").count == 2)
        #expect(await service.contents(of: "Birthday")[20]?["gift"] == "tea")
        #expect(await service.contents(of: "Birthday")[20]?["person_id"] == .null)
        #expect(await service.contents(of: "Birthday")[20]?["guest_ids"] == [])
        let made = await service.contents(of: "Birthday").values.first { $0["gift"] == "hat" }
        #expect(made?["country"] == nil)
        #expect(await service.contents(of: "Note").values.map { $0["event_id"] } == [made?["id"]])
        #expect(await service.contents(of: "Event").isEmpty)
        for device in [one, two] {
            #expect(
                try await device.rows("SELECT sync_entity, name, country, gift FROM Event ORDER BY name")
                    == [
                        "Birthday Ada's nil tea", "Birthday Bob's nil hat", "Holiday May Day DE nil",
                        "Holiday New Year nil nil",
                    ])
            #expect(try await device.leftovers() == [])
        }
        await service.remove("Holiday", 10)
        for device in [one, two] { try await device.engine.sync() }
        #expect(try await two.rows("SELECT count(*) FROM Event WHERE sync_entity = 'Birthday'") == ["2"])
        #expect(try await two.rows("SELECT count(*) FROM Event WHERE sync_entity = 'Holiday'") == ["1"])
    }

    @Test("In a shared list, a new row has its discriminator and the attributes of its entity")
    func oneList() async throws {
        let service = InMemoryService(pageSize: 10)
        await service.set("Event", 10, ["name": "May Day", "type": "holiday", "country": "FR"])
        let entities: [SyncedEntity] = ["Event", "Note", "Person"]
        let one = try Device(service, schema: Self.kinds, entities: entities, configuration)
        let two = try Device(service, schema: Self.kinds, entities: entities, configuration)
        for device in [one, two] { try await device.engine.sync() }
        try await one.write("UPDATE Event SET country = 'DE'")
        try await one.stack.insert("Birthday", values: ["name": "Bob's", "gift": "hat"])
        for device in [one, two] { try await device.engine.sync() }
        #expect(await service.contents(of: "Event")[10]?["country"] == "DE")
        let made = await service.contents(of: "Event").values.first { $0["gift"] == "hat" }
        #expect(made?["type"] == "birthday")
        #expect(made?["country"] == nil)
        #expect(
            try await two.rows("SELECT sync_entity, name, country, gift FROM Event ORDER BY name")
                == ["Birthday Bob's nil hat", "Holiday May Day DE nil"])
        for device in [one, two] { #expect(try await device.leftovers() == []) }
    }

    @Test("In a shared list, a row that changes its entity is updated on both sides")
    func becomesAnotherInOneList() async throws {
        let service = InMemoryService(pageSize: 10)
        await service.set("Event", 10, ["name": "May Day", "type": "holiday", "country": "FR"])
        await service.set("Event", 11, ["name": "Ada's", "type": "birthday", "gift": "cake"])
        let entities: [SyncedEntity] = ["Event", "Note", "Person"]
        let one = try Device(service, schema: Self.kinds, entities: entities, configuration)
        let two = try Device(service, schema: Self.kinds, entities: entities, configuration)
        for device in [one, two] { try await device.engine.sync() }
        try await one.write(
            "UPDATE Event SET sync_entity = 'Birthday', country = NULL, gift = 'pen' WHERE remoteID = 10")
        await service.set("Event", 11, ["name": "Ada's day", "type": "holiday", "gift": .null, "country": "DE"])
        for device in [one, two] { try await device.engine.sync() }
        #expect(await service.contents(of: "Event")[10]?["type"] == "birthday")
        #expect(await service.contents(of: "Event")[10]?["gift"] == "pen")
        for device in [one, two] {
            #expect(
                try await device.rows("SELECT sync_entity, name, country, gift FROM Event ORDER BY remoteID")
                    == ["Birthday May Day nil pen", "Holiday Ada's day DE nil"])
            #expect(try await device.leftovers() == [])
            #expect(try await device.engine.sync().isEmpty)
        }
    }

    @Test("In a shared list, a row has the discriminators of its entity and its ancestors")
    func nestedDiscriminators() async throws {
        let service = InMemoryService(pageSize: 10)
        await service.set("Media", 10, ["name": "a", "kind": "video", "rank": "clip", "length": 4])
        await service.set("Media", 11, ["name": "b", "kind": "video"])
        let schema = """
            {"entities": {
              "Media": {"attributes": {"remoteID": "integer", "name": "string"},
                "discriminator": {"key": "kind", "values": {"video": "Video"}}},
              "Video": {"parent": "Media",
                "discriminator": {"key": "rank", "values": {"clip": "Clip"}, "otherwise": "parent"}},
              "Clip": {"parent": "Video", "attributes": {"length": "integer"}}}}
            """
        let one = try Device(service, schema: schema, entities: ["Media"], configuration)
        let two = try Device(service, schema: schema, entities: ["Media"], configuration)
        for device in [one, two] { try await device.engine.sync() }
        try await one.stack.insert("Clip", values: ["name": "c", "length": 5])
        await service.set("Media", 10, ["name": "a", "kind": "video", "rank": .null, "length": .null])
        await service.set("Media", 11, ["name": "b", "kind": "video", "rank": "clip", "length": 6])
        for device in [one, two] { try await device.engine.sync() }
        let made = await service.contents(of: "Media").values.first { $0["name"] == "c" }
        #expect(made?["kind"] == "video" && made?["rank"] == "clip")
        for device in [one, two] {
            #expect(
                try await device.rows("SELECT sync_entity, name, length FROM Media ORDER BY name")
                    == ["Video a nil", "Clip b 6", "Clip c 5"])
            #expect(try await device.leftovers() == [])
        }
    }

    @Test("A row that changes its entity loses the links that only its former entity has", arguments: [false, true])
    func losesLinks(_ isEdited: Bool) async throws {
        let service = InMemoryService(pageSize: 10)
        for id in 1...2 { await service.set("Person", JSONValue(id), ["name": "p"]) }
        // Person 3 is not stored yet.
        await service.set("Event", 10, ["name": "Ada's", "type": "birthday", "guest_ids": [1, 3]])
        let device = try Device(service, schema: Self.kinds, entities: ["Event", "Person"], configuration)
        try await device.engine.sync()
        #expect(try await device.rows("SELECT personID FROM Birthday_guests") == ["1"])
        if isEdited {
            try await Sync.update(id: 10, with: ["guest_ids": [1, 2, 3]], inEntity: "Birthday", stack: device.stack)
        }
        await service.set("Event", 10, ["name": "Ada's day", "type": "holiday", "country": "DE"])
        await service.set("Person", 3, ["name": "late"])
        for _ in 0..<2 { try await device.engine.sync() }
        #expect(try await device.rows("SELECT sync_entity, name FROM Event") == ["Holiday Ada's day"])
        #expect(try await device.rows("SELECT * FROM Birthday_guests") == [])
        #expect(try await device.rows("SELECT * FROM sync_pending") == [])
        let logged = try await device.engine.conflicts()
        #expect(logged.map(\.local) == (isEdited ? [[2]] : []))
        #expect(logged.allSatisfy { $0.outcome?.reason == .entityChanged })
        #expect(try await device.leftovers() == [])
        #expect(try await device.engine.sync().isEmpty)
    }

    @Test("Subentities with their own keys may have equal IDs")
    func ownKeys() async throws {
        let service = InMemoryService(pageSize: 10)
        await service.set("Holiday", 1, ["name": "May Day"])
        await service.set("Birthday", 1, ["name": "Ada's", "gift": "cake"])
        let schema = """
            {"entities": {
              "Event": {"abstract": true, "attributes": {"name": "string"}},
              "Holiday": {"parent": "Event", "attributes": {"remoteID": "integer", "country": "string"}},
              "Birthday": {"parent": "Event", "primaryKey": "number", "attributes": {"number": {"type": "integer", "remoteKey": "id"},
                "gift": "string"}}}}
            """
        let one = try Device(service, schema: schema, entities: ["Holiday", "Birthday"], configuration)
        let two = try Device(service, schema: schema, entities: ["Holiday", "Birthday"], configuration)
        for device in [one, two] { try await device.engine.sync() }
        #expect(
            try await two.rows("SELECT sync_entity, name FROM Event ORDER BY 1") == [
                "Birthday Ada's", "Holiday May Day",
            ])
        try await one.write(
            "UPDATE Event SET country = 'FR' WHERE sync_entity = 'Holiday'; DELETE FROM Event WHERE number = 1")
        try await one.stack.insert("Birthday", values: ["name": "Bob's"])
        for device in [one, two] { try await device.engine.sync() }
        #expect(await service.contents(of: "Holiday")[1]?["country"] == "FR")
        #expect(await service.contents(of: "Birthday").values.map { $0["name"] } == ["Bob's"])
        #expect(
            try await two.rows("SELECT sync_entity, name, country FROM Event ORDER BY 1") == [
                "Birthday Bob's nil", "Holiday May Day FR",
            ])
        for device in [one, two] { #expect(try await device.leftovers() == []) }
    }

    @Test("A new row keeps its temporary key while a row of another entity has its remote ID")
    func takenKey() async throws {
        let service = InMemoryService(pageSize: 10)
        let device = try Device(service, schema: Self.abstract, entities: ["Birthday", "Holiday"], configuration)
        try await device.write("INSERT INTO Event (remoteID, sync_entity, name) VALUES (1, 'Holiday', 'May Day')")
        try await device.stack.insert("Birthday", values: ["name": "Ada's"])
        // The service gives the birthday the ID 1, and the holiday 2.
        for _ in 0..<3 { try await device.engine.sync() }
        #expect(
            try await device.rows("SELECT sync_entity, remoteID, name FROM Event ORDER BY 1")
                == ["Birthday 1 Ada's", "Holiday 2 May Day"])
        #expect(await service.creations == 2)
        #expect(try await device.leftovers() == [])
    }

    @Test("A row that changes its entity is deleted from the old list and created in the new one")
    func becomesAnother() async throws {
        let service = InMemoryService(pageSize: 10)
        await service.set("Holiday", 10, ["name": "May Day", "country": "FR"])
        await service.set("Note", 30, ["text": "n", "event_id": 10])
        let entities: [SyncedEntity] = ["Note", "Holiday", "Birthday"]
        let device = try Device(service, schema: Self.abstract, entities: entities, configuration)
        try await device.engine.sync()
        try await device.write("UPDATE Event SET sync_entity = 'Birthday', gift = 'pen'")
        // The note is pulled before the event has its new key.
        await service.set("Note", 30, ["text": "n2"])
        for _ in 0..<2 { try await device.engine.sync() }
        #expect(await service.contents(of: "Holiday").isEmpty)
        #expect(await service.contents(of: "Birthday").values.map { $0["gift"] } == ["pen"])
        #expect(await service.contents(of: "Note")[30]?["event_id"] == service.contents(of: "Birthday").keys.first)
        #expect(try await device.rows("SELECT count(*) FROM Note JOIN Event ON Event.remoteID = eventID") == ["1"])
        #expect(try await device.leftovers() == [])
    }

    @Test("A row of an unknown entity is blocked, and other rows are sent")
    func unknownEntity() async throws {
        let service = InMemoryService(pageSize: 10)
        let device = try Device(service, schema: Self.kinds, entities: ["Event", "Note"], configuration)
        try await device.write("INSERT INTO Event (sync_entity, name) VALUES ('Nonsense', 'bad')")
        try await device.stack.insert("Note", values: ["text": "n"])
        try await device.engine.sync()
        #expect(await service.contents(of: "Note").count == 1)
        #expect(
            try await device.engine.blockedChanges().map(\.reason) == [
                "unknown entity 'Nonsense' in the column sync_entity of a row"
            ])
    }

    @Test("Registering an entity and its subentity together is an error")
    func overlapping() throws {
        let error = #expect(throws: SyncError.self) {
            try Device(InMemoryService(), schema: Self.kinds, entities: ["Event", "Holiday"], configuration)
        }
        #expect(error?.message == "the rows of the entity are also rows of 'Event'; register only one of the two")
        #expect(error?.entity == "Holiday")
    }
}
