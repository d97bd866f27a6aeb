import Foundation
import Sync
import SyncTesting
import Testing

@testable import SyncService

/// Rows that reference a row which the service deleted, and which comes back because of a local edit.
@Suite(
    "Rows that reference a restored row",
    .enabled("PocketBase comes from PyPI, which cannot be reached") { await PocketBaseServer.isThere })
struct ReturningRowTests {
    private static let entities = ["Project", "Task", "Tag"].map { SyncedEntity($0, deleteConflictPolicy: .editWins) }
    private let id = "ggggggggggggggg"

    private func device(_ space: PocketBaseSpace) throws -> Device {
        var configuration = Device.configuration
        // The device does not find deletions by a listing.
        configuration.reconciliationInterval = .seconds(3600)
        return try Device(space.service(), schema: PocketBaseSpace.schema, entities: Self.entities, configuration)
    }

    private func insertTask(_ device: Device, into link: String) async throws {
        try await device.stack.insert("Task", values: ["title": "new"])
        try await device.write(
            link == "tag"
                ? "INSERT INTO Tag_tasks (taskID, tagID) SELECT remoteID, '\(id)' FROM Task"
                : "UPDATE Task SET projectID = '\(id)'")
    }

    /// Returns whether the service has the row, and its task references it.
    private func holds(_ space: PocketBaseSpace, _ link: String) async throws -> Bool {
        let there = try await space.rows(link == "tag" ? space.tags : space.projects).compactMap { $0["id"] }
        let named = try await space.rows(space.tasks).compactMap { $0[link == "tag" ? "tag_ids" : "project_id"] }
        return there.count == 1 && named == (link == "tag" ? [.array(there)] : there)
    }

    @Test(
        "A change that references a restored row is sent in the run that restores the row",
        arguments: ["tag", "project"])
    func sameRun(_ link: String) async throws {
        let space = try await PocketBaseServer.shared.space()
        let device = try device(space)
        let collection = link == "tag" ? space.tags : space.projects
        try await space.add(collection, ["id": .string(id), "name": "g"])
        try await device.engine.sync()
        try await space.remove(collection, id)
        try await device.write("UPDATE \(link == "tag" ? "Tag" : "Project") SET name = 'edited'")
        try await insertTask(device, into: link)
        try await device.engine.sync()
        #expect(try await device.engine.blockedChanges().map(\.reason) == [])
        #expect(try await holds(space, link))
        #expect(try await device.leftovers() == [])
    }

    @Test(
        "A change that was rejected for a deleted row is sent when the row is restored", arguments: ["tag", "project"])
    func laterRun(_ link: String) async throws {
        let space = try await PocketBaseServer.shared.space()
        let device = try device(space)
        let collection = link == "tag" ? space.tags : space.projects
        try await space.add(collection, ["id": .string(id), "name": "g"])
        try await device.engine.sync()
        try await space.remove(collection, id)
        try await insertTask(device, into: link)
        try await device.engine.sync()
        #expect(try await device.engine.blockedChanges().count == 1)
        // The change is rejected again after an edit.
        try await device.write("UPDATE Task SET title = 'newer'")
        try await device.engine.sync()
        #expect(try await device.engine.blockedChanges().count == 1)
        try await device.write("UPDATE \(link == "tag" ? "Tag" : "Project") SET name = 'edited'")
        try await device.engine.sync()
        #expect(try await device.engine.blockedChanges().map(\.reason) == [])
        #expect(try await holds(space, link))
        #expect(try await device.leftovers() == [])
    }
}
