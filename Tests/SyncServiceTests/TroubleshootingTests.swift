import Foundation
import GRDB
import Sync
import SyncTesting
import Testing

/// Syncs the pages of a list as one snapshot.
func syncPages(_ pages: [Data], _ stack: DataStack) async throws -> SyncResult {
    let run = PagedImport()
    for page in pages {
        try await Sync.changes(page, inEntity: "Book", stack: stack, options: SyncOptions(payloadKind: .page(of: run)))
    }
    return try await run.finish()
}

/// Returns the rows of an ordered relationship.
func chapters(of book: SyncRow, _ stack: DataStack) async throws -> [SyncRow] {
    try await stack.fetchRelated("chapters", of: book)
}

/// Syncs a list, and returns its references to rows that are not stored.
func syncWithReferences(_ json: Data, _ stack: DataStack) async throws -> [String] {
    let result = try await Sync.changes(json, inEntity: "Book", stack: stack)
    return result.pendingReferences.map { "\($0)" }  // Book 1: author → 7
}

/// Syncs a list that may delete half of the rows, however few there are.
func syncHalf(_ json: Data, _ stack: DataStack) async throws -> SyncResult {
    try await Sync.changes(json, inEntity: "Book", stack: stack, options: SyncOptions(deletionLimit: .fraction(0.5)))
}

/// Frees the database for another user. Returns whether it did: false if there are unsent edits. `loop` is the task that
/// syncs at an interval.
func logOut(_ engine: SyncEngine, _ stack: DataStack, loop: Task<Void, any Error>) async throws -> Bool {
    loop.cancel()
    _ = await loop.result  // The state cannot be removed during a run.
    let pending = try await engine.pendingChangeCount()
    let blocked = try await engine.blockedChanges()
    guard pending == 0, blocked.isEmpty else { return false }  // Ask the user first.
    try await stack.removeSyncState(deletingRows: true)
    return true
}

/// Syncs for at most this time. Returns whether the run finished.
func refresh(_ engine: SyncEngine, within time: Duration) async -> Bool {
    await withTaskGroup(of: Bool.self) { group in
        group.addTask { (try? await engine.sync()) != nil }
        group.addTask {
            try? await Task.sleep(for: time)
            return false
        }
        let isFinished = await group.next() ?? false
        group.cancelAll()
        return isFinished
    }
}

/// Opens the database of an app group.
func openShared(_ folder: URL, _ model: SyncModel) throws -> DataStack {
    var configuration = Configuration()
    configuration.busyMode = .timeout(10)
    configuration.observesSuspensionNotifications = true
    let pool = try DatabasePool(path: folder.appendingPathComponent("app.sqlite").path, configuration: configuration)
    return try DataStack(model: model, in: pool)
}

/// An app with an entity that has the name of a type of Swift.
private enum Shadowed {
    struct Task { var id: Int }

    static func start(_ engine: SyncEngine) -> _Concurrency.Task<SyncReport, any Error> {
        _Concurrency.Task { try await engine.sync() }
    }
}

/// The code and the rules of `Docs/Troubleshooting.md`.
@Suite("Troubleshooting")
struct TroubleshootingTests {
    private static let schema = """
        {"entities": {
          "Author": {"attributes": {"id": "integer", "name": "string"},
            "relationships": {"books": {"entity": "Book", "many": true, "inverse": "author"}}},
          "Book": {"attributes": {"id": "integer", "title": "string"},
            "relationships": {
              "author": {"entity": "Author", "inverse": "books"},
              "chapters": {"entity": "Chapter", "many": true, "ordered": true, "inverse": "book"}}},
          "Chapter": {"attributes": {"id": "integer"}, "relationships": {"book": {"entity": "Book", "inverse": "chapters"}}},
          "Issue": {"primaryKey": ["repository", "number"],
            "attributes": {"repository": "string", "number": "integer", "title": "string"}}}}
        """
    private let stack: DataStack
    private let page: GuidePage

    init() throws {
        stack = try DataStack.inMemory(SyncModel(schemaData: Data(Self.schema.utf8)))
        page = try GuidePage("Troubleshooting.md")
    }

    @Test("The page shows code of this file, and messages of the library")
    func shown() throws {
        #expect(!page.fences.isEmpty)
        for fence in page.fences { #expect(try GuidePage.source(fence.file).contains(fence.text), "\(fence.text)") }
        let sources = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().appendingPathComponent("Sources")
        let files =
            FileManager.default.enumerator(at: sources, includingPropertiesForKeys: nil)?
            .compactMap { $0 as? URL }.filter { $0.pathExtension == "swift" } ?? []
        let text = try files.map { try String(contentsOf: $0, encoding: .utf8) }.joined(separator: "\n")
        let rows = page.text.components(separatedBy: "\n").filter { $0.hasPrefix("| \"") }
        var codes: Set<String> = []
        for row in rows {
            let cells = row.components(separatedBy: "|")
            // A cell may have several messages in quotation marks.
            let parts = cells[1].components(separatedBy: "\"")
            for message in stride(from: 1, to: parts.count, by: 2).map({ parts[$0] }) {
                #expect(text.contains(message), "\(message)")
            }
            codes.insert(cells[2].trimmingCharacters(in: [" ", "`"]))
        }
        #expect(codes == Set(SyncError.Code.allCases.map { "\($0)" }))
    }

    @Test("Pages of a paged import keep each other's rows, and separate syncs do not")
    func pages() async throws {
        let pages = [Data(#"[{"id": 1}, {"id": 2}]"#.utf8), Data(#"[{"id": 3}]"#.utf8)]
        for page in pages { try await Sync.changes(page, inEntity: "Book", stack: stack) }
        #expect(try await stack.fetch("Book").map(\.key) == [.integer(3)])
        let result = try await syncPages(pages, stack)
        #expect(result["Book"].insertedCount == 2 && result["Book"].deletedCount == 0)
    }

    @Test("An ordered list keeps the order of the payload")
    func order() async throws {
        let json = Data(#"[{"id": 1, "chapters": [{"id": 9}, {"id": 4}, {"id": 7}]}]"#.utf8)
        try await Sync.changes(json, inEntity: "Book", stack: stack)
        let book = try #require(try await stack.fetch("Book", id: 1))
        #expect(try await chapters(of: book, stack).map(\.key) == [9, 4, 7].map { .integer($0) })
    }

    @Test("A reference to a row that is not stored becomes a link when the row arrives")
    func references() async throws {
        let json = Data(#"[{"id": 1, "author_id": 7}]"#.utf8)
        #expect(try await syncWithReferences(json, stack) == ["Book 1: author → 7"])
        try await Sync.changes([["id": 7, "name": "Ada"]], inEntity: "Author", stack: stack)
        #expect(try await stack.count("Book", where: "author.name == 'Ada'") == 1)
    }

    @Test("An empty list deletes up to 10 rows, and none with a limit of 0 rows")
    func emptyList() async throws {
        let books = Data("[\((1...10).map { #"{"id": \#($0)}"# }.joined(separator: ","))]".utf8)
        try await Sync.changes(books, inEntity: "Book", stack: stack)
        await #expect(throws: SyncError.self) { try await syncHalf(Data("[]".utf8), stack) }
        await #expect(throws: SyncError.self) { try await Sync.changes(Data(), inEntity: "Book", stack: stack) }
        await #expect(throws: SyncError.self) {
            try await Sync.changes(Data(#"{"message": "sorry"}"#.utf8), inEntity: "Book", stack: stack)
        }
        #expect(try await stack.count("Book") == 10)
        try await Sync.changes(Data("[]".utf8), inEntity: "Book", stack: stack)
        #expect(try await stack.count("Book") == 0)
    }

    @Test("A composite key is a list")
    func compositeKey() async throws {
        try await Sync.changes(
            Data(#"[{"repository": "swift", "number": 5, "title": "a"}]"#.utf8), inEntity: "Issue", stack: stack)
        #expect(try await stack.fetch("Issue", id: ["swift", 5])?["title"]?.string == "a")
    }

    @Test("A run that is cancelled keeps its work, and the store can be freed for another user")
    func cancelled() async throws {
        let service = InMemoryService()
        for id in 1...20 { await service.set("Book", JSONValue(id), ["title": "a"]) }
        let schema = Self.schema.replacingOccurrences(of: "\"ordered\": true, ", with: "")
        let stack = try DataStack.inMemory(SyncModel(schemaData: Data(schema.utf8)))
        var configuration = SyncEngine.Configuration()
        configuration.userID = "ann"
        let engine = try SyncEngine(stack: stack, service: service, entities: ["Book"], configuration: configuration)
        #expect(await refresh(engine, within: .seconds(60)))
        #expect(try await Shadowed.start(engine).value.isEmpty)
        await service.onRequest { _ in try? await Task.sleep(for: .seconds(60)) }
        #expect(await !refresh(engine, within: .milliseconds(20)))
        await service.onRequest(nil)
        configuration.userID = "bob"
        let error = #expect(throws: SyncError.self) {
            try SyncEngine(stack: stack, service: service, entities: ["Book"], configuration: configuration)
        }
        #expect(error?.code == .userMismatch)
        let loop = Task { while true { try await engine.sync() } }
        #expect(try await logOut(engine, stack, loop: loop))
        #expect(try await stack.count("Book") == 0)
        _ = try SyncEngine(stack: stack, service: service, entities: ["Book"], configuration: configuration)
    }

    @Test("Reads of a store in a file do not wait for a write")
    func reads() async throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("sync-tests-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let stack = try openShared(folder, stack.model)
        let (begun, beginning) = AsyncStream<Void>.makeStream()
        let end = DispatchSemaphore(value: 0)
        async let write: Void = stack.write { db in
            try db.execute(sql: "INSERT INTO Book (id) VALUES (1)")
            beginning.finish()
            end.wait()
        }
        for await _ in begun {}
        #expect(try await stack.count("Book") == 0)
        end.signal()
        try await write
        #expect(try await stack.count("Book") == 1)
    }
}
