import Foundation
import GRDB
import Sync
import Testing

// MARK: - Paged feeds

/// Imports the pages of a feed as one snapshot.
struct FeedImport: Sendable {
    /// Fetches a page by its number, from 1; nil after the last page.
    let fetch: @Sendable (_ page: Int) async throws -> Data?

    func run(into stack: DataStack) async throws -> SyncResult {
        let pages = PagedImport()
        var options = SyncOptions(
            payloadKind: .page(of: pages), deletionLimit: .fraction(0.3), resultDetail: .counts)
        options.keyPath = "items"
        var number = 1
        while let page = try await fetch(number) {
            let result = try await Sync.changes(page, inEntity: "Product", stack: stack, options: options)
            if let record = result.diagnostics.first(where: { $0.kind == .missingPrimaryKey }) {
                throw FeedFailure.recordWithoutKey(page: number, path: record.path)
            }
            number += 1
        }
        return try await pages.finish()
    }
}

enum FeedFailure: Error {
    case status(Int)
    case recordWithoutKey(page: Int, path: String)
}

enum NextStep { case retryAtOnce, retryLater, callPerson, stop }

func nextStep(after error: any Error) -> NextStep {
    switch error {
    case is CancellationError: return .stop
    case let error as URLError: return error.code == .cancelled ? .stop : .retryLater
    case FeedFailure.status(let status): return status == 429 || status >= 500 ? .retryLater : .callPerson
    case let error as SyncError:
        switch error.code {
        case .malformedJSON, .invalidUTF8: return .retryAtOnce
        case .noRecords, .recordExpected, .keyPathNotFound, .errorDocument: return .retryLater
        default: return error.isTransient ? .retryLater : .callPerson
        }
    default: return .callPerson
    }
}

// MARK: - Stores

/// Runs work that waits, and does not block the threads of tasks.
func blocking<Value: Sendable>(_ work: @escaping @Sendable () throws -> Value) async throws -> Value {
    try await withCheckedThrowingContinuation { continuation in
        DispatchQueue.global().async { continuation.resume(with: Result(catching: work)) }
    }
}

func openStore(_ file: URL, _ model: SyncModel) throws -> DataStack {
    var configuration = Configuration()
    configuration.maximumReaderCount = 2
    configuration.busyMode = .timeout(10)
    let pool = try DatabasePool(path: file.path, configuration: configuration)
    return try DataStack(model: model, in: pool)
}

func closeStore(_ stack: DataStack) throws {
    try stack.close()
    (stack.writer as? DatabasePool)?.invalidateReadOnlyConnections()
    try stack.writer.close()
}

/// The open stores of the tenants.
actor StoreCache {
    private final class Entry {
        let stack: Task<DataStack, any Error>
        var leases = 0
        var lastUse = ContinuousClock.now

        init(_ stack: Task<DataStack, any Error>) { self.stack = stack }
    }

    private let open: @Sendable (_ tenant: String) throws -> DataStack
    private var entries: [String: Entry] = [:]
    private var waiters: [CheckedContinuation<Void, Never>] = []
    private var isShutDown = false

    init(open: @escaping @Sendable (_ tenant: String) throws -> DataStack) { self.open = open }

    /// Leases the store of a tenant. The cache closes no leased store.
    func withStore<Value: Sendable>(
        of tenant: String, _ body: @Sendable (DataStack) async throws -> Value
    ) async throws -> Value {
        if isShutDown { throw CancellationError() }
        let entry = entries[tenant] ?? Entry(Task { [open] in try await blocking { try open(tenant) } })
        entries[tenant] = entry
        entry.leases += 1
        defer { release(entry) }
        let stack: DataStack
        do { stack = try await entry.stack.value } catch {
            if entries[tenant] === entry { entries[tenant] = nil }
            throw error
        }
        return try await body(stack)
    }

    private func release(_ entry: Entry) {
        entry.leases -= 1
        entry.lastUse = .now
        for waiter in waiters { waiter.resume() }
        waiters = []
    }

    /// Closes the stores without a lease that were not used for a time.
    func close(unusedFor time: Duration) async throws {
        for (tenant, entry) in entries
        where entry.leases == 0 && entries[tenant] === entry && entry.lastUse.duration(to: .now) >= time {
            entries[tenant] = nil
            let stack = try await entry.stack.value
            try await blocking { try closeStore(stack) }
        }
    }

    /// Waits for all leases, and closes all stores.
    func shutDown() async throws {
        isShutDown = true
        while entries.values.contains(where: { $0.leases > 0 }) {
            await withCheckedContinuation { waiters.append($0) }
        }
        try await close(unusedFor: .zero)
    }
}

// MARK: - Limits

func limitSyncs(of stack: DataStack) {
    Sync.maxConcurrentSyncs = max(1, ProcessInfo.processInfo.activeProcessorCount - 1)  // of this process
    stack.maxConcurrentSyncs = 2  // of one store
}

// MARK: - Files

func backUp(_ stack: DataStack, to file: URL) async throws {
    try await stack.writer.vacuum(into: file.path)
}

func export(_ stack: DataStack, to file: URL) async throws {
    try await blocking {
        try Data().write(to: file)
        let handle = try FileHandle(forWritingTo: file)
        defer { try? handle.close() }
        try stack.writeExport("Product", as: .ndjson) { try handle.write(contentsOf: $0) }
    }
}

// MARK: - Tests

/// The code that `Docs/Servers.md` shows or links to.
@Suite("Guide to servers")
struct ServersGuideTests {
    private static let schema = #"{"entities": {"Product": {"attributes": {"id": "integer", "name": "string"}}}}"#
    private let model: SyncModel
    private let folder = FileManager.default.temporaryDirectory
        .appendingPathComponent("sync-tests-\(UUID().uuidString)")

    init() throws { model = try SyncModel(schemaData: Data(Self.schema.utf8)) }

    private func createFolder() throws {
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    }

    private func page(_ ids: some Sequence<Int>) -> Data {
        Data(#"{"items": [\#(ids.map { #"{"id": \#($0)}"# }.joined(separator: ","))]}"#.utf8)
    }

    private func feed(_ pages: [Data]) -> FeedImport {
        FeedImport { $0 <= pages.count ? pages[$0 - 1] : nil }
    }

    @Test("The page shows code of this file")
    func shown() throws {
        let page = try GuidePage("Servers.md")
        #expect(!page.fences.isEmpty)
        for fence in page.fences { #expect(try GuidePage.source(fence.file).contains(fence.text), "\(fence.text)") }
    }

    @Test("A feed is one snapshot, and its result has the totals of all pages")
    func pages() async throws {
        let stack = try DataStack.inMemory(model)
        #expect(try await feed([page(1...10), page(11...20)]).run(into: stack)["Product"].insertedCount == 20)
        let result = try await feed([page(1...8), page(9...18), page(21...22)]).run(into: stack)
        #expect("\(result["Product"])" == "2 inserted, 2 deleted, 18 unchanged")
        let error = try await #require(throws: SyncError.self) { try await feed([page(1...5)]).run(into: stack) }
        #expect(error.code == .deletionLimitExceeded)
    }

    @Test("A record without a key stops an import before it deletes rows")
    func recordWithoutKey() async throws {
        let stack = try DataStack.inMemory(model)
        _ = try await feed([page(1...10)]).run(into: stack)
        let pages = [page(1...8), Data(#"{"items": [{"id": 9}, {"name": "a"}]}"#.utf8)]
        await #expect(throws: FeedFailure.self) { try await feed(pages).run(into: stack) }
        #expect(try await stack.count("Product") == 10)
    }

    @Test("Each error has a next step")
    func errors() async throws {
        let stack = try DataStack.inMemory(model)
        func step(_ pages: [Data]) async throws -> NextStep {
            let error = try await #require(throws: (any Error).self) { try await feed(pages).run(into: stack) }
            return nextStep(after: error)
        }
        #expect(try await step([Data(#"{"items": [{"id": 1"#.utf8)]) == .retryAtOnce)
        #expect(try await step([Data(#"{"message": "maintenance"}"#.utf8)]) == .retryLater)
        #expect(try await step([Data(#"{"items": [{"name": "a"}, {"id": 1}]}"#.utf8)]) == .callPerson)
        #expect(nextStep(after: FeedFailure.status(503)) == .retryLater)
        #expect(nextStep(after: FeedFailure.status(404)) == .callPerson)
        #expect(nextStep(after: URLError(.timedOut)) == .retryLater)
        #expect(nextStep(after: CancellationError()) == .stop)
    }

    @Test("Results of syncs are of the pages and of the deletions, without empty ones")
    func results() async throws {
        let stack = try DataStack.inMemory(model)
        var results = stack.syncResults.makeAsyncIterator()
        _ = try await feed([page(1...10), page(11...20)]).run(into: stack)
        _ = try await feed([page(1...10), page(11...19)]).run(into: stack)
        for changes in ["10 inserted", "10 inserted", "1 deleted"] {
            #expect(await results.next().map { "\($0["Product"])" } == changes)
        }
    }

    @Test("A store is opened once, stays open while it is leased, and has one file after it is closed")
    func leases() async throws {
        try createFolder()
        defer { try? FileManager.default.removeItem(at: folder) }
        let (opened, opens) = AsyncStream<String>.makeStream()
        let stores = StoreCache { [model, folder] tenant in
            opens.yield(tenant)
            return try openStore(folder.appendingPathComponent("\(tenant).sqlite"), model)
        }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for id in 1...8 {
                group.addTask {
                    try await stores.withStore(of: "a") { stack in
                        try await Sync.insertOrUpdate(["id": JSONValue(id)], inEntity: "Product", stack: stack)
                        try await stores.close(unusedFor: .zero)
                        #expect(try await stack.count("Product") >= 1)
                    }
                }
            }
            try await group.waitForAll()
        }
        try await stores.close(unusedFor: .zero)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["a.sqlite"])
        #expect(try await stores.withStore(of: "a") { try await $0.count("Product") } == 8)

        // The shutdown waits for a lease.
        let (gate, opener) = AsyncStream<Void>.makeStream()
        let (started, start) = AsyncStream<Void>.makeStream()
        let request = Task {
            try await stores.withStore(of: "a") { stack in
                start.finish()
                for await _ in gate {}
                return try await stack.count("Product")
            }
        }
        for await _ in started {}
        let shutdown = Task { try await stores.shutDown() }
        while (try? await stores.withStore(of: "b") { _ in }) != nil { await Task.yield() }
        opener.finish()
        #expect(try await request.value == 8)
        try await shutdown.value
        opens.finish()
        let names = await opened.reduce(into: [String]()) { $0.append($1) }
        #expect(names.filter { $0 == "a" }.count == 2, "\(names)")
        let files = try FileManager.default.contentsOfDirectory(atPath: folder.path)
        #expect(files.allSatisfy { $0.hasSuffix(".sqlite") }, "\(files)")
    }

    @Test("The close of a store ends its observations")
    func observations() async throws {
        try createFolder()
        defer { try? FileManager.default.removeItem(at: folder) }
        let stack = try openStore(folder.appendingPathComponent("a.sqlite"), model)
        let results = stack.syncResults
        var counts = stack.observeCount("Product").makeAsyncIterator()
        #expect(try await counts.next() == 0)
        try closeStore(stack)
        let error = await #expect(throws: SyncError.self) { _ = try await counts.next() }
        #expect(error?.code == .storeClosed)
        for await _ in results { Issue.record("a result without a sync") }
    }

    @Test("A store that cannot be opened is opened again by the next request")
    func unopened() async throws {
        try createFolder()
        defer { try? FileManager.default.removeItem(at: folder) }
        let stores = StoreCache { [model, folder] in
            try openStore(folder.appendingPathComponent("new/\($0).sqlite"), model)
        }
        await #expect(throws: (any Error).self) { try await stores.withStore(of: "a") { _ in } }
        try FileManager.default.createDirectory(
            at: folder.appendingPathComponent("new"), withIntermediateDirectories: true)
        #expect(try await stores.withStore(of: "a") { try await $0.count("Product") } == 0)
        try await stores.shutDown()
    }

    @Test("A backup has the rows of an open store, and an export has its records")
    func files() async throws {
        try createFolder()
        defer { try? FileManager.default.removeItem(at: folder) }
        let stack = try openStore(folder.appendingPathComponent("a.sqlite"), model)
        _ = try await feed([page(1...3)]).run(into: stack)
        let copy = folder.appendingPathComponent("backup.sqlite")
        try await backUp(stack, to: copy)
        let restored = try DataStack(at: copy)
        #expect(try await restored.count("Product") == 3)
        try restored.close()

        let text = folder.appendingPathComponent("products.ndjson")
        try await export(stack, to: text)
        let options = SyncOptions(format: .ndjson)
        #expect(try await Sync.changes(text, inEntity: "Product", stack: stack, options: options).isEmpty)
        #expect(try String(contentsOf: text, encoding: .utf8).split(separator: "\n").count == 3)
        try closeStore(stack)
    }
}
