import Foundation
import GRDB
import HTTPTypes
import Sync
import SyncTesting
import Testing

@testable import SyncService

/// Files of rows, with a real PocketBase server.
@Suite(
    "Files with PocketBase",
    .enabled("PocketBase comes from PyPI, which cannot be reached") { await PocketBaseServer.isThere })
struct PocketBaseFileTests {
    private static let schema = """
        {"entities": {"Task": {"attributes": {"id": {"type": "string", "primaryKey": true}, "title": "string",
          "picture": "string", "owner": "string"}}}}
        """
    private let folder = FileManager.default.temporaryDirectory.appendingPathComponent("files-\(UUID().uuidString)")

    private func device(
        _ space: PocketBaseSpace, _ name: String, authorization: String? = nil,
        transport: any HTTPTransport = DefaultTransport()
    ) throws -> Device {
        var configuration = Device.configuration
        configuration.maxAttempts = 3
        configuration.deletionLimit = nil
        configuration.fileStore = FileStore(folder: folder.appendingPathComponent(name))
        return try Device(
            space.service(authorization: authorization, transport: transport), schema: Self.schema, entities: ["Task"],
            configuration)
    }

    private func key(_ device: Device, _ title: String) async throws -> JSONValue {
        .string(try #require(try await device.rows("SELECT id FROM Task WHERE title = '\(title)'").first))
    }

    private func attach(_ text: String, _ device: Device, _ key: JSONValue) async throws {
        try await device.engine.attachFile(
            Data(text.utf8), named: "Cat.txt", type: "text/plain", to: "Task", key: key, attribute: "picture")
    }

    /// Returns the contents of a task's file.
    private func text(_ device: Device, _ key: JSONValue) async throws -> String? {
        try await device.engine.fileURL(of: "Task", key: key, attribute: "picture").map {
            String(decoding: try Data(contentsOf: $0), as: UTF8.self)
        }
    }

    private func names(_ space: PocketBaseSpace) async throws -> [JSONValue] {
        try await space.rows(space.tasks).compactMap { $0["picture"] }
    }

    @Test("Files with PocketBase are sent with new rows, replaced, removed, and downloaded once by other devices")
    func wholeLifecycle() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let space = try await PocketBaseServer.shared.space()
        let (one, network) = (try device(space, "one"), FailingNetwork())
        let two = try device(space, "two", transport: network)
        let local = try await one.stack.insert("Task", values: ["title": "t"]).key.json
        try await attach("one", one, local)
        #expect(try await text(one, local) == "one")
        #expect(try await one.engine.pendingFiles().map(\.name) == ["Cat.txt"])
        try await one.engine.sync()
        #expect(try await one.engine.pendingFiles().isEmpty)
        let key = try await key(one, "t")
        let name = try await one.rows("SELECT picture FROM Task")
        #expect(name.first?.hasSuffix(".txt") == true && name.first?.contains("cat") == true, "\(name)")
        #expect(try await one.engine.sync().isEmpty)
        #expect(try await one.leftovers() == [])
        // Another device downloads the file only when it is requested.
        try await two.engine.sync()
        #expect(await network.downloads == 0)
        #expect(try await text(two, key) == "one")
        #expect(try await text(two, key) == "one")
        #expect(await network.downloads == 1)
        // A new file replaces the old one, and the old one is not returned for it.
        try await attach("two", two, key)
        #expect(try await text(two, key) == "two")
        try await two.engine.sync()
        try await one.engine.sync()
        #expect(try await text(two, key) == "two")
        #expect(await network.downloads == 1)
        #expect(try await text(one, key) == "two")
        // Null removes the file.
        try await one.write("UPDATE Task SET picture = NULL")
        try await one.engine.sync()
        #expect(try await names(space) == [""])
        #expect(try await text(one, key) == nil)
    }

    @Test(
        "A file is sent to PocketBase once, even if the answer is lost and the process ends", arguments: [true, false])
    func lost(_ isDone: Bool) async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let space = try await PocketBaseServer.shared.space()
        let network = LosingUploads()
        let device = try device(space, "one", transport: network)
        let local = try await device.stack.insert("Task", values: ["title": "t"]).key.json
        try await attach("one", device, local)
        await network.lose(isDone ? .answer : .request)
        try await device.engine.push()
        #expect(try await device.engine.pendingFiles().map(\.reason) == [nil])
        let name = try await names(space)
        #expect((name != [""]) == isDone)
        await network.lose(.none)
        // Another engine on the same database and folder, as in another process.
        var configuration = Device.configuration
        configuration.fileStore = FileStore(folder: folder.appendingPathComponent("one"))
        let again = try Device(device.stack, space.service(transport: network), entities: ["Task"], configuration)
        try await again.engine.push()
        #expect(try await again.engine.pendingFiles().isEmpty)
        #expect(await network.uploads == (isDone ? 1 : 2))
        let names = try await names(space)
        if isDone { #expect(names == name) }
        #expect(try await again.rows("SELECT picture FROM Task").map { JSONValue.string($0) } == names)
        #expect(try await text(again, key(again, "t")) == "one")
    }

    @Test("Rejected files with PocketBase are blocked without their rows, and another file replaces them")
    func refused() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let space = try await PocketBaseServer.shared.space()
        let device = try device(space, "one")
        for title in ["big", "small"] {
            let key = try await device.stack.insert("Task", values: ["title": .string(title)]).key.json
            // The field accepts a million bytes.
            try await attach(String(repeating: "x", count: title == "big" ? 1_000_001 : 10), device, key)
        }
        let report = try await device.engine.sync()
        #expect(report.total.pushedInserts == 2 && report.total.blockedChanges == 1)
        let waiting = try await device.engine.pendingFiles()
        #expect(
            waiting.count == 1 && waiting.first?.reason?.contains("maximum allowed file size") == true, "\(waiting)")
        #expect(try await names(space).filter { $0 != "" }.count == 1)
        try await attach("fits", device, key(device, "big"))
        try await device.engine.sync()
        #expect(try await device.engine.pendingFiles().isEmpty)
        #expect(try await text(device, key(device, "big")) == "fits")
        #expect(try await names(space).filter { $0 != "" }.count == 2)
    }

    @Test("Files of deleted rows are not sent to PocketBase and do not hold back other changes")
    func deleted() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let space = try await PocketBaseServer.shared.space()
        let device = try device(space, "one")
        for title in ["here", "there", "stays"] {
            let key = try await device.stack.insert("Task", values: ["title": .string(title)]).key.json
            if title == "here" { try await attach("h", device, key) }
        }
        try await device.write("DELETE FROM Task WHERE title = 'here'")
        try await device.engine.sync()
        guard case .string(let there) = try await key(device, "there") else { return }
        try await attach("t", device, .string(there))
        try await attach("s", device, key(device, "stays"))
        try await space.remove(space.tasks, there)
        try await device.engine.sync()
        #expect(try await device.engine.pendingFiles().isEmpty)
        #expect(try await device.rows("SELECT count(*) FROM sync_file") == ["0"])
        #expect(try await names(space).filter { $0 != "" }.count == 1)
        #expect(try await device.rows("SELECT title FROM Task") == ["stays"])
    }

    @Test("Files are downloaded only from the PocketBase server itself, with a token if protected")
    func origin() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let own: JSONValue = "owner = @request.auth.id"
        let space = try await PocketBaseServer.shared.space(
            rules: ["listRule": own, "viewRule": own, "updateRule": own])
        let collection = try await space.send(.get, "collections/\(space.tasks)", nil)
        guard case .array(let fields)? = collection["fields"] else { return }
        try await space.changeCollection(
            .patch, "collections/\(space.tasks)",
            ["fields": .array(fields.map { $0["name"] == "picture" ? $0.setting(true, at: ["protected"]) : $0 })])
        let (ada, bob) = (try await space.user(), try await space.user())
        let device = try device(space, "one", authorization: ada.token)
        try await space.add(space.tasks, ["id": "aaaaaaaaaaaaaaa", "title": "t", "owner": .string(ada.id)])
        try await device.engine.sync()
        try await attach("secret", device, "aaaaaaaaaaaaaaa")
        try await device.engine.sync()
        let other = try self.device(space, "two", authorization: ada.token)
        try await other.engine.sync()
        #expect(try await text(other, "aaaaaaaaaaaaaaa") == "secret")
        let service = space.service(authorization: bob.token)
        guard case .string(let name)? = try await names(space).first else { return }
        let reference = try service.reference(to: name, of: "Task", id: "aaaaaaaaaaaaaaa")
        await #expect(throws: FileError.self) { try await service.download(reference) }
        let elsewhere = try #require(URL(string: "http://127.0.0.1:1/api/files/x/y/z"))
        await #expect(throws: FileError.elsewhere("http://127.0.0.1:1/api/files/x/y/z")) {
            try await service.download(elsewhere)
        }
    }

    @Test("Attaching a file needs a known attribute, a stored row and a folder")
    func wrongArguments() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let space = try await PocketBaseServer.shared.space()
        let device = try device(space, "one")
        try await device.stack.insert("Task", values: ["id": "aaaaaaaaaaaaaaa", "title": "t"])
        func code(_ device: Device, _ key: JSONValue, _ attribute: String) async -> SyncError.Code? {
            await #expect(throws: SyncError.self) {
                try await device.engine.attachFile(Data(), named: "x", to: "Task", key: key, attribute: attribute)
            }?.code
        }
        #expect(await code(device, "aaaaaaaaaaaaaaa", "pictur") == .unknownAttribute)
        #expect(await code(device, "bbbbbbbbbbbbbbb", "picture") == .rowNotFound)
        let bare = try Device(space.service(), schema: Self.schema, entities: ["Task"])
        #expect(await code(bare, "aaaaaaaaaaaaaaa", "picture") == .invalidOption)
    }
}

/// A network that loses requests with files, or their answers.
actor LosingUploads: HTTPTransport {
    enum Loss { case none, request, answer }
    private struct Lost: Error {}

    private let transport = DefaultTransport()
    private var loss = Loss.none
    private(set) var uploads = 0

    func lose(_ loss: Loss) { self.loss = loss }

    func send(_ request: HTTPRequest, body: Data?) async throws -> (HTTPResponse, Data) {
        guard request.headerFields[.contentType]?.hasPrefix("multipart/") == true else {
            return try await transport.send(request, body: body)
        }
        uploads += 1
        if loss == .request { throw Lost() }
        let answer = try await transport.send(request, body: body)
        if loss == .answer { throw Lost() }
        return answer
    }
}
