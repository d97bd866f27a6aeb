import Foundation
import Sync
import Testing

@Suite("Root records with an unreadable key")
struct UnreadableRecordTests {
    private static let before = Data(#"[{"id": 1}, {"id": 2}, {"id": 3}]"#.utf8)
    private static let after = Data(#"[{"id": 1}, {"id": "x"}, {"id": 4}]"#.utf8)

    private func stack() async throws -> DataStack {
        let part = SyncModel.Entity("Part", attributes: [.init("id", .integer), .init("name", .string)])
        let stack = try DataStack.inMemory(SyncModel(entities: [part]))
        try await Sync.changes(Self.before, inEntity: "Part", stack: stack)
        return stack
    }

    private static func chunks(_ data: Data) -> AsyncStream<[UInt8]> {
        AsyncStream { stream in
            for byte in data { stream.yield([byte]) }
            stream.finish()
        }
    }

    private func expectKept(_ result: SyncResult, _ stack: DataStack) async throws {
        #expect(result["Part"].inserted == [.integer(4)])
        #expect(result["Part"].deletedCount == 0)
        let skipped = result.diagnostics.filter { $0.kind == .deletionsSkipped }
        #expect(skipped.map(\.path) == ["[1]"])
        #expect(skipped.first?.entity == "Part")
        #expect(skipped.first?.message.contains("2 omitted rows were not deleted") == true)
        #expect(try await stack.count("Part") == 4)
    }

    @Test(
        "An unreadable key prevents deletions, in bytes and values, with and without an insert hook",
        arguments: [false, true])
    func unreadKeyPreventsDeletions(hasHook: Bool) async throws {
        var options = SyncOptions()
        if hasHook { options.willInsert = { $0.record } }
        let stack = try await stack()
        try await expectKept(
            Sync.changes(Self.after, inEntity: "Part", stack: stack, options: options), stack)
        let other = try await self.stack()
        let value = try JSONValue(parsing: Self.after)
        try await expectKept(Sync.changes(value, inEntity: "Part", stack: other, options: options), other)
    }

    @Test(
        "An unreadable key prevents deletions in chunks, unless the options allow them",
        arguments: [1, 20, 1000], [false, true])
    func unreadKeyInChunks(size: Int, commitsEachChunk: Bool) async throws {
        let stack = try await stack()
        var options = SyncOptions(
            resultDetail: .keys, chunkSize: size, commitsEachChunk: commitsEachChunk)
        try await expectKept(
            Sync.changes(.buffers(Self.chunks(Self.after)), inEntity: "Part", stack: stack, options: options), stack)
        options.deletesBesideUnread = true
        let again = try await Sync.changes(
            .buffers(Self.chunks(Self.after)), inEntity: "Part", stack: stack, options: options)
        #expect(again["Part"].deleted == [.integer(2), .integer(3)])
    }

    @Test("An unreadable key prevents deletions of a paged import, also if a later page is readable")
    func unreadKeyInPages() async throws {
        let stack = try await stack()
        let run = PagedImport()
        let options = SyncOptions(payloadKind: .page(of: run))
        try await Sync.changes(Self.after, inEntity: "Part", stack: stack, options: options)
        try await Sync.changes(Data(#"[{"id": 5}]"#.utf8), inEntity: "Part", stack: stack, options: options)
        let result = try await run.finish()
        #expect(result["Part"].deletedCount == 0)
        #expect(result.diagnostics.filter { $0.kind == .deletionsSkipped }.map(\.path) == ["[1]"])
        #expect(try await stack.count("Part") == 5)
    }

    @Test("An unreadable key prevents deletions until every key is readable")
    func unreadKeyAgain() async throws {
        let stack = try await stack()
        try await expectKept(Sync.changes(Self.after, inEntity: "Part", stack: stack), stack)
        let again = try await Sync.changes(Self.after, inEntity: "Part", stack: stack)
        #expect(again.diagnostics.contains { $0.kind == .deletionsSkipped })
        #expect(try await stack.count("Part") == 4)
        let whole = try await Sync.changes(Data(#"[{"id": 1}, {"id": 4}]"#.utf8), inEntity: "Part", stack: stack)
        #expect(whole["Part"].deleted == [.integer(2), .integer(3)])
    }

    @Test("An unreadable key prevents deletions in a plan, and the options may allow them")
    func unreadKeyInAPlan() async throws {
        let stack = try await stack()
        let plan = try await Sync.plan(Self.after, inEntity: "Part", stack: stack)
        #expect(plan["Part"].deletedCount == 0)
        let options = SyncOptions(deletesBesideUnread: true)
        let result = try await Sync.changes(Self.after, inEntity: "Part", stack: stack, options: options)
        #expect(result["Part"].deleted == [.integer(2), .integer(3)])
        #expect(!result.diagnostics.contains { $0.kind == .deletionsSkipped })
    }

    @Test(
        "An unreadable or missing key fails a strict sync with its path",
        arguments: [(#"{"id": "x"}"#, SyncError.Code.typeMismatch), ("{}", .primaryKeyMissing)], [false, true])
    func unreadKeyFailsStrictSync(record: (json: String, code: SyncError.Code), inPieces: Bool) async throws {
        let stack = try await stack()
        let json = Data("[{\"id\": 9}, \(record.json), {\"id\": 8}]".utf8)
        let options = SyncOptions(isStrict: true, chunkSize: 1)
        let error = await #expect(throws: SyncError.self) {
            inPieces
                ? try await Sync.changes(.buffers(Self.chunks(json)), inEntity: "Part", stack: stack, options: options)
                : try await Sync.changes(json, inEntity: "Part", stack: stack, options: options)
        }
        #expect(error?.code == record.code)
        #expect(error?.path?.hasPrefix("[1]") == true)
        #expect(try await stack.count("Part", where: "id > 3") == 0)
    }

    @Test("A strict sync reports a value that does not fit before an earlier missing key", arguments: [false, true])
    func misfitPrecedesMissingKey(inPieces: Bool) async throws {
        let stack = try await stack()
        let json = Data(#"[{}, {"id": 9}, {"id": 8, "name": [1]}]"#.utf8)
        let options = SyncOptions(isStrict: true, chunkSize: 1)
        let error = await #expect(throws: SyncError.self) {
            inPieces
                ? try await Sync.changes(.buffers(Self.chunks(json)), inEntity: "Part", stack: stack, options: options)
                : try await Sync.changes(json, inEntity: "Part", stack: stack, options: options)
        }
        #expect(error?.code == .typeMismatch)
        #expect(error?.path == "[2].name")
        #expect(try await stack.count("Part", where: "id > 3") == 0)
    }

    @Test("Skipped deletions are reported beside more diagnostics than a result lists", arguments: [false, true])
    func skippedDeletionsAreAlwaysReported(inPieces: Bool) async throws {
        let stack = try await stack()
        let names = String(repeating: #", {"id": 1, "name": [1]}"#, count: 10_001)
        let json = Data("[{\"id\": \"x\"}, {\"id\": 1}\(names)]".utf8)
        let options = SyncOptions(chunkSize: 1 << 16)
        let result =
            inPieces
            ? try await Sync.changes(
                .buffers(json.chunks(of: 1 << 14)), inEntity: "Part", stack: stack, options: options)
            : try await Sync.changes(json, inEntity: "Part", stack: stack, options: options)
        #expect(result.omittedDiagnosticCount > 0)
        #expect(result.diagnostics.contains { $0.kind == .deletionsSkipped })
    }

    @Test("An unreadable key that is alone in the first chunk prevents deletions, or fails a strict sync")
    func unreadKeyInTheFirstChunk() async throws {
        let stack = try await stack()
        let json = Data(#"[{"id": "x"}, {"id": 1}]"#.utf8)
        let options = SyncOptions(chunkSize: 1)
        let result = try await Sync.changes(
            .buffers(Self.chunks(json)), inEntity: "Part", stack: stack, options: options)
        #expect(result["Part"].deletedCount == 0)
        let strict = SyncOptions(isStrict: true, chunkSize: 1)
        let keyless = Data(#"[{}, {"id": 1}]"#.utf8)
        let error = await #expect(throws: SyncError.self) {
            try await Sync.changes(.buffers(Self.chunks(keyless)), inEntity: "Part", stack: stack, options: strict)
        }
        #expect(error?.code == .primaryKeyMissing)
        #expect(error?.path == "[0]")
    }
}

extension Data {
    fileprivate func chunks(of size: Int) -> AsyncStream<[UInt8]> {
        AsyncStream { stream in
            for start in Swift.stride(from: 0, to: count, by: size) {
                stream.yield(Array(dropFirst(start).prefix(size)))
            }
            stream.finish()
        }
    }
}
