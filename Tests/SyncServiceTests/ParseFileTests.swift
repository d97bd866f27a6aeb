import Foundation
import GRDB
import HTTPTypes
import Sync
import SyncTesting
import Testing

@testable import SyncService

/// Files of rows, with the stub of Parse in `Tests/Servers/REST`.
@Suite("Files with a stub of Parse", .enabled(if: RESTServer.isThere, "make services builds the server"))
struct ParseFileTests {
    private static let schema = """
        {"entities": {"Task": {"attributes": {"id": {"type": "string", "primaryKey": true}, "title": "string",
          "picture": "string", "points": "integer"}}}}
        """
    private let folder = FileManager.default.temporaryDirectory.appendingPathComponent("files-\(UUID().uuidString)")

    private func space(_ more: [JSONValue.Member] = []) async throws -> RESTSpace {
        try await RESTServer.shared.space(.object([.init("dialect", "parse"), .init("applicationID", "app")] + more))
    }

    private func service(_ space: RESTSpace, _ transport: any HTTPTransport) -> ParseService {
        var options = ParseOptions(applicationID: "app")
        options.overlap = .zero
        return ParseService(baseURL: space.url, options: options, transport: transport)
    }

    private func configuration(_ name: String) -> SyncEngine.Configuration {
        var configuration = Device.configuration
        configuration.maxAttempts = 3
        configuration.inDoubtTimeout = .zero
        configuration.deletionLimit = nil
        configuration.fileStore = FileStore(folder: folder.appendingPathComponent(name))
        return configuration
    }

    private func device(
        _ space: RESTSpace, _ name: String, _ transport: any HTTPTransport = DefaultTransport()
    ) throws -> Device {
        try Device(service(space, transport), schema: Self.schema, entities: ["Task"], configuration(name))
    }

    private func key(_ device: Device, _ title: String) async throws -> JSONValue {
        .string(try #require(try await device.rows("SELECT id FROM Task WHERE title = '\(title)'").first))
    }

    private func attach(
        _ text: String, named name: String = "Müllers Katze.txt", _ device: Device, _ key: JSONValue
    ) async throws {
        try await device.engine.attachFile(
            Data(text.utf8), named: name, type: "text/plain", to: "Task", key: key, attribute: "picture")
    }

    /// Returns the contents of a task's file.
    private func text(_ device: Device, _ key: JSONValue) async throws -> String? {
        try await device.engine.fileURL(of: "Task", key: key, attribute: "picture").map {
            String(decoding: try Data(contentsOf: $0), as: UTF8.self)
        }
    }

    private func pictures(_ space: RESTSpace) async throws -> [JSONValue] {
        try await space.rows("Task").compactMap { $0["picture"] }
    }

    private func uploads(_ space: RESTSpace) async throws -> Int {
        try await space.log().filter { $0.hasPrefix("POST /files/") }.count
    }

    @Test("Files with Parse are sent with new rows, replaced, removed, and downloaded once by other devices")
    func wholeLifecycle() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let (space, network) = (try await space(), FailingNetwork())
        let (one, two) = (try device(space, "one"), try device(space, "two", network))
        let local = try await one.stack.insert("Task", values: ["title": "t"]).key.json
        try await attach("one", one, local)
        #expect(try await text(one, local) == "one")
        try await one.engine.sync()
        #expect(try await one.engine.pendingFiles().isEmpty)
        let key = try await key(one, "t")
        let stored = try #require(try await pictures(space).first)
        #expect(stored["__type"] == "File")
        guard case .string(let name)? = stored["name"] else { throw ServerFailure(text: "no name: \(stored)") }
        #expect(name.hasSuffix("-M_llers Katze.txt"), "\(name)")
        // The row stores the URL.
        let address = try #require(try await one.rows("SELECT picture FROM Task").first)
        #expect(address.hasPrefix("\(space.url.absoluteString)/files/app/"), "\(address)")
        #expect(try await one.engine.sync().isEmpty)
        #expect(try await one.leftovers() == [])
        #expect(try await uploads(space) == 1)
        // Another device downloads the file only when it is requested.
        try await two.engine.sync()
        #expect(await network.downloads == 0)
        for _ in 1...3 { #expect(try await text(two, key) == "one") }
        #expect(await network.downloads == 1)
        // A new file replaces the old one, and the old one is not returned for it.
        try await attach("two", two, key)
        #expect(try await text(two, key) == "two")
        try await two.engine.sync()
        try await one.engine.sync()
        #expect(try await text(two, key) == "two")
        #expect(await network.downloads == 1)
        #expect(try await text(one, key) == "two")
        #expect(try await uploads(space) == 2)
        // A change of another field leaves the file alone.
        try await two.write("UPDATE Task SET points = 1")
        try await two.engine.sync()
        try await one.engine.sync()
        #expect(try await text(one, key) == "two")
        #expect(try await one.rows("SELECT points FROM Task") == ["1"])
        // Null removes the file.
        try await one.write("UPDATE Task SET picture = NULL")
        try await one.engine.sync()
        try await two.engine.sync()
        #expect(try await pictures(space) == [])
        #expect(try await text(one, key) == nil)
        #expect(try await text(two, key) == nil)
    }

    @Test(
        "A file is attached once with Parse, even if requests are lost and the process ends",
        arguments: LosingFiles.Loss.allCases)
    func lost(_ loss: LosingFiles.Loss) async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let (space, network) = (try await space(), LosingFiles())
        let device = try device(space, "one", network)
        let local = try await device.stack.insert("Task", values: ["title": "t"]).key.json
        try await attach("one", device, local)
        await network.lose(loss)
        try await device.engine.push()
        #expect(try await device.engine.pendingFiles().map(\.reason) == [nil])
        let before = try await pictures(space)
        #expect(before.count == (loss == .namingAnswer ? 1 : 0))
        await network.lose(nil)
        // Another engine on the same database and folder, as in another process.
        let again = try Device(device.stack, service(space, network), entities: ["Task"], configuration("one"))
        try await again.engine.push()
        #expect(try await again.engine.pendingFiles().isEmpty)
        // A file whose row references it is not sent again. Otherwise the file is sent again, and the first copy stays
        // unreferenced on the server.
        let sent = [.namingAnswer: 1, .upload: 1][loss] ?? 2
        #expect(try await uploads(space) == sent)
        let after = try await pictures(space)
        #expect(after.count == 1)
        if loss == .namingAnswer { #expect(after == before) }
        #expect(try await text(again, key(again, "t")) == "one")
        #expect(try await again.engine.sync().isEmpty)
        #expect(try await again.leftovers() == [])
    }

    @Test("Rejected files with Parse are blocked without their rows, and another file replaces them")
    func refused() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let space = try await space([.init("fileSize", 100)])
        let device = try device(space, "one")
        for (title, text) in [("big", String(repeating: "x", count: 101)), ("empty", ""), ("small", "x")] {
            let key = try await device.stack.insert("Task", values: ["title": .string(title)]).key.json
            try await attach(text, device, key)
        }
        let report = try await device.engine.sync()
        #expect(report.total.pushedInserts == 3 && report.total.blockedChanges == 2)
        #expect(
            try await device.engine.pendingFiles().map(\.reason) == [
                "the service rejected the file as too large (HTTP 413)", "error 130: Invalid file upload.",
            ])
        #expect(try await pictures(space).count == 1)
        try await attach("fits", device, key(device, "big"))
        try await device.engine.sync()
        #expect(try await device.engine.pendingFiles().count == 1)
        #expect(try await text(device, key(device, "big")) == "fits")
        #expect(try await pictures(space).count == 2)
    }

    @Test("A file for a field that cannot hold one is rejected by Parse")
    func otherField() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let space = try await space()
        let schema = """
            {"entities": {"Task": {"attributes": {"id": {"type": "string", "primaryKey": true}, "title": "string",
              "part": {"type": "string", "remoteKey": "extra.part"}, "photo": {"type": "string", "remoteKey": "image.url"}}}}}
            """
        let device = try Device(
            service(space, DefaultTransport()), schema: schema, entities: ["Task"], configuration("one"))
        try await device.stack.insert("Task", values: ["title": "t"])
        try await device.engine.sync()
        let key = try await key(device, "t")
        for attribute in ["title", "part", "photo"] {
            try await device.engine.attachFile(
                Data("x".utf8), named: "\(attribute).txt", to: "Task", key: key, attribute: attribute)
        }
        try await device.engine.sync()
        let waiting = try await device.engine.pendingFiles()
        #expect(waiting.map(\.attribute) == ["title", "part"])
        #expect(waiting.first?.reason?.contains("error 111: schema mismatch") == true, "\(waiting)")
        #expect(waiting.last?.reason == "'extra.part' is a member of an object and cannot store a file")
        // A File is an object with a name and a URL.
        #expect(try await space.rows("Task").first?["image"]?["__type"] == "File")
        #expect(try await device.rows("SELECT photo LIKE '%-photo.txt', title FROM Task") == ["1 t"])
    }

    @Test("Files of deleted rows are not sent to Parse and do not hold back other changes")
    func deleted() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let space = try await space()
        let (one, two) = (try device(space, "one"), try device(space, "two"))
        for title in ["here", "there", "stays"] {
            let key = try await one.stack.insert("Task", values: ["title": .string(title)]).key.json
            if title == "here" { try await attach("h", one, key) }
        }
        try await one.write("DELETE FROM Task WHERE title = 'here'")
        try await one.engine.sync()
        try await attach("t", one, key(one, "there"))
        try await attach("s", one, key(one, "stays"))
        try await two.engine.sync()
        try await two.write("DELETE FROM Task WHERE title = 'there'")
        try await two.engine.sync()
        try await one.engine.sync()
        #expect(try await one.engine.pendingFiles().isEmpty)
        #expect(try await one.rows("SELECT count(*) FROM sync_file") == ["0"])
        #expect(try await pictures(space).count == 1)
        #expect(try await one.rows("SELECT title FROM Task") == ["stays"])
        #expect(try await uploads(space) == 1)
    }

    @Test("Long file names keep their extension with Parse")
    func longName() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let space = try await space()
        let device = try device(space, "one")
        let key = try await device.stack.insert("Task", values: ["title": "t"]).key.json
        try await attach("x", named: String(repeating: "long/", count: 60) + ".txt", device, key)
        try await device.engine.sync()
        #expect(try await device.engine.pendingFiles().isEmpty)
        let name = try await pictures(space).first?["name"]
        guard case .string(let name)? = name else { throw ServerFailure(text: "no file: \(name ?? .null)") }
        #expect(name.contains("long_long_long") && name.hasSuffix(".txt"), "\(name)")
        #expect(name.count == 33 + 128)
    }

    @Test("Files are downloaded only from the Parse server itself")
    func origin() async throws {
        let service = service(try await space(), DefaultTransport())
        for address in ["http://127.0.0.1:1/files/app/x.png", "https://files.example.com/x.png"] {
            let reference = try service.reference(to: address, of: "Task", id: "x")
            await #expect(throws: FileError.elsewhere(address)) { try await service.download(reference) }
        }
        let missing = try service.reference(to: "not there.png", of: "Task", id: "x")
        await #expect(throws: FileError.missing(missing.path)) { try await service.download(missing) }
    }

    @Test(
        "The original name of a file is found in its Parse name or URL",
        arguments: [
            ("http://h/parse/files/app/0123456789abcdef0123456789abcdef_a1-cat.png", "a1-cat.png"),
            ("0123456789abcdef0123456789abcdef_a1-my%20cat_2.png?x=1", "a1-my cat_2.png"),
            ("https://h/files/app/a1-my_cat.png", "a1-my_cat.png"), ("a1-cat.png", "a1-cat.png"), ("", ""),
        ])
    func names(_ held: String, _ sent: String) throws {
        let url = try #require(URL(string: "http://127.0.0.1:1"))
        let service = ParseService(baseURL: url, options: ParseOptions(applicationID: "app"))
        #expect(service.sentName(of: held) == sent)
    }
}

/// A network that loses the requests that upload a file or store its name in the row, or their answers.
actor LosingFiles: HTTPTransport {
    enum Loss: CaseIterable { case upload, uploadAnswer, naming, namingAnswer }
    private struct Lost: Error {}

    private let transport = DefaultTransport()
    private var loss: Loss?

    func lose(_ loss: Loss?) { self.loss = loss }

    func send(_ request: HTTPRequest, body: Data?) async throws -> (HTTPResponse, Data) {
        let isUpload = request.method == .post && request.path?.contains("/files/") == true
        let isNaming = request.method == .put && String(decoding: body ?? Data(), as: UTF8.self).contains("File")
        if isUpload && loss == .upload || isNaming && loss == .naming { throw Lost() }
        let answer = try await transport.send(request, body: body)
        if isUpload && loss == .uploadAnswer || isNaming && loss == .namingAnswer { throw Lost() }
        return answer
    }
}
