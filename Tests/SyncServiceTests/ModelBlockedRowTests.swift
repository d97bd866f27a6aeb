import Foundation
import HTTPTypes
import Sync
import SyncTesting
import Testing

@testable import SyncService

/// Rows that are blocked because of the model: their other fields, and their state with a corrected model.
@Suite("Rows blocked because of the model")
struct ModelBlockedRowTests {
    /// A list of rows that stores known fields and ignores others.
    private actor List {
        private let known: Set<String>
        private(set) var row: [String: JSONValue] = [:]
        private(set) var bodies: [JSONValue] = []

        init(_ row: [String: JSONValue]) {
            known = Set(row.keys)
            self.row = row
        }

        func set(_ name: String, _ value: JSONValue) {
            row[name] = value
        }

        private var record: JSONValue {
            .object(row.sorted { $0.key < $1.key }.map { JSONValue.Member($0.key, $0.value) })
        }

        func answer(_ request: HTTPRequest, _ body: JSONValue?) -> (Int, [String: String], JSONValue) {
            if request.path?.contains("tags") == true {
                return (200, [:], .array((1...3).map { ["id": JSONValue($0), "name": "g"] }))
            }
            if request.method == .patch, case .object(let members)? = body {
                bodies.append(.object(members))
                for member in members where known.contains(member.key) { row[member.key] = member.value }
            }
            return (200, [:], request.method == .get && request.path?.hasSuffix("/1") != true ? [record] : record)
        }
    }

    private static func schema(_ dueAt: String) -> String {
        """
        {"entities": {
          "Task": {"attributes": {"remoteID": "integer", "full name": {"type": "string", "remoteKey": "full name"}, "dueAt": \(dueAt)},
            "relationships": {"tags": {"entity": "Tag", "many": true, "ordered": true, "inverse": "tasks"}}},
          "Tag": {"attributes": {"remoteID": "integer", "name": "string"},
            "relationships": {"tasks": {"entity": "Task", "many": true, "inverse": "tags", "export": false}}}
        }}
        """
    }

    private static let misnamed = schema("\"string\"")
    private static let corrected = schema("{\"type\": \"string\", \"remoteKey\": \"dueAt\"}")
    private let list = List(["id": 1, "full name": "t", "dueAt": "d", "tag_ids": [1, 2, 3]])

    /// Opens one store with several models in turn.
    private func withStore(_ body: (_ open: (String) throws -> Device) async throws -> Void) async throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("model-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let service = RESTService(
            baseURL: try #require(URL(string: "https://service.example/v1")),
            transport: Served { [list] in await list.answer($0, $1) })
        try await body { schema in
            let model = try SyncModel(schemaData: Data(schema.utf8))
            let stack = try DataStack(model: model, at: folder.appendingPathComponent("store.sqlite"))
            return try Device(stack, service, entities: ["Task", "Tag"])
        }
    }

    @Test("The other fields and lists of a row with a blocked field are acknowledged")
    func otherFields() async throws {
        try await withStore { open in
            let device = try open(Self.misnamed)
            try await device.engine.sync()
            try await device.write("UPDATE Task SET \"full name\" = 'mine', dueAt = 'soon'")
            let place = try #require(
                try await device.rows("SELECT name FROM pragma_table_info('Tag_tasks') WHERE name LIKE '%order%'").first
            )
            try await device.write("UPDATE Tag_tasks SET \"\(place)\" = 10 - \"\(place)\"")
            try await device.engine.sync()
            #expect(try await device.engine.blockedChanges().count == 1)
            #expect(await list.row["tag_ids"] == [3, 2, 1])
            #expect(try await device.rows("SELECT field FROM sync_base") == ["dueAt"])
            // Another device changes the accepted fields.
            await list.set("full name", "theirs")
            await list.set("tag_ids", [2, 1, 3])
            try await device.engine.sync()
            #expect(try await device.engine.conflicts().isEmpty)
            #expect(try await device.rows("SELECT \"full name\", dueAt FROM Task") == ["theirs soon"])
            #expect(
                try await device.rows("SELECT tagID FROM Tag_tasks ORDER BY \"\(place)\"") == ["2", "1", "3"])
        }
    }

    @Test("A corrected model sends the blocked field again without an edit")
    func corrected() async throws {
        try await withStore { open in
            let device = try open(Self.misnamed)
            try await device.engine.sync()
            try await device.write("UPDATE Task SET dueAt = 'soon'")
            try await device.engine.sync()
            // The same model does not send it.
            let same = try open(Self.misnamed)
            try await same.engine.sync()
            #expect(try await same.engine.blockedChanges().count == 1)
            #expect(await list.bodies.count == 1)
            let other = try open(Self.corrected)
            for _ in 0..<2 { try await other.engine.sync() }
            #expect(await list.row["dueAt"] == "soon")
            #expect(try await other.rows("SELECT dueAt FROM Task") == ["soon"])
            #expect(try await other.leftovers() == [])
        }
    }
}
