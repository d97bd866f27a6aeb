import Foundation
import Sync
import SyncTesting
import Testing

@testable import SyncService

/// Deletions that an edit undoes (`editWins`): the rows that were deleted with the edited row come back with it.
@Suite("Undone deletions")
struct UndoneDeletionTests {
    /// Each list owns its items, and each item its marks. An item requires its list.
    private static let schema = """
        {"entities": {
          "List": {"attributes": {"id": "integer", "name": "string"},
            "relationships": {"items": {"entity": "Item", "many": true, "inverse": "list", "deleteRule": "cascade"}}},
          "Item": {"attributes": {"id": "integer", "name": "string"},
            "relationships": {"list": {"entity": "List", "inverse": "items", "optional": false},
              "marks": {"entity": "Mark", "many": true, "inverse": "item", "deleteRule": "cascade"},
              "tags": {"entity": "Tag", "many": true}}},
          "Mark": {"attributes": {"id": "integer", "name": "string"},
            "relationships": {"item": {"entity": "Item", "inverse": "marks"}}},
          "Tag": {"attributes": {"id": "integer", "name": "string"}}
        }}
        """
    private static let entities = ["List", "Item", "Mark", "Tag"]

    private static func service(
        _ deletions: ServiceCapabilities.DeletionDetection = .tombstones
    ) async -> InMemoryService {
        let service = InMemoryService(
            ServiceCapabilities(
                idAssignment: .server, deletionDetection: deletions, createIdempotency: .idempotencyKey,
                supportsPreconditions: true, providesModificationTimes: true, maxBatchSize: 10))
        await service.set("Tag", 1, ["name": "t"])
        for list in 1...2 {
            await service.set("List", JSONValue(list), ["name": .string("l\(list)")])
            for item in [list * 10, list * 10 + 1] {
                let name = JSONValue.string("i\(item)")
                await service.set("Item", JSONValue(item), ["name": name, "list_id": JSONValue(list), "tag_ids": [1]])
                let mark: JSONValue = .string("m\(item)")
                await service.set("Mark", JSONValue(item * 10), ["name": mark, "item_id": JSONValue(item)])
            }
        }
        return service
    }

    private static func device(_ service: InMemoryService, editWins: Set<String>) async throws -> Device {
        let device = try Device(
            service, schema: schema,
            entities: entities.map {
                SyncedEntity($0, deleteConflictPolicy: editWins.contains($0) ? .editWins : .deleteWins)
            })
        try await device.engine.sync()
        return device
    }

    /// The rows of the tree: each mark with its item, list and tag.
    private static let tree = """
        SELECT l.name, i.name, m.name, t.name FROM List l LEFT JOIN Item i ON i.listID = l.id
          LEFT JOIN Mark m ON m.itemID = i.id LEFT JOIN Item_tags it ON it.itemID = i.id
          LEFT JOIN Tag t ON t.id = it.tagID ORDER BY 1, 2, 3
        """
    private static let other = ["l2 i20 m20 t", "l2 i21 m21 t"]

    @Test(
        "An edit at the service brings back the rows that the local deletion deleted", arguments: entities.prefix(3))
    func editedRemotely(_ edited: String) async throws {
        let service = await Self.service()
        let device = try await Self.device(service, editWins: [edited])
        let before = try await device.rows(Self.tree)
        try await device.write("DELETE FROM List WHERE id = 1")
        #expect(try await device.rows(Self.tree) == Self.other)
        let id = ["List": 1, "Item": 10, "Mark": 100][edited] ?? 0
        await service.set(edited, JSONValue(id), ["name": "theirs"])
        try await device.engine.sync()
        let edits = ["List": "l1", "Item": "i10", "Mark": "m10"]
        let expected = before.map { row in
            row.split(separator: " ").map { $0 == edits[edited] ?? "" ? "theirs" : String($0) }.joined(separator: " ")
        }.sorted()
        #expect(try await device.rows(Self.tree).sorted() == expected)
        #expect(await service.contents(of: "Item").count == 4)
        #expect(await service.contents(of: "Mark").count == 4)
        #expect(try await device.leftovers() == [])
        try await device.engine.sync()
        #expect(try await device.engine.pendingChangeCount() == 0)
    }

    @Test(
        "A local edit brings back the rows that a deletion at the service deleted", arguments: entities.prefix(3),
        [ServiceCapabilities.DeletionDetection.tombstones, .listing])
    func editedLocally(_ edited: String, _ deletions: ServiceCapabilities.DeletionDetection) async throws {
        let service = await Self.service(deletions)
        let device = try await Self.device(service, editWins: [edited])
        let before = try await device.rows(Self.tree)
        let id = ["List": 1, "Item": 10, "Mark": 100][edited] ?? 0
        try await device.write("UPDATE \(edited) SET name = name || '!' WHERE id = \(id)")
        let expected = try await device.rows(Self.tree)
        #expect(expected != before)
        for mark in [100, 110] { await service.remove("Mark", JSONValue(mark)) }
        for item in [10, 11] { await service.remove("Item", JSONValue(item)) }
        await service.remove("List", 1)
        try await device.engine.sync()
        #expect(try await device.rows(Self.tree) == expected)
        let other = try await Self.device(service, editWins: [])
        #expect(try await other.rows(Self.tree) == expected)
        #expect(await service.contents(of: "Item").count == 4)
        #expect(await service.contents(of: "Mark").count == 4)
        #expect(try await device.leftovers() == [])
        #expect(try await device.engine.pendingChangeCount() == 0)
    }

    @Test("A row that comes back has the value that the service got after the deletion", arguments: [false, true])
    func changedLater(isPulledBefore: Bool) async throws {
        let service = await Self.service()
        let device = try await Self.device(service, editWins: ["List"])
        try await device.write("DELETE FROM List WHERE id = 1")
        await service.set("Item", 10, ["name": "theirs"])
        if isPulledBefore { try await device.engine.pull() }
        await service.set("List", 1, ["name": "theirs"])
        for _ in 1...2 { try await device.engine.sync() }
        #expect(
            try await device.rows(Self.tree) == Self.other + ["theirs i11 m11 t", "theirs theirs m10 t"])
        #expect(await service.contents(of: "Item")[10]?["name"] == "theirs")
        #expect(await service.contents(of: "Mark").count == 4)
        #expect(try await device.leftovers() == [])
    }

    @Test("Two devices that edit the rows of a deleted list create it once")
    func twoDevices() async throws {
        let service = await Self.service()
        let devices = [
            try await Self.device(service, editWins: ["List", "Item"]),
            try await Self.device(service, editWins: ["List", "Item"]),
        ]
        try await devices[0].write("UPDATE List SET name = 'mine' WHERE id = 1")
        try await devices[1].write("UPDATE Item SET name = 'yours' WHERE id = 11")
        for mark in [100, 110] { await service.remove("Mark", JSONValue(mark)) }
        for item in [10, 11] { await service.remove("Item", JSONValue(item)) }
        await service.remove("List", 1)
        for device in devices + devices { try await device.engine.sync() }
        let expected = ["mine i10 m10 t", "mine yours m11 t"]
        for device in devices {
            #expect(try await device.rows(Self.tree) == Self.other + expected)
            #expect(try await device.leftovers() == [])
        }
        #expect(await service.contents(of: "List").count == 2)
        #expect(await service.contents(of: "Item").count == 4)
    }

    @Test("An edit of an owner does not restore the part that the service deleted", arguments: [false, true])
    func deletedPart(isOwnerDeleted: Bool) async throws {
        let schema = """
            {"entities": {
              "Folder": {"attributes": {"id": "integer", "name": "string"},
                "relationships": {"note": {"entity": "Note", "deleteRule": "cascade"}}},
              "Note": {"attributes": {"id": "integer", "name": "string"}}
            }}
            """
        let service = InMemoryService()
        await service.set("Note", 5, ["name": "n"])
        await service.set("Folder", 1, ["name": "f", "note_id": 5])
        let entities = ["Folder", "Note"].map { SyncedEntity($0, deleteConflictPolicy: .editWins) }
        let device = try Device(service, schema: schema, entities: entities)
        try await device.engine.sync()
        try await device.write("UPDATE Folder SET name = 'mine'")
        if isOwnerDeleted { await service.remove("Folder", 1) }
        await service.remove("Note", 5)
        try await device.engine.sync()
        let folders = "SELECT f.name, n.name FROM Folder f LEFT JOIN Note n ON n.id = f.noteID"
        #expect(try await device.rows(folders) == [isOwnerDeleted ? "mine n" : "mine nil"])
        #expect(await service.contents(of: "Note").count == (isOwnerDeleted ? 1 : 0))
        #expect(try await device.leftovers() == [])
    }

    @Test("Discarding a deletion restores the rows that were deleted with it", arguments: [1, 10, 100])
    func discarded(_ id: Int) async throws {
        let service = await Self.service()
        let device = try await Self.device(service, editWins: [])
        let before = try await device.rows(Self.tree)
        try await device.write("DELETE FROM List WHERE id = 1")
        try await device.engine.discardChange(of: [1: "List", 10: "Item", 100: "Mark"][id] ?? "", key: JSONValue(id))
        #expect(try await device.rows(Self.tree) == before)
        #expect(try await device.engine.pendingChangeCount() == 0)
        try await device.engine.sync()
        #expect(try await device.rows(Self.tree) == before)
        #expect(await service.contents(of: "Mark").count == 4)
        #expect(try await device.leftovers() == [])
    }
}
