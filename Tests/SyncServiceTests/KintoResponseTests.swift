import Foundation
import HTTPTypes
import Sync
import SyncTesting
import Testing

@testable import SyncService

/// Responses that a Kinto server does not usually send.
@Suite("Responses of Kinto")
struct KintoResponseTests {
    /// A collection with responses to replace.
    private actor Collection {
        var rows: [String: JSONValue] = [:]
        private var version = 100
        private(set) var batches = 0
        /// The status of requests for records, with the page for which it applies; nil for none.
        var refusal: (status: Int, page: String?)?
        /// Whether the server applies a batch and sends a response that is no response to a batch.
        var garblesBatches = false

        func set(_ id: String, _ members: [String: String]) {
            version += 1
            var row: [JSONValue.Member] = [.init("id", .string(id)), .init("last_modified", JSONValue(version))]
            for (name, value) in members.sorted(by: { $0.key < $1.key }) { row.append(.init(name, .string(value))) }
            rows[id] = .object(row)
        }

        func refuse(_ status: Int?, page: String? = nil) { refusal = status.map { ($0, page) } }
        func garble(_ garbles: Bool) { garblesBatches = garbles }

        func answer(_ request: HTTPRequest, _ body: JSONValue?) -> (Int, [String: String], JSONValue) {
            let path = request.path ?? ""
            if path.hasSuffix("/batch") { return batch(body) }
            if let refusal, refusal.page.map(path.contains) ?? true { return (refusal.status, [:], ["errno": 111]) }
            guard path.contains("/records?") else {
                let row = rows[String(path.split(separator: "/").last ?? "")]
                return row.map { (200, [:], ["data": $0]) } ?? (404, [:], ["errno": 110])
            }
            let tag = ["ETag": "\"\(version)\""]
            if path.contains("_since") { return (200, tag, ["data": []]) }
            let all = rows.sorted { $0.key < $1.key }.map(\.value)
            if path.contains("page2") { return (200, tag, ["data": .array(Array(all.dropFirst()))]) }
            guard all.count > 1 else { return (200, tag, ["data": .array(all)]) }
            let next = "https://kinto.test/v1/buckets/default/collections/tasks/records?page2"
            return (200, tag.merging(["Next-Page": next]) { $1 }, ["data": .array([all[0]])])
        }

        private func batch(_ body: JSONValue?) -> (Int, [String: String], JSONValue) {
            batches += 1
            guard case .array(let requests)? = body?["requests"] else { return (400, [:], [:]) }
            let responses = requests.map { request -> JSONValue in
                guard case .string(let path)? = request["path"],
                    let id = path.split(separator: "/").last.map(String.init),
                    case .object(let members)? = request["body"]?["data"]
                else { return ["status": 400] }
                let version = rows[id]?["last_modified"].map { "\"\($0)\"" }
                if let match = request["headers"]?["If-Match"], match != version.map(JSONValue.string) {
                    return ["status": 412, "body": ["details": ["existing": rows[id] ?? .null]]]
                }
                set(
                    id,
                    members.reduce(into: [:]) { fields, member in
                        if case .string(let text) = member.value { fields[member.key] = text }
                    })
                return ["status": 200, "body": ["data": rows[id] ?? .null]]
            }
            return (200, [:], garblesBatches ? ["message": "maintenance"] : ["responses": .array(responses)])
        }
    }

    private let collection = Collection()

    private func device(on stack: DataStack? = nil) throws -> Device {
        let service = KintoService(
            baseURL: try #require(URL(string: "https://kinto.test/v1")),
            transport: Served { [collection] request, body in await collection.answer(request, body) })
        let schema = """
            {"entities": {"Task": {"attributes": {"id": {"type": "string", "primaryKey": true}, "title": "string"}}}}
            """
        var configuration = Device.impatient
        configuration.deletionLimit = nil
        let stack = try stack ?? DataStack.inMemory(SyncModel(schemaData: Data(schema.utf8)))
        return try Device(stack, service, entities: ["Task"], configuration)
    }

    @Test(
        "A status of 403 or 404 for a collection that was pulled ends the run, and nothing is deleted",
        arguments: [403, 404])
    func refused(_ status: Int) async throws {
        for id in ["a", "b"] { await collection.set(id, ["title": "t"]) }
        let device = try device()
        // The collection disappears while its pages are read.
        await collection.refuse(status, page: "page2")
        await #expect(throws: SyncError.self) { try await device.engine.sync() }
        await collection.refuse(nil)
        try await device.engine.sync()
        #expect(try await device.rows("SELECT id FROM Task") == ["a", "b"])
        // The same while it is listed again.
        try await device.engine.reset(.cursors)
        await collection.refuse(status, page: "page2")
        await #expect(throws: SyncError.self) { try await device.engine.sync() }
        await collection.refuse(status)
        for _ in 0..<2 { try await device.engine.sync() }
        #expect(try await device.rows("SELECT id FROM Task") == ["a", "b"])
        // The same after a complete pull.
        await collection.refuse(nil)
        try await device.engine.sync()
        await collection.refuse(status)
        let error = await #expect(throws: SyncError.self) { try await device.engine.sync() }
        #expect(error?.message.contains("status \(status)") == true)
        #expect(try await device.rows("SELECT id FROM Task") == ["a", "b"])
    }

    @Test("A collection that does not exist yet is empty", arguments: [403, 404])
    func notThereYet(_ status: Int) async throws {
        await collection.refuse(status)
        let device = try device()
        for _ in 0..<2 { try await device.engine.sync() }
        await collection.refuse(nil)
        try await device.write("INSERT INTO Task (id, title) VALUES ('c', 'mine')")
        try await device.engine.sync()
        #expect(await collection.rows["c"]?["title"] == "mine")
        #expect(try await device.leftovers() == [])
    }

    @Test("A batch whose response cannot be read may have been applied")
    func garbled() async throws {
        await collection.set("a", ["title": "t"])
        let device = try device()
        try await device.engine.sync()
        try await device.write("UPDATE Task SET title = 'mine'")
        await collection.garble(true)
        // The response is readable again when the row is fetched.
        _ = try? await device.engine.push()
        await collection.garble(false)
        try await device.write("UPDATE Task SET title = 'later'")
        try await device.engine.push()
        #expect(await collection.rows["a"]?["title"] == "later")
        #expect(try await device.engine.conflicts().isEmpty)
        #expect(try await device.leftovers() == [])
    }
}
