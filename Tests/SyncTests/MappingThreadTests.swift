import Foundation
import Sync
import Testing

/// Mapping must not block the few threads that run tasks.
@Suite("Payloads are mapped on dedicated threads")
struct MappingThreadTests {
    /// `@unchecked Sendable`: the variable is only touched while `lock` is held.
    private final class Places: @unchecked Sendable {
        private let lock = NSLock()
        private var all: [Bool] = []

        func note() { lock.withLock { all.append(MappingThread.isCurrent) } }

        func take() -> [Bool] {
            lock.withLock {
                defer { all = [] }
                return all
            }
        }
    }

    private static let json = Data(#"[{ "id": 1, "text": "a" }, { "id": 2, "text": "b" }]"#.utf8)
    private static let lists = Data(#"{ "words": [{ "id": 1, "text": "a" }, { "id": 2, "text": "b" }] }"#.utf8)

    private func stack(_ places: Places) throws -> DataStack {
        let model = try SyncModel(entities: [
            SyncModel.Entity(
                "Word",
                attributes: [
                    SyncModel.Attribute("id", .integer), SyncModel.Attribute("text", .string, transformer: "Note"),
                ])
        ])
        let note = AttributeTransformer("Note") { json in
            places.note()
            guard case .string(let text) = json else { return nil }
            return .string(text)
        }
        return try DataStack.inMemory(model.registering(note))
    }

    @Test("Bytes, values, several lists, chunks and pages are mapped on mapping threads, in plans too")
    @MainActor
    func payloadsAreMappedOnMappingThreads() async throws {
        let places = Places()
        let stack = try stack(places)
        let value = try JSONValue(parsing: Self.json)
        let entities = ["words": "Word"]
        var single = SyncOptions(resultDetail: .counts)
        single.chunkSize = 1
        var several = single
        several.commitsEachChunk = true
        let chunks = Self.json.map { Data([$0]) }.stream
        let pages = [Self.json].stream
        let calls: [@MainActor () async throws -> Void] = [
            { try await Sync.changes(Self.json, inEntity: "Word", stack: stack) },
            { _ = try await Sync.plan(Self.json, inEntity: "Word", stack: stack) },
            { try await Sync.changes(value, inEntity: "Word", stack: stack) },
            { _ = try await Sync.plan(value, inEntity: "Word", stack: stack) },
            { try await Sync.changes(Self.lists, inEntities: entities, stack: stack) },
            { try await Sync.changes(JSONValue(parsing: Self.lists), inEntities: entities, stack: stack) },
            { _ = try await Sync.plan(Self.lists, inEntities: entities, stack: stack) },
            { try await Sync.changes(.buffers(chunks), inEntity: "Word", stack: stack, options: single) },
            { try await Sync.changes(.buffers([Self.json].stream), inEntity: "Word", stack: stack, options: several) },
            { try await Sync.changes(pages: pages, inEntity: "Word", stack: stack) },
            {
                var options = SyncOptions()
                options.payloadKind = .page(of: PagedImport())
                try await Sync.changes(Self.json, inEntity: "Word", stack: stack, options: options)
            },
        ]
        for (index, call) in calls.enumerated() {
            try await call()
            #expect(places.take() == [true, true], "call \(index)")
        }
        #expect(try await stack.count("Word") == 2)
    }

    @Test("Values that are not sendable are mapped on the thread of the caller")
    @MainActor
    func unsendableValuesStay() async throws {
        let places = Places()
        let stack = try stack(places)
        try await Sync.changes([["id": 1, "text": "a"] as [String: Any]], inEntity: "Word", stack: stack)
        #expect(places.take() == [false])
    }

    @Test("More syncs than mapping threads all finish")
    func moreSyncsThanThreads() async throws {
        let count = 4 * ProcessInfo.processInfo.activeProcessorCount
        let results = try await withThrowingTaskGroup(of: Int.self) { group in
            for _ in 0..<count {
                group.addTask {
                    let stack = try self.stack(Places())
                    return try await Sync.changes(Self.json, inEntity: "Word", stack: stack)["Word"].inserted.count
                }
            }
            return try await group.reduce(0, +)
        }
        #expect(results == 2 * count)
    }

    @Test("A task that is cancelled before its payload is mapped changes nothing")
    func cancelledMappingChangesNothing() async throws {
        let stack = try stack(Places())
        let task = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return try await Sync.changes(Self.json, inEntity: "Word", stack: stack)
        }
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(try await stack.count("Word") == 0)
    }
}

extension [Data] {
    fileprivate var stream: AsyncStream<Data> {
        AsyncStream { stream in
            for data in self { stream.yield(data) }
            stream.finish()
        }
    }
}
