import Foundation
import Sync
import Testing

/// A payload without a readable record, such as an error message of a service, is an error.
@Suite("Payloads without a readable record")
struct NoRecordsTests {
    private func store() async throws -> DataStack {
        let stack = try DataStack.inMemory(Fixtures.model("company"))
        try await Sync.changes(Fixtures.payload("day1"), inEntity: "User", stack: stack)
        return stack
    }

    private func chunks(_ data: Data) -> AsyncStream<[UInt8]> {
        AsyncStream { stream in
            for byte in data { stream.yield([byte]) }
            stream.finish()
        }
    }

    @Test("The error for keys that need an owner advises to name a parent if the call names none")
    func errorAdvisesToNameAParent() async throws {
        let model = try SyncModel(entities: [
            SyncModel.Entity(
                "Repository", attributes: [SyncModel.Attribute("id", .integer)],
                relationships: [SyncModel.Relationship("issues", to: "Issue", many: true, inverse: "repository")]),
            SyncModel.Entity(
                "Issue", primaryKey: ["repository", "number"], attributes: [SyncModel.Attribute("number", .integer)],
                relationships: [SyncModel.Relationship("repository", to: "Repository", inverse: "issues")]),
        ])
        let stack = try DataStack.inMemory(model)
        try await Sync.changes([["id": 5]] as JSONValue, inEntity: "Repository", stack: stack)
        let advice = "if all belong to one Repository, name it as the parent"
        let without = await #expect(throws: SyncError.self) {
            try await Sync.changes([["number": 1]] as JSONValue, inEntity: "Issue", stack: stack)
        }
        #expect(without?.message.hasSuffix(advice) == true)
        let with = await #expect(throws: SyncError.self) {
            try await Sync.changes(
                [["title": "x"]] as JSONValue, inEntity: "Issue", stack: stack, parent: SyncParent("Repository", id: 5))
        }
        #expect(with?.message.contains(advice) == false)
    }

    private typealias Call = @Sendable (SyncOptions) async throws -> SyncResult

    /// Expects that every call fails with the same error for this payload and writes nothing, and returns the error.
    private func error(_ text: String, _ options: SyncOptions = SyncOptions()) async throws -> SyncError {
        let stack = try await store()
        let before = try await stack.contents()
        let data = Data(text.utf8)
        var options = options
        options.chunkSize = 1
        var hooked = options
        hooked.willInsert = { $0.record }
        let calls: [(String, SyncOptions, Call)] = [
            ("bytes", options, { try await Sync.changes(data, inEntity: "User", stack: stack, options: $0) }),
            (
                "pieces", options,
                { try await Sync.changes(.buffers(chunks(data)), inEntity: "User", stack: stack, options: $0) }
            ),
            ("a hook", hooked, { try await Sync.changes(data, inEntity: "User", stack: stack, options: $0) }),
            (
                "a hook, pieces", hooked,
                { try await Sync.changes(.buffers(chunks(data)), inEntity: "User", stack: stack, options: $0) }
            ),
            ("a dry run", options, { try await Sync.plan(data, inEntity: "User", stack: stack, options: $0) }),
            (
                "a dry run, pieces", options,
                { try await Sync.plan(.buffers(chunks(data)), inEntity: "User", stack: stack, options: $0) }
            ),
            (
                "values", options,
                {
                    guard $0.format == .json, let value = try? JSONValue(parsing: data) else {
                        return try await Sync.changes(data, inEntity: "User", stack: stack, options: $0)
                    }
                    return try await Sync.changes(value, inEntity: "User", stack: stack, options: $0)
                }
            ),
        ]
        var errors: [SyncError?] = []
        for (name, options, call) in calls {
            errors.append(await #expect(throws: SyncError.self, "\(name)") { try await call(options) })
        }
        #expect(Set(errors).count == 1)
        #expect(try await stack.contents().differences(from: before) == [])
        let first = try #require(errors.first ?? nil)
        #expect(first.code == .noRecords, "\(first)")
        return first
    }

    @Test(
        "A payload without a readable record fails and writes nothing, not even nested records",
        arguments: [
            #"{"message": "Bad credentials"}"#, "{}", "[{}]", #"[{"x": 1}, {"y": 2}]"#, #"[{"id": null}]"#,
            #"[{"id": "first"}]"#, #"[{"id": {"value": 1}}]"#,
            #"[{"company": {"id": 1, "name": "Other"}, "notes": [{"id": 77}]}, {"tag_ids": [4]}]"#,
            #"{"company": {"id": 1, "name": "Other"}, "notes": [{"id": 77}]}"#,
        ])
    func unreadableRecordsWriteNothing(text: String) async throws {
        let found = try await error(text)
        #expect(found.entity == "User")
        #expect(found.path == "$")
        #expect(found.message.contains("'id'"), "\(found)")
    }

    @Test(
        "The error for one of several lists names each part of the primary key",
        arguments: [
            (#"[{"kind": "a"}, {"num": 1}]"#, "none of 2 has a readable 'kind', 'num'"),
            (#"[{"kind": "a"}]"#, "the record has no readable 'kind', 'num'"),
            (#"{"kind": "a"}"#, "the record has no readable 'kind', 'num'"),
        ])
    func listWithoutCompositeKeys(_ list: String, _ message: String) async throws {
        let model = """
            {"entities": {"Row": {"primaryKey": ["kind", "num"], "attributes": {"kind": "string", "num": "integer"}},
              "User": {"attributes": {"id": "integer"}}}}
            """
        let stack = try DataStack.inMemory(SyncModel(schemaData: Data(model.utf8)))
        let json = Data("{\"rows\": \(list), \"users\": [{\"id\": 1}]}".utf8)
        let error = await #expect(throws: SyncError.self) {
            try await Sync.changes(json, inEntities: ["rows": "Row", "users": "User"], stack: stack)
        }
        #expect(error?.message == "no record can be read: \(message)")
        #expect(error?.path == "rows")
    }

    @Test("An empty payload fails in every format", arguments: ["", " \n\r\t\n", "\u{FEFF}"])
    func emptyPayloadFails(text: String) async throws {
        var lines = SyncOptions()
        lines.format = .ndjson
        var below = SyncOptions()
        below.keyPath = ["data"]
        for options in [SyncOptions(), lines, below] {
            #expect(try await error(text, options).message.contains("empty"))
        }
    }

    @Test("NDJSON without a key in any record fails")
    func lines() async throws {
        var lines = SyncOptions()
        lines.format = .ndjson
        #expect(try await error("{\"x\": 1}\n\n{\"y\": 2}\n", lines).message.contains("none of 2"))
    }

    @Test(
        "The error for an object without a key names the lists inside it",
        arguments: [
            (#"{"count": 2, "next": null, "results": [{"id": 1}, {"id": 2}]}"#, [], [["results"]]),
            (#"{"users": [{"id": 1}], "errors": [], "groups": [{"id": 2}], "x": ["a"]}"#, [], [["users"], ["groups"]]),
            (
                #"{"data": {"page": {"items": [{"id": 1}]}}, "tags": [{"t": 1}]}"#, [],
                [["tags"], ["data", "page", "items"]]
            ),
            (#"{"total": 0, "results": []}"#, [], [["results"]]),
            (#"{"a.b": [{}], "c\n\"": [{}]}"#, [], [["a.b"], ["c\n\""]]),
            (#"{"data": {"items": [{"id": 1}]}}"#, ["data"], [["data", "items"]]),
            (#"{"message": "none", "codes": [1, 2]}"#, [], []), (#"[{"results": [{"id": 1}]}]"#, [], []),
        ] as [(String, [String], [[String]])])
    func errorNamesLists(text: String, keyPath: [String], lists: [[String]]) async throws {
        var options = SyncOptions()
        options.keyPath = .init(keyPath)
        let found = try await error(text, options)
        #expect(found.keyPaths == lists)
        #expect(found.path == (keyPath.first ?? "$"))
        for list in lists { #expect(found.description.contains("\(list)")) }
    }

    @Test("A payload without a readable record fails for a parent too")
    func parentNeedsRecords() async throws {
        let stack = try await store()
        let before = try await stack.contents()
        for payload in [[["text": "a"]], ["message": "Not found"]] as [JSONValue] {
            let error = await #expect(throws: SyncError.self) {
                try await Sync.changes(payload, inEntity: "Note", stack: stack, parent: SyncParent("User", id: 1))
            }
            #expect(error?.code == .noRecords)
        }
        #expect(try await stack.contents() == before)
    }

    @Test("Dictionaries without a key fail, and an empty array of them deletes all rows")
    func dictionariesWithoutKeyFail() async throws {
        let stack = try await store()
        let records: [[String: Any]] = [["message": "Bad credentials"]]
        let error = await #expect(throws: SyncError.self) {
            try await Sync.changes(records, inEntity: "User", stack: stack)
        }
        #expect(error?.code == .noRecords)
        #expect(try await stack.count("User") == 8)
        let none: [[String: Any]] = []
        try await Sync.changes(none, inEntity: "User", stack: stack)
        #expect(try await stack.count("User") == 0)
    }

    @Test("A payload in chunks succeeds if one record in any chunk has a key", arguments: 0..<3)
    func oneKeyIsEnough(place: Int) async throws {
        let records = (0..<3).map { $0 == place ? #"{"id": 1}"# : #"{"first_name": "nobody"}"# }
        var options = SyncOptions()
        options.chunkSize = 1
        let stack = try await store()
        let json = Data("[\(records.joined(separator: ","))]".utf8)
        try await Sync.changes(.buffers(chunks(json)), inEntity: "User", stack: stack, options: options)
        #expect(try await stack.fetch("User").map(\.key) == [.integer(1)])
    }

    @Test("An empty list is valid and deletes all rows")
    func emptyListIsValid() async throws {
        for text in ["[]", " [ ] ", "\u{FEFF}[]"] {
            let stack = try await store()
            let whole = try await Sync.changes(Data(text.utf8), inEntity: "User", stack: stack)
            #expect(whole["User"].deletedCount == 8)
            let other = try await store()
            try await Sync.changes(.buffers(chunks(Data(text.utf8))), inEntity: "User", stack: other)
            #expect(try await other.count("User") == 0)
        }
    }

    @Test("Records that are rejected for a missing value count as readable")
    func rejectedRecordsAreReadable() async throws {
        let model = try SyncModel(entities: [
            SyncModel.Entity(
                "User",
                attributes: [
                    SyncModel.Attribute("id", .integer), SyncModel.Attribute("code", .string, isOptional: false),
                ])
        ])
        let stack = try DataStack.inMemory(model)
        try await Sync.changes([["id": 1, "code": "a"]], inEntity: "User", stack: stack)
        let result = try await Sync.changes([["id": 2]], inEntity: "User", stack: stack)
        #expect(result.diagnostics.map(\.kind) == [.missingRequiredValue])
        #expect(result["User"].deleted == [.integer(1)])
    }

    @Test("A single row without a key gives primaryKeyMissing")
    func singleRowNeedsItsKey() async throws {
        let stack = try await store()
        let error = await #expect(throws: SyncError.self) {
            try await Sync.insertOrUpdate(["first_name": "nobody"], inEntity: "User", stack: stack)
        }
        #expect(error?.code == .primaryKeyMissing)
    }
}
