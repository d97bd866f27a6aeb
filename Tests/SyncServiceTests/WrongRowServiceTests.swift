import Foundation
import HTTPTypes
import Sync
import Testing

@testable import SyncService

/// Answers of real servers with the ID of another row, as a cache may give them.
@Suite("Answers of servers with another row")
struct WrongRowServiceTests {
    /// A network that replaces the IDs in some answers to changes with that of another row.
    private actor MisnamingNetwork: HTTPTransport {
        private let inner = DefaultTransport()
        /// The member with the ID.
        private let member: String
        private var other: JSONValue?
        private var answersLeft = 0
        /// The number of changed answers.
        private(set) var misnamed = 0

        init(member: String) { self.member = member }

        func misname(_ answers: Int, as other: JSONValue) { (answersLeft, self.other) = (answers, other) }

        func send(_ request: HTTPRequest, body: Data?) async throws -> (HTTPResponse, Data) {
            let (response, data) = try await inner.send(request, body: body)
            guard answersLeft > 0, request.method != .get, response.status.kind == .successful, let other,
                let answer = try? JSONValue(parsing: data)
            else { return (response, data) }
            let changed = Self.replacing(member, with: other, in: answer)
            guard changed != answer else { return (response, data) }
            (answersLeft, misnamed) = (answersLeft - 1, misnamed + 1)
            return (response, Data(CanonicalJSON.bytes(changed)))
        }

        private static func replacing(_ name: String, with value: JSONValue, in json: JSONValue) -> JSONValue {
            switch json {
            case .array(let elements): .array(elements.map { replacing(name, with: value, in: $0) })
            case .object(let members):
                .object(
                    members.map { member in
                        .init(member.key, member.key == name ? value : replacing(name, with: value, in: member.value))
                    })
            default: json
            }
        }
    }

    /// Updates, deletes and inserts rows while answers to changes have another row, and compares both sides.
    private func play(
        _ device: Device, _ network: MisnamingNetwork, misnamed: Int, titles: () async throws -> [String]
    ) async throws {
        for title in ["edited", "deleted", "other"] {
            try await device.stack.insert("Task", values: ["title": .string(title)])
        }
        try await device.engine.sync()
        let other = try #require(try await device.rows("SELECT remoteID FROM Task WHERE title = 'other'").first)
        await network.misname(misnamed, as: .string(other))
        try await device.write("UPDATE Task SET title = 'edit' WHERE title = 'edited'")
        try await device.write("DELETE FROM Task WHERE title = 'deleted'")
        try await device.stack.insert("Task", values: ["title": "new"])
        for _ in 0..<3 { try await device.engine.sync() }
        #expect(await network.misnamed > 0)
        #expect(try await titles().sorted() == ["edit", "new", "other"])
        #expect(try await device.rows("SELECT title FROM Task ORDER BY title") == ["edit", "new", "other"])
        #expect(try await device.rows("SELECT remoteID FROM Task WHERE title = 'other'") == [other])
        #expect(try await device.leftovers() == [])
    }

    @Test(
        "Answers of Kinto with the ID of another row change no other row",
        .enabled("Kinto comes from PyPI, which cannot be reached") { await KintoServer.isThere },
        arguments: [1, 2])
    func kinto(_ misnamed: Int) async throws {
        let user = "Basic \(Data("\(UUID().uuidString):secret".utf8).base64EncodedString())"
        let network = MisnamingNetwork(member: "id")
        let service = try await KintoServer.shared.service(authorization: user, transport: network)
        let direct = try await KintoServer.shared.service(authorization: user)
        try await play(Device(service, schema: PocketBaseSpace.schema), network, misnamed: misnamed) {
            try await direct.pull(PullRequest(entity: "Task", cursor: nil)).records.compactMap {
                $0.record.map { title(of: $0) }
            }
        }
    }

    @Test(
        "Answers of PocketBase with the ID of another row change no other row",
        .enabled("PocketBase comes from PyPI, which cannot be reached") { await PocketBaseServer.isThere },
        arguments: [1, 2], [1, 50])
    func pocketBase(_ misnamed: Int, _ batchSize: Int) async throws {
        let space = try await PocketBaseServer.shared.space()
        let network = MisnamingNetwork(member: "id")
        let service = space.service(batchSize: batchSize, transport: network)
        try await play(Device(service, schema: PocketBaseSpace.schema), network, misnamed: misnamed) {
            try await space.rows(space.tasks).map { title(of: $0) }
        }
    }

    @Test(
        "Answers of a stub of Parse with the ID of another row change no other row",
        .enabled(if: RESTServer.isThere, "make services builds the server"), arguments: [1, 2],
        [false, true])
    func parse(_ misnamed: Int, _ marked: Bool) async throws {
        let space = try await RESTServer.shared.space([
            "dialect": "parse", "applicationID": "app", "idempotency": "on",
        ])
        let network = MisnamingNetwork(member: "objectId")
        var options = ParseOptions(applicationID: "app")
        options.overlap = .zero
        if marked { options.markerField = "syncKey" }
        let service = ParseService(baseURL: space.url, options: options, transport: network)
        var headers: HTTPFields = [:]
        headers[try #require(HTTPField.Name("X-Parse-Application-Id"))] = "app"
        try await play(Device(service, schema: PocketBaseSpace.schema), network, misnamed: misnamed) {
            let answer = try await space.get("classes/Task", [], headers: headers)
            guard case .array(let rows)? = answer["results"] else { return [] }
            return rows.map { title(of: $0) }
        }
    }

    private func title(of record: JSONValue) -> String {
        if case .string(let title)? = record["title"] { title } else { "" }
    }
}
