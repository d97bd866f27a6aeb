import Foundation
import HTTPTypes
import Sync
import SyncTesting
import Testing

@testable import SyncService

/// Deletions of rows whose records have no version: the engine compares values.
@Suite("Deletions without versions")
struct UnversionedDeletionTests {
    /// A list of tasks that has no versions and ignores `points`.
    private actor List {
        private(set) var tasks: [String: JSONValue] = ["1": ["id": 1, "title": "a"], "2": ["id": 2, "title": "b"]]

        func set(_ id: Int, _ title: String) { tasks["\(id)"] = ["id": JSONValue(id), "title": .string(title)] }

        func answer(_ request: HTTPRequest, _ body: JSONValue?) -> (Int, [String: String], JSONValue) {
            guard let id = request.path?.split(separator: "/").last.map(String.init), Int(id) != nil else {
                return (200, [:], .array(tasks.sorted { $0.key < $1.key }.map(\.value)))
            }
            switch request.method {
            case .delete: tasks[id] = nil
            case .patch: if let title = body?["title"], let number = Int(id) { set(number, title.string ?? "") }
            default: break
            }
            return (tasks[id] == nil && request.method == .get ? 404 : 200, [:], tasks[id] ?? .null)
        }
    }

    private let list = List()

    private func device(_ policy: DeleteConflictPolicy) async throws -> Device {
        let service = RESTService(
            baseURL: try #require(URL(string: "https://service.example/v1")), options: RESTOptions(),
            transport: Served { [list] in await list.answer($0, $1) })
        let device = try Device(service, entities: [SyncedEntity("Task", deleteConflictPolicy: policy)])
        try await device.engine.sync()
        return device
    }

    @Test("A remote edit of a locally deleted row is a conflict", arguments: DeleteConflictPolicy.allCases)
    func edited(_ policy: DeleteConflictPolicy) async throws {
        let device = try await device(policy)
        try await device.write("DELETE FROM Task WHERE remoteID = 1")
        await list.set(1, "important")
        // The second pull finds the same conflict again, and must not log it twice.
        try await device.engine.pull()
        try await device.engine.pull()
        try await device.engine.sync()
        let conflicts = try await device.engine.conflicts()
        #expect(conflicts.map(\.field) == [""])
        #expect(conflicts.first?.remote["title"] == "important")
        let titles = policy == .editWins ? ["b", "important"] : ["b"]
        #expect(try await device.rows("SELECT title FROM Task ORDER BY title") == titles)
        #expect(await list.tasks.values.compactMap { $0["title"] }.count == titles.count)
        #expect(try await device.leftovers() == [])
    }

    @Test(
        "A locally deleted row that the service has not changed is deleted there, without a conflict",
        arguments: DeleteConflictPolicy.allCases, ["title = title", "title = 'mine'", "points = 5"])
    func unchanged(_ policy: DeleteConflictPolicy, _ edit: String) async throws {
        let device = try await device(policy)
        // The records of the service do not have the member `points`.
        try await device.write("UPDATE Task SET \(edit) WHERE remoteID = 1")
        try await device.write("DELETE FROM Task WHERE remoteID = 1")
        try await device.engine.pull()
        try await device.engine.sync()
        #expect(try await device.engine.conflicts().isEmpty)
        #expect(try await device.rows("SELECT title FROM Task") == ["b"])
        #expect(await list.tasks.keys.map(\.self) == ["2"])
        #expect(try await device.leftovers() == [])
    }
}
