import Foundation
import GRDB
import Sync
import Testing

@testable import SyncService

/// The folder of files, with a service that records its downloads.
@Suite("A folder of files")
struct FileStoreTests {
    private let folder = FileManager.default.temporaryDirectory.appendingPathComponent("files-\(UUID().uuidString)")

    private func reference(_ name: String) throws -> URL {
        try #require(URL(string: "https://example.com/files/\(name)"))
    }

    @Test(
        "The name of a file is the SHA-256 of its bytes",
        arguments: [
            ("", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
            ("abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
            (
                "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
                "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"
            ),
            (
                String(repeating: "a", count: 1000),
                "41edece42d63e8d9bf515a9ba6932e1c20cbc9f5a5d134645adb5db1b9737ea3"
            ),
        ])
    func hash(_ text: String, _ hash: String) {
        #expect(SHA256.text(Data(text.utf8)) == hash)
    }

    @Test(
        "A text that is not a hash never leads to a file",
        arguments: ["../secret", "../../secret", "/etc/hostname", "", ".", "a/b", String(repeating: "A", count: 64)])
    func noHash(_ text: String) async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let store = FileStore(folder: folder)
        let hash = try await store.storePending(Data("mine".utf8))
        try Data("secret".utf8).write(to: folder.appendingPathComponent("secret"))
        try Data("secret".utf8).write(to: folder.appendingPathComponent("waiting/" + String(repeating: "A", count: 64)))
        #expect(await store.pendingFile(text) == nil)
        #expect(await store.pendingFile(hash) != nil)
        // The same applies to the hash in the entry of a download.
        let cat = try reference("cat")
        _ = try await store.file(cat, from: FilesOnly())
        let notes = folder.appendingPathComponent("references")
        for note in try FileManager.default.contentsOfDirectory(atPath: notes.path) {
            try Data(text.utf8).write(to: notes.appendingPathComponent(note))
        }
        #expect(try await store.cached(cat) == nil)
    }

    @Test("Concurrent requests for a file download it once, and it stays cached")
    func downloadsOnce() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let service = FilesOnly()
        let store = FileStore(folder: folder)
        let cat = try reference("cat")
        let urls = try await withThrowingTaskGroup(of: URL.self) { group in
            for _ in 0..<8 { group.addTask { try await store.file(cat, from: service) } }
            return try await group.reduce(into: Set<URL>()) { $0.insert($1) }
        }
        #expect(urls.count == 1)
        #expect(await service.asked == ["/files/cat"])
        // A later process finds it as well.
        let later = FileStore(folder: folder)
        let url = try await later.file(cat, from: service)
        #expect(try Data(contentsOf: url) == Data("bytes of /files/cat".utf8))
        #expect(url.lastPathComponent == SHA256.text(try Data(contentsOf: url)))
        #expect(await service.asked.count == 1)
        // A failed download is tried again.
        await service.fail(true)
        let dog = try reference("dog")
        await #expect(throws: FileError.missing("/files/dog")) { try await later.file(dog, from: service) }
        await service.fail(false)
        _ = try await later.file(dog, from: service)
        #expect(await service.asked.count == 3)
    }

    @Test("Above its limit, the folder deletes the least recently used files")
    func limit() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let service = FilesOnly()
        let clock = Ticks()
        // Each file has 17 bytes, "bytes of /files/1".
        let store = FileStore(folder: folder, limit: 40, now: { clock.next() })
        let (one, two, three) = (try reference("1"), try reference("2"), try reference("3"))
        let waiting = try await store.storePending(Data(repeating: 1, count: 1000))
        _ = try await store.file(one, from: service)
        _ = try await store.file(two, from: service)
        _ = try await store.file(one, from: service)
        _ = try await store.file(three, from: service)
        #expect(try await store.cached(two) == nil)
        #expect(try await store.cached(one) != nil)
        #expect(try await store.cached(three) != nil)
        #expect(await store.pendingFile(waiting) != nil)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path + "/references").count == 2)
        // A file above the limit is stored alone.
        await service.setSize(100)
        let big = try reference("big")
        _ = try await store.file(big, from: service)
        #expect(try await store.cached(big) != nil)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path + "/contents").count == 1)
    }

    @Test("A run keeps the pending files of another engine of the database")
    func twoEngines() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        var configuration = Device.configuration
        // Every file is old enough to be removed.
        let store = FileStore(folder: folder, limit: 1000, now: { .distantFuture })
        configuration.fileStore = store
        let stack = try DataStack.inMemory(SyncModel(schemaData: Data(Device.schema.utf8)))
        try await stack.write { db in try db.execute(sql: "INSERT INTO Task (remoteID, title) VALUES (1, 't')") }
        let (tasks, projects) = (
            try Device(stack, FilesOnly(), entities: ["Task"], configuration),
            try Device(stack, FilesOnly(), entities: ["Project"], configuration)
        )
        try await tasks.engine.attachFile(
            Data("bytes".utf8), named: "cat.txt", to: "Task", key: 1, attribute: "title")
        let unused = try await store.storePending(Data("unused".utf8))
        try await projects.engine.push()
        #expect(await store.pendingFile(SHA256.text(Data("bytes".utf8))) != nil)
        #expect(await store.pendingFile(unused) == nil)
    }

    @Test("A folder that cannot be written is an error that says so")
    func unusableFolder() async throws {
        try Data().write(to: folder)
        defer { try? FileManager.default.removeItem(at: folder) }
        let error = await #expect(throws: FileError.self) {
            try await FileStore(folder: folder).file(reference("1"), from: FilesOnly())
        }
        #expect(error?.description.contains("cannot use the folder of the FileStore") == true)
    }
}

/// Times one minute apart.
private final class Ticks: @unchecked Sendable {
    private let lock = NSLock()
    private var time = Date(timeIntervalSince1970: 1_700_000_000)

    func next() -> Date {
        lock.withLock {
            time += 60
            return time
        }
    }
}

/// A service that only has files.
private actor FilesOnly: FileService {
    nonisolated let capabilities = ServiceCapabilities(
        idAssignment: .client, deletionDetection: .listing, createIdempotency: .clientID, supportsPreconditions: false,
        providesModificationTimes: false)
    nonisolated let identity = "files"
    private(set) var asked: [String] = []
    private var fails = false
    private var size: Int?

    func fail(_ fails: Bool) { self.fails = fails }
    func setSize(_ size: Int) { self.size = size }

    nonisolated func reference(to name: String, of entity: String, id: JSONValue) throws -> URL {
        throw FileError.missing(name)
    }

    func download(_ reference: URL) async throws -> Data {
        asked.append(reference.path)
        if fails { throw FileError.missing(reference.path) }
        // All requests arrive during the download.
        for _ in 0..<100 { await Task.yield() }
        return size.map { Data(repeating: 7, count: $0) } ?? Data("bytes of \(reference.path)".utf8)
    }

    func upload(
        _ data: Data, named name: String, type: String, to entity: String, id: JSONValue, path: [String]
    ) async throws -> PushOutcome { .notFound }
    func pull(_ request: PullRequest) async throws -> PullPage { PullPage(records: []) }
    func push(_ operations: [PushOperation]) async throws -> [PushOutcome] { [] }
    func fetch(_ ids: [JSONValue], of entity: String) async throws -> [FetchOutcome] { [] }
}
