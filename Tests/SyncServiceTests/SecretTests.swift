import Foundation
import HTTPTypes
import Sync
import Testing

@testable import SyncService

/// Secrets in responses of a service.
@Suite("Secrets in responses")
struct SecretTests {
    /// A service that answers with the given response.
    private struct Echo: HTTPTransport {
        let status: Int
        let headers: HTTPFields
        let body: String
        var writes = true

        func send(_ request: HTTPRequest, body sent: Data?) async throws -> (HTTPResponse, Data) {
            if writes, request.method == .get { return (HTTPResponse(status: .ok), Data("[]".utf8)) }
            return (HTTPResponse(status: .init(code: status), headerFields: headers), Data(body.utf8))
        }
    }

    private static let secret = "hush-Token+4711/x"

    private func service(
        _ status: Int, _ body: String, _ headers: HTTPFields = [:], _ credential: String = "Bearer \(secret)",
        configured: [HTTPField.Name: String] = [:], writes: Bool = true
    ) throws -> RESTService {
        var options = RESTOptions()
        options.paging = .next("next", size: nil, limit: 10)
        options.recordsKeyPath = "data"
        return RESTService(
            baseURL: try #require(URL(string: "https://service.example/v1")), options: options, headers: configured,
            credentials: .authorization(credential),
            transport: Echo(status: status, headers: headers, body: body, writes: writes))
    }

    /// Returns the message of the error that ends a sync.
    private func message(_ service: RESTService) async throws -> String {
        var configuration = Device.impatient
        configuration.retryTimeout = .zero
        let device = try Device(service, entities: ["Task"], configuration)
        let error = await #expect(throws: SyncError.self) { try await device.engine.sync() }
        return error?.description ?? ""
    }

    @Test(
        "No error of a pull shows a secret, wherever the response contains it",
        arguments: [
            (401, #"{"message": "no such token: SECRET"}"#), (403, #"{"error": "Bearer SECRET is not allowed"}"#),
            (400, "SECRET"), (500, String(repeating: "x", count: 195) + "SECRET"), (200, "<p>SECRET</p>"),
            (200, String(repeating: "y", count: 50) + "SECRET"), (400, #"{"detail": "ENCODED and LOUD"}"#),
            (200, #"{"data": [], "next": "https://elsewhere.example/?token=SECRET"}"#),
            (200, #"{"data": [{"id": 1}], "next": "https://service.example/v1/tasks?token=SECRET"}"#),
        ])
    func pull(_ status: Int, _ body: String) async throws {
        let body = body.replacingOccurrences(of: "SECRET", with: Self.secret)
            .replacingOccurrences(of: "ENCODED", with: Self.secret.escapedForURL)
            .replacingOccurrences(of: "LOUD", with: Self.secret.uppercased())
        let message = try await message(service(status, body, writes: false))
        #expect(!message.isEmpty)
        // The beginning of the secret is hidden too.
        #expect(!message.lowercased().contains("hush"), "\(message)")
    }

    @Test("No error shows a secret in the address of a redirect")
    func redirect() async throws {
        let message = try await message(
            service(302, "", [.location: "https://login.example/?back=\(Self.secret)"], writes: false))
        #expect(message.contains("redirected to https://login.example/?back=***"), "\(message)")
    }

    @Test(
        "Passwords and configured keys are secrets, and other headers are not",
        arguments: [
            ("Basic \(Data("me:hush-pass".utf8).base64EncodedString())", "X-Key", "abcd"),
            ("Bearer other", "X-Api-Key", "hush-key"), ("Bearer other", "Cookie", "session=hush-key; lang=en"),
        ])
    func others(_ credential: String, _ name: String, _ value: String) async throws {
        let configured = [
            try #require(HTTPField.Name(name)): value, try #require(HTTPField.Name("X-Client")): "laptop",
        ]
        let message = try await message(
            service(
                400,
                #"{"message": "hush-pass, hush-key of laptop"}"#.replacingOccurrences(
                    of: credential.hasPrefix("Basic") ? ", hush-key" : "hush-pass, ", with: ""),
                [:], credential, configured: configured, writes: false))
        #expect(message.contains("*** of laptop"), "\(message)")
    }

    @Test("The reason of a rejected change hides the secret", arguments: [422, 409, 400])
    func rejectedChange(_ status: Int) async throws {
        var options = RESTOptions()
        options.idempotencyHeader = "Idempotency-Key"
        let service = RESTService(
            baseURL: try #require(URL(string: "https://service.example/v1")), options: options,
            credentials: .authorization("Bearer \(Self.secret)"),
            transport: Echo(status: status, headers: [:], body: #"{"message": "\#(Self.secret) may not"}"#))
        let device = try Device(service, entities: ["Task"])
        try await device.stack.insert("Task", values: ["title": "mine"])
        try await device.engine.sync()
        #expect(try await device.engine.blockedChanges().map(\.reason) == ["status \(status): *** may not"])
    }

    @Test("If an answer has another row whose ID is a secret, the reason of the blocked change hides it")
    func otherRow() async throws {
        let schema = """
            {"entities": {"Task": {"attributes": {"id": {"type": "string", "primaryKey": true}, "title": "string"}}}}
            """
        var options = RESTOptions()
        options.versionField = "version"
        let service = RESTService(
            baseURL: try #require(URL(string: "https://service.example/v1")), options: options,
            credentials: .authorization("Bearer \(Self.secret)"),
            transport: Served { request, _ in
                let row: JSONValue = ["id": "a", "title": "theirs", "version": 1]
                if request.method == .patch {
                    return (200, [:], ["id": .string(Self.secret), "title": "theirs", "version": 1])
                }
                return (200, [:], request.path?.hasSuffix("/tasks") == true ? [row] : row)
            })
        let device = try Device(service, schema: schema, entities: ["Task"])
        try await device.engine.sync()
        try await device.write("UPDATE Task SET title = 'mine'")
        try await device.engine.sync()
        let reasons = try await device.engine.blockedChanges().map(\.reason)
        #expect(
            reasons.count == 1 && reasons.allSatisfy { $0.contains("a row other than") && $0.contains("***") },
            "\(reasons)")
        #expect(!reasons.joined().lowercased().contains("hush"))
    }
}
