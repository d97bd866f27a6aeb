import Foundation
import GRDB
import Sync
import Testing

@Suite("Processes of two versions on one store")
struct RollingDeployTests {
    @Test("A process of a former version continues after another one has added an attribute")
    func rollingDeploy() async throws {
        func model(_ attributes: String) throws -> SyncModel {
            try SyncModel(
                schemaData: Data(#"{"entities": {"User": {"attributes": {"id": "integer", \#(attributes)}}}}"#.utf8))
        }
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let file = folder.database.path
        let (old, new) = (try model(#""name": "string""#), try model(#""name": "string", "phone": "string""#))
        let first = try DataStack(model: old, in: DatabasePool(path: file), migration: .never)
        let migrating = try DataStack(model: new, in: DatabasePool(path: file))
        let json: JSONValue = [["id": 1, "name": "a", "phone": "1"]]
        try await Sync.changes(json, inEntity: "User", stack: migrating)
        let error = await #expect(throws: SyncError.self) {
            try await Sync.changes(json, inEntity: "User", stack: first)
        }
        #expect(error?.code == .modelMismatch)

        let again = try DataStack(model: old, in: DatabasePool(path: file), migration: .never)
        let payload: JSONValue = [["id": 1, "name": "b"], ["id": 2, "name": "c", "phone": "2"]]
        try await Sync.changes(payload, inEntity: "User", stack: again)
        let stored = try await migrating.fetch("User", orderedBy: "id")
        #expect(stored.map { $0["phone"] } == [.string("1"), .string("2")])
        #expect(try await Sync.changes(payload, inEntity: "User", stack: migrating).isEmpty)
    }
}
