import Foundation
import Sync
import Testing

/// A payload of one object, outside of an array, describes one row and deletes no other, however it arrives.
@Suite("Payloads of one object")
struct SingleObjectTests {
    private static let boom = #"{"id": 500, "error": "boom"}"#

    private func store() async throws -> DataStack {
        let stack = try DataStack.inMemory(Fixtures.model("company"))
        try await Sync.changes(Fixtures.payload("day1"), inEntity: "User", stack: stack)
        return stack
    }

    private static func chunks(_ text: String) -> AsyncStream<[UInt8]> {
        AsyncStream { stream in
            for byte in text.utf8 { stream.yield([byte]) }
            stream.finish()
        }
    }

    typealias Call = @Sendable (String, DataStack, SyncOptions) async throws -> SyncResult

    private static let inPieces: Call = { text, stack, options in
        var options = options
        options.chunkSize = 1
        return try await Sync.changes(.buffers(chunks(text)), inEntity: "User", stack: stack, options: options)
    }

    static let calls: [(String, Call)] = [
        ("bytes", { try await Sync.changes(Data($0.utf8), inEntity: "User", stack: $1, options: $2) }),
        (
            "values",
            { try await Sync.changes(JSONValue(parsing: Data($0.utf8)), inEntity: "User", stack: $1, options: $2) }
        ),
        ("pieces", inPieces),
        (
            "pieces, a transaction each",
            { text, stack, options in
                var options = options
                options.commitsEachChunk = true
                return try await inPieces(text, stack, options)
            }
        ),
        (
            "a file",
            { text, stack, options in
                let folder = try TemporaryFolder()
                defer { folder.remove() }
                let file = folder.url.appendingPathComponent("user.json")
                try Data(text.utf8).write(to: file)
                return try await Sync.changes(file, inEntity: "User", stack: stack, options: options)
            }
        ),
        (
            "the only page",
            { text, stack, options in
                let pages = AsyncStream<Data> { stream in
                    stream.yield(Data(text.utf8))
                    stream.finish()
                }
                return try await Sync.changes(pages: pages, inEntity: "User", stack: stack, options: options)
            }
        ),
        (
            "bytes, with a hook",
            { text, stack, options in
                var options = options
                options.willInsert = { $0.record }
                return try await Sync.changes(Data(text.utf8), inEntity: "User", stack: stack, options: options)
            }
        ),
    ]

    @Test("One object deletes no row of its entity, and an array of one does", arguments: calls.indices)
    func oneObjectDeletesNothing(_ index: Int) async throws {
        let (name, call) = Self.calls[index]
        for (text, keyPath) in [(Self.boom, []), (#"{"data": {"user": \#(Self.boom)}}"#, ["data", "user"])] {
            let stack = try await store()
            for scope in [SyncOptions.Scope.automatic, .all] {
                var options = SyncOptions(scope: scope)
                options.keyPath = .init(keyPath)
                let result = try await call(text, stack, options)
                #expect(result["User"].deletedCount == 0, "\(name)")
                #expect(try await stack.count("User") == 9, "\(name)")
            }
        }
        let stack = try await store()
        _ = try await call("[\(Self.boom)]", stack, SyncOptions())
        #expect(try await stack.count("User") == 1, "\(name)")
    }

    @Test("One object deletes nothing when it is synced again")
    func repeatedObjectDeletesNothing() async throws {
        let stack = try await store()
        for _ in 1...2 {
            #expect(try await Sync.changes(Data(Self.boom.utf8), inEntity: "User", stack: stack).root.deleted == 0)
        }
        #expect(try await Sync.changes(Fixtures.payload("day1"), inEntity: "User", stack: stack).root.deleted == 1)
    }

    @Test("The plan of one object equals its sync")
    func planEqualsSync() async throws {
        let stack = try await store()
        let planned = try await Sync.plan(Data(Self.boom.utf8), inEntity: "User", stack: stack)
        #expect(planned["User"].insertedCount == 1 && planned["User"].deletedCount == 0)
        #expect(try await Sync.changes(Data(Self.boom.utf8), inEntity: "User", stack: stack) == planned)
    }

    @Test("One line of NDJSON is a list of one record")
    func oneLineIsAList() async throws {
        let stack = try await store()
        var options = SyncOptions()
        options.format = .ndjson
        try await Sync.changes(Data(Self.boom.utf8), inEntity: "User", stack: stack, options: options)
        #expect(try await stack.count("User") == 1)
    }

    @Test(
        "One object with a predicate or a parent deletes the other rows in scope, in chunks too",
        arguments: [true, false])
    func scopedObjectDeletes(inPieces: Bool) async throws {
        let stack = try await store()
        let text = #"{"id": 1}"#
        var options = SyncOptions()
        options.chunkSize = 1
        if inPieces {
            try await Sync.changes(
                .buffers(Self.chunks(text)), inEntity: "User", stack: stack, predicate: .where("id < 4"),
                options: options)
        } else {
            try await Sync.changes(Data(text.utf8), inEntity: "User", stack: stack, predicate: .where("id < 4"))
        }
        #expect(try await stack.count("User") == 6)
        #expect(try await stack.count("Note", where: "user.id == 1") == 2)
        try await Sync.changes(
            ["id": 99], inEntity: "Note", stack: stack, parent: SyncParent("User", id: 1), options: options)
        #expect(try await stack.count("Note", where: "user.id == 1") == 1)
    }
}
