import Foundation
import GRDB
import Sync
import TestSize
import Testing

@Suite("Payloads in chunks")
struct ChunkTests {
    private func store(_ day: String = "day1") async throws -> DataStack {
        let stack = try DataStack.inMemory(Fixtures.model("company"))
        try await Sync.changes(Fixtures.payload(day), inEntity: "User", stack: stack)
        return stack
    }

    /// Returns the bytes as a stream of buffers.
    private static func chunks(_ data: Data, of size: Int = 50) -> AsyncStream<[UInt8]> {
        AsyncStream { stream in
            for start in stride(from: 0, to: data.count, by: size) {
                stream.yield(Array(data.dropFirst(start).prefix(size)))
            }
            stream.finish()
        }
    }

    private static func options(_ size: Int, collectsKeys: Bool = true) -> SyncOptions {
        var options = SyncOptions(resultDetail: collectsKeys ? .keys : .counts)
        options.chunkSize = size
        return options
    }

    static let sizes = LongTests.areWanted ? [1, 100, 400, 1000, 1_000_000] : [1, 400, 1_000_000]

    @Test("A payload in chunks gives the rows and the result of the whole payload", arguments: sizes, [true, false])
    func chunksEqualWhole(size: Int, remembersInMemory: Bool) async throws {
        var options = Self.options(size)
        if !remembersInMemory { options.rowFlagLimit = 0 }
        var counting = options
        counting.resultDetail = .counts
        for (before, after) in [("day1", "day2"), ("day2", "day1"), ("day1", "day1")] {
            let whole = try await store(before)
            let expected = try await Sync.changes(Fixtures.payload(after), inEntity: "User", stack: whole)
            let stack = try await store(before)
            let chunks = Self.chunks(try Fixtures.payload(after))
            let result = try await Sync.changes(.buffers(chunks), inEntity: "User", stack: stack, options: options)
            #expect(try await stack.contents().differences(from: whole.contents()) == [])
            #expect(result.root == expected.root)
            #expect(result.entities == expected.entities)
            #expect(result.linksAdded - result.linksRemoved == expected.linksAdded - expected.linksRemoved)

            let other = try await store(before)
            let counted = try await Sync.changes(
                .buffers(Self.chunks(try Fixtures.payload(after))), inEntity: "User", stack: other,
                options: counting)
            for (name, changes) in expected.entities {
                #expect(counted[name].insertedCount == changes.insertedCount)
                #expect(counted[name].updatedCount == changes.updatedCount)
                #expect(counted[name].deletedCount == changes.deletedCount)
                #expect(counted[name].unchangedCount == changes.unchangedCount)
                #expect(counted[name].inserted.isEmpty)
            }
        }
    }

    @Test(
        "A row is counted once if a chunk writes it and a later chunk links it by a pending reference",
        arguments: [
            #"[{"id": 2, "boss_id": 3}, {"id": 3}]"#, #"[{"id": 1, "boss_id": 3}, {"id": 3}]"#,
            #"[{"id": 1, "name": "b", "boss_id": 3}, {"id": 3}]"#,
            #"[{"id": 1, "boss_id": 3}, {"id": 3, "friends": [{"id": 1, "name": "a"}]}]"#,
            #"[{"id": 1, "name": "b", "boss_id": 3}, {"id": 3, "friends": [{"id": 1, "name": "b"}]}]"#,
            #"[{"id": 2, "boss_id": 3}, {"id": 3, "friends": [{"id": 2}]}, {"id": 2, "boss_id": 3}]"#,
        ], [true, false])
    func countsLinkedRowsOnce(payload: String, remembersInMemory: Bool) async throws {
        let schema = """
            {"entities": {"Ant": {"attributes": {"id": "integer", "name": "string"},
              "relationships": {"boss": {"entity": "Ant", "inverse": "reports"},
                "reports": {"entity": "Ant", "many": true, "inverse": "boss"},
                "friends": {"entity": "Ant", "many": true, "inverse": "friends"}}}}}
            """
        var results: [SyncResult.EntityChanges] = []
        for (size, detail) in [(1_000_000, .keys), (1, .keys), (1, .counts)] as [(Int, SyncOptions.ResultDetail)] {
            let stack = try DataStack.inMemory(SyncModel(schemaData: Data(schema.utf8)))
            try await Sync.changes([["id": 1, "name": "a"]], inEntity: "Ant", stack: stack)
            var options = SyncOptions(resultDetail: detail)
            options.chunkSize = size
            if !remembersInMemory { options.rowFlagLimit = 0 }
            let chunks = Self.chunks(Data(payload.utf8))
            results.append(
                try await Sync.changes(.buffers(chunks), inEntity: "Ant", stack: stack, options: options)["Ant"])
        }
        #expect(results[1] == results[0])
        #expect(results[2].description == results[0].description)
    }

    @Test("A second sync in chunks writes nothing, and neither does a plan, which equals its sync", arguments: sizes)
    func secondSyncWritesNothing(size: Int) async throws {
        let stack = try await store()
        let written = try await stack.changesWritten()
        let again = Self.chunks(try Fixtures.payload("day1"))
        #expect(
            try await Sync.changes(.buffers(again), inEntity: "User", stack: stack, options: Self.options(size)).isEmpty
        )
        #expect(try await stack.changesWritten() == written)

        let before = try await stack.contents()
        let planned = try await Sync.plan(
            .buffers(Self.chunks(try Fixtures.payload("day2"))), inEntity: "User", stack: stack,
            options: Self.options(size))
        #expect(try await stack.contents() == before)
        let done = try await Sync.changes(
            .buffers(Self.chunks(try Fixtures.payload("day2"))), inEntity: "User", stack: stack,
            options: Self.options(size))
        #expect(planned == done)
    }

    @Test("An error in the last chunk rolls back the first", arguments: sizes)
    func laterErrorRollsBack(size: Int) async throws {
        let stack = try await store()
        let before = try await stack.contents()
        for (end, code, place) in [
            ("", SyncError.Code.malformedJSON, "3:1"), ("] x", .malformedJSON, "3:3"), (",5]", .recordExpected, "[40]"),
        ] {
            let records = (0..<40).map { #"{"id": \#($0)}"# }.joined(separator: ",")
            let chunks = Self.chunks(Data("[\n\(records)\n\(end)".utf8), of: 7)
            let error = await #expect(throws: SyncError.self) {
                try await Sync.changes(.buffers(chunks), inEntity: "User", stack: stack, options: Self.options(size))
            }
            #expect(error?.code == code)
            #expect(error?.path ?? "\(error?.line ?? 0):\(error?.column ?? 0)" == place)
            #expect(try await stack.contents() == before)
        }
    }

    @Test("A key part that is a row of a later chunk is missing, and one of an earlier chunk is found")
    func keyPartOfALaterChunk() async throws {
        let schema = """
            {"entities": {"Owner": {"attributes": {"id": "integer"}},
              "Issue": {"primaryKey": ["owner", "number"], "attributes": {"number": "integer"},
                "relationships": {"owner": {"entity": "Owner"}}}}}
            """
        let (issue, owner) = (#""issues":[{"number":1,"owner":7}]"#, #""owners":[{"id":7}]"#)
        for (json, size, stored) in [
            (issue + "," + owner, 1, 0), (owner + "," + issue, 1, 1), (issue + "," + owner, 1000, 1),
        ] {
            let stack = try DataStack.inMemory(SyncModel(schemaData: Data(schema.utf8)))
            let result = try await Sync.changes(
                .buffers(Self.chunks(Data("{\(json)}".utf8))), inEntities: ["issues": "Issue", "owners": "Owner"],
                stack: stack,
                options: Self.options(size))
            #expect(try await stack.fetch("Issue").count == stored)
            #expect(result.diagnostics.map(\.kind) == (stored == 0 ? [.missingKeyPart] : []))
        }
    }

    @Test("Diagnostics and errors of chunks have the path in the whole payload", arguments: sizes)
    func pathsAreOfTheWholePayload(size: Int) async throws {
        let stack = try DataStack.inMemory(Fixtures.model("company"))
        let records = (0..<40).map { $0 == 33 ? #"{"id": 33, "notes": [{"id": "x"}]}"# : #"{"id": \#($0)}"# }
        let json = Data("[\(records.joined(separator: ","))]".utf8)
        for strict in [false, true] {
            var options = Self.options(size)
            options.isStrict = strict
            if strict {
                let error = await #expect(throws: SyncError.self) {
                    try await Sync.changes(
                        .buffers(Self.chunks(json)), inEntity: "User", stack: stack, options: options)
                }
                #expect(error?.path == "[33].notes[0].id")
            } else {
                let result = try await Sync.changes(
                    .buffers(Self.chunks(json)), inEntity: "User", stack: stack, options: options)
                #expect(result.diagnostics.map(\.path).contains("[33].notes[0].id"))
            }
        }
    }

    @Test("A file is read in chunks below a key path and as NDJSON")
    func fileIsReadInChunks() async throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let records = (0..<100).map { #"{"id": \#($0)}"# }
        for (text, form, keyPath) in [
            (
                #"{"x": [], "data": {"users": [\#(records.joined(separator: ","))]}, "y": 1}"#, PayloadFormat.json,
                ["data", "users"]
            ),
            (records.joined(separator: "\n"), .ndjson, []),
        ] {
            let file = folder.url.appendingPathComponent("users")
            try Data(text.utf8).write(to: file)
            let stack = try DataStack.inMemory(Fixtures.model("company"))
            var options = Self.options(100, collectsKeys: false)
            options.format = form
            options.keyPath = .init(keyPath)
            let result = try await Sync.changes(file, inEntity: "User", stack: stack, options: options)
            #expect(result["User"].insertedCount == 100)
            #expect(try await stack.count("User") == 100)
        }
        let missing = await #expect(throws: SyncError.self) {
            try await Sync.changes(
                folder.url.appendingPathComponent("none"), inEntity: "User",
                stack: DataStack.inMemory(Fixtures.model("company")))
        }
        #expect(missing?.code == .unreadableFile)
    }

    @Test("The deletion limit counts the deletions of all chunks")
    func limitCountsAllChunks() async throws {
        let stack = try DataStack.inMemory(Fixtures.model("company"))
        let old = Data("[\((0..<40).map { #"{"id": \#($0)}"# }.joined(separator: ","))]".utf8)
        try await Sync.changes(old, inEntity: "User", stack: stack)
        let before = try await stack.contents()
        // Nine tenths of the old rows are deleted, but only a third of the rows stored by then.
        let new = Data("[\((36..<120).map { #"{"id": \#($0)}"# }.joined(separator: ","))]".utf8)
        var options = Self.options(50)
        options.deletionLimit = .half
        let error = await #expect(throws: SyncError.self) {
            try await Sync.changes(.buffers(Self.chunks(new)), inEntity: "User", stack: stack, options: options)
        }
        #expect(error?.code == .deletionLimitExceeded)
        #expect(error?.message.hasPrefix("the sync would delete 36 of 40") == true)
        #expect(try await stack.contents() == before)
    }

    @Test("A delta in chunks keeps the rows that it omits", arguments: [false, true])
    func deltaInChunks(commitsEachChunk: Bool) async throws {
        let stack = try DataStack.inMemory(Fixtures.model("company"))
        try await Sync.changes([["id": 1], ["id": 2]], inEntity: "User", stack: stack)
        var options = Self.options(8)
        (options.payloadKind, options.commitsEachChunk) = (.delta, commitsEachChunk)
        let delta = Data(#"[{"id": 1, "first_name": "A"}, {"id": 3}]"#.utf8)
        let result = try await Sync.changes(
            .buffers(Self.chunks(delta)), inEntity: "User", stack: stack, options: options)
        #expect(result["User"].deletedCount == 0)
        #expect(try await stack.fetch("User").map(\.key) == [.integer(1), .integer(2), .integer(3)])
    }

    @Test(
        "One page of a longer list keeps the rows that it omits",
        arguments: [
            (
                PayloadFormat.graphQL,
                #"{"data": {"users": {"nodes": [{"id": 1}, {"id": 3}], "pageInfo": {"hasPreviousPage": true, "hasNextPage": false}}}}"#
            ),
            (.graphQL, #"{"data": {"users": {"nodes": [{"id": 1}, {"id": 3}], "pageInfo": {"hasNextPage": true}}}}"#),
            (
                .jsonAPI,
                #"{"data": [{"type": "users", "id": 1}, {"type": "users", "id": 3}], "links": {"prev": "/users?page=1", "next": null}}"#
            ),
            (
                .jsonAPI,
                #"{"links": {"prev": {"href": "/users?page=1"}}, "data": [{"type": "users", "id": 1}, {"type": "users", "id": 3}]}"#
            ),
        ], [false, true, nil])
    func onePage(page: (format: PayloadFormat, json: String), commitsEachChunk: Bool?) async throws {
        let stack = try DataStack.inMemory(Fixtures.model("company"))
        try await Sync.changes([["id": 1], ["id": 2]], inEntity: "User", stack: stack)
        var options = Self.options(8)
        options.format = page.format
        let json = Data(page.json.utf8)
        if let commitsEachChunk {
            options.commitsEachChunk = commitsEachChunk
            try await Sync.changes(.buffers(Self.chunks(json)), inEntity: "User", stack: stack, options: options)
        } else {
            try await Sync.changes(JSONValue(parsing: json), inEntity: "User", stack: stack, options: options)
        }
        #expect(try await stack.fetch("User").map(\.key) == [.integer(1), .integer(2), .integer(3)])
    }

    @Test("A JSON:API document without a previous page is a snapshot")
    func firstPage() async throws {
        let stack = try DataStack.inMemory(Fixtures.model("company"))
        try await Sync.changes([["id": 1], ["id": 2]], inEntity: "User", stack: stack)
        let json = Data(#"{"data": [{"type": "users", "id": 1}], "links": {"prev": null, "next": null}}"#.utf8)
        try await Sync.changes(json, inEntity: "User", stack: stack, options: SyncOptions(format: .jsonAPI))
        #expect(try await stack.fetch("User").map(\.key) == [.integer(1)])
    }

    @Test("A single object in chunks reports no skipped deletions", arguments: [false, true])
    func objectInChunks(commitsEachChunk: Bool) async throws {
        let stack = try await store()
        var options = Self.options(8)
        options.commitsEachChunk = commitsEachChunk
        let json = Data(#"{"id": 1, "notes": [{"id": 11}, {"id": 12}]}"#.utf8)
        let result = try await Sync.changes(
            .buffers(Self.chunks(json, of: 5)), inEntity: "User", stack: stack, options: options)
        #expect(result.diagnostics.isEmpty)
        #expect(try await stack.count("User") == 8)
    }

    @Test("A page that fails after some of its chunks fails its paged import", arguments: [false, true])
    func truncatedPage(commitsEachChunk: Bool) async throws {
        let stack = try await store()
        let run = PagedImport()
        var options = Self.options(8)
        options.commitsEachChunk = commitsEachChunk
        options.payloadKind = .page(of: run)
        let error = await #expect(throws: SyncError.self) {
            try await Sync.changes(
                .buffers(Self.chunks(Data(#"[{"id": 1}, {"id": 2}, {"#.utf8))), inEntity: "User", stack: stack,
                options: options)
        }
        #expect(error?.code == .malformedJSON)
        let before = try await stack.count("User")
        await #expect(throws: SyncError.self) { try await run.finish() }
        #expect(try await stack.count("User") == before)
    }

    @Test("A payload in chunks may be a page, and may have a transaction per chunk")
    func chunksOfAPage() async throws {
        for commitsEachChunk in [false, true] {
            let whole = try await store()
            try await Sync.changes(Fixtures.payload("day2"), inEntity: "User", stack: whole)
            let stack = try await store()
            let run = PagedImport()
            var options = Self.options(200)
            options.commitsEachChunk = commitsEachChunk
            options.payloadKind = .page(of: run)
            try await Sync.changes(
                .buffers(Self.chunks(try Fixtures.payload("day2"))), inEntity: "User", stack: stack, options: options)
            #expect(try await stack.count("User") > whole.count("User"))
            try await run.finish()
            #expect(try await stack.contents().differences(from: whole.contents()) == [])

            let other = try await store()
            options.payloadKind = .snapshot
            let result = try await Sync.changes(
                .buffers(Self.chunks(try Fixtures.payload("day2"))), inEntity: "User", stack: other, options: options)
            #expect(try await other.contents().differences(from: whole.contents()) == [])
            #expect(result["User"].deletedCount > 0)
        }
    }

    @Test("A plan of a page in chunks does not change its paged import", arguments: [0, 32 << 20])
    func planOfAPage(rowFlagLimit: Int) async throws {
        let stack = try await store()
        let users = try await stack.fetch("User").map(\.key)
        let other = try #require(users.last)
        var options = Self.options(8)
        options.rowFlagLimit = rowFlagLimit
        options.payloadKind = .page(of: PagedImport())
        let first = Data(#"[{"id": 1}]"#.utf8)
        let planned = Data(#"[{"id": \#(other)}, {"id": 901}, {"id": 902}]"#.utf8)
        func page(_ json: Data) -> SyncPayload { .buffers(Self.chunks(json)) }
        try await Sync.changes(page(first), inEntity: "User", stack: stack, options: options)
        for _ in 1...2 {
            let plan = try await Sync.plan(page(planned), inEntity: "User", stack: stack, options: options)
            #expect(plan["User"].insertedCount == 2)
        }
        let result = try await Sync.changes(
            page(Data(#"[{"id": 901}]"#.utf8)), inEntity: "User", stack: stack, options: options)
        #expect(result["User"].insertedCount == 1)
        let all = try await options.payloadKind.run?.finish()
        #expect(all?["User"].insertedCount == 1 && all?["User"].deletedCount == users.count - 1)
        #expect(try await stack.fetch("User").map(\.key) == [.integer(1), .integer(901)])
    }
}
