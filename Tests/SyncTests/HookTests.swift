import Foundation
import Sync
import Testing

@Suite("The insert hook")
struct HookTests {
    /// The insertions that a hook received, in order. `@unchecked Sendable`: only touched while `lock` is held.
    private final class Calls: @unchecked Sendable {
        private let lock = NSLock()
        private var calls: [SyncOptions.Insertion] = []

        func add(_ insertion: SyncOptions.Insertion) { lock.withLock { calls.append(insertion) } }
        var all: [SyncOptions.Insertion] { lock.withLock { calls } }
        /// `Note 3 in User 1`
        var texts: [String] {
            all.map { call in
                let parent = call.parent.map { " in \($0.entity) \(Self.text($0.id == .null ? nil : $0.id))" } ?? ""
                return "\(call.entity) \(Self.text(call.record["id"]))\(parent)"
            }
        }

        private static func text(_ id: JSONValue?) -> String {
            guard case .number(let text)? = id else { return "-" }
            return text
        }
    }

    private func changing(_ change: @escaping @Sendable (SyncOptions.Insertion) throws -> JSONValue) -> SyncOptions {
        var options = SyncOptions()
        options.willInsert = change
        return options
    }

    private static func adding(_ key: String, _ value: JSONValue, to record: JSONValue) -> JSONValue {
        guard case .object(let members) = record else { return record }
        return .object(members.filter { $0.key != key } + [.init(key, value)])
    }

    private func store() throws -> DataStack { try DataStack.inMemory(Fixtures.model("company")) }

    @Test("The insert hook receives each new row once, outer rows first, and no stored row")
    func hookReceivesEachNewRow() async throws {
        let stack = try store()
        try await Sync.changes([["id": 1, "company": ["id": 7]]], inEntity: "User", stack: stack)
        let calls = Calls()
        let options = changing {
            calls.add($0); return $0.record
        }
        let json: JSONValue = [
            ["id": 1, "notes": [["id": 3, "text": "new"]], "company": ["id": 7]],
            ["id": 2, "company": ["id": 8, "name": "A"], "tags": [["id": 4]]],
            ["id": 5, "company": ["id": 8, "city": "B"]],
        ]
        let plan = try await Sync.plan(json, inEntity: "User", stack: stack, options: options)
        #expect(calls.texts == ["Note 3 in User 1", "User 2", "User 5", "Company 8 in User 2", "Tag 4 in User 2"])
        let merged: JSONValue = ["name": "A", "id": 8, "city": "B"]
        #expect(calls.all[3].record == merged)
        let result = try await Sync.changes(json, inEntity: "User", stack: stack, options: options)
        #expect(result == plan)
        #expect(calls.all.count == 10)
        #expect(try await Sync.changes(json, inEntity: "User", stack: stack, options: options).isEmpty)
        #expect(calls.all.count == 10)
    }

    @Test("The record of the insert hook replaces all occurrences of the row")
    func hookReplacesAllOccurrences() async throws {
        let stack = try store()
        let options = changing { insertion in
            insertion.entity == "Company" ? Self.adding("name", "hook", to: insertion.record) : insertion.record
        }
        let json: JSONValue = [
            ["id": 1, "company": ["id": 8, "name": "first"]], ["id": 2, "company": ["id": 8, "name": "second"]],
        ]
        try await Sync.changes(json, inEntity: "User", stack: stack, options: options)
        #expect(try await stack.fetch("Company", id: 8)?["name"]?.string == "hook")
        #expect(try await stack.count("User", where: "company.id == 8") == 2)
    }

    @Test("The insert hook may remove keys of all occurrences, and add rows, which it receives too")
    func hookMayAddRows() async throws {
        let stack = try store()
        let calls = Calls()
        let options = changing { insertion in
            calls.add(insertion)
            switch insertion.entity {
            case "User": return ["id": insertion.record["id"] ?? nil, "notes": [["id": 50, "text": "made"]]]
            case "Note": return Self.adding("text", "seen", to: insertion.record)
            default: return insertion.record
            }
        }
        let json: JSONValue = [["id": 1, "age": 4, "company": ["id": 9]], ["id": 1, "age": 5]]
        try await Sync.changes(json, inEntity: "User", stack: stack, options: options)
        #expect(calls.texts == ["User 1", "Note 50 in User 1"])
        #expect(try await stack.fetch("User", id: 1)?["age"] == .null)
        #expect(try await stack.fetch("Note", id: 50)?["text"]?.string == "seen")
        #expect(try await stack.count("Company") == 0)
    }

    @Test("The insert hook receives records under dotted keys, keyless records, and the parent of the call")
    func hookReceivesParents() async throws {
        let model = try SyncModel(entities: [
            SyncModel.Entity(
                "Post", attributes: [SyncModel.Attribute("id", .integer)],
                relationships: [
                    SyncModel.Relationship("author", to: "Person", remoteKey: "meta.by.author"),
                    SyncModel.Relationship("places", to: "Place", many: true, inverse: "post"),
                ]),
            SyncModel.Entity(
                "Person", attributes: [SyncModel.Attribute("id", .integer), SyncModel.Attribute("name", .string)],
                relationships: [SyncModel.Relationship("posts", to: "Post", many: true, inverse: "author")]),
            SyncModel.Entity(
                "Place", attributes: [SyncModel.Attribute("city", .string)],
                relationships: [SyncModel.Relationship("post", to: "Post", inverse: "places")]),
        ])
        let stack = try DataStack.inMemory(model)
        let calls = Calls()
        let options = changing { insertion in
            calls.add(insertion)
            if insertion.entity == "Person" { return Self.adding("name", "hook", to: insertion.record) }
            if insertion.entity == "Place" { return ["city": "hook"] }
            return insertion.record
        }
        let json: JSONValue = [["id": 1, "meta": ["by": ["author": ["id": 2]]], "places": [["city": "a"], [:]]]]
        try await Sync.changes(json, inEntity: "Post", stack: stack, options: options)
        #expect(calls.texts == ["Post 1", "Person 2 in Post 1", "Place - in Post 1", "Place - in Post 1"])
        #expect(try await stack.fetch("Person", id: 2)?["name"]?.string == "hook")
        #expect(try await stack.fetch("Place").compactMap { $0["city"]?.string } == ["hook", "hook"])
        try await Sync.changes(
            [["id": 3]], inEntity: "Post", stack: stack, parent: SyncParent("Person", id: 2), options: options)
        #expect(calls.texts.last == "Post 3 in Person 2")
    }

    @Test("The insert hook replaces records that are nested in the attributes of a JSON:API resource")
    func hookReplacesRecordsInAttributes() async throws {
        let stack = try store()
        var options = changing { insertion in
            switch insertion.entity {
            case "Company": Self.adding("name", "hook", to: insertion.record)
            case "Note": Self.adding("text", "hook", to: insertion.record)
            default: insertion.record
            }
        }
        options.format = .jsonAPI
        let json = #"""
            {"data": [{"type": "users", "id": "1", "attributes": {
              "company": {"id": 7, "name": "x"}, "notes": [{"id": 3, "text": "y"}, {"id": 4}]}}]}
            """#
        let result = try await Sync.changes(Data(json.utf8), inEntity: "User", stack: stack, options: options)
        #expect(result["Note"].inserted == [.integer(3), .integer(4)])
        #expect(try await stack.fetch("Company").map { $0["name"]?.string } == ["hook"])
        #expect(try await stack.fetch("Note").map { $0["text"]?.string } == ["hook", "hook"])
    }

    @Test("A problem of a record in the attributes of a JSON:API resource has the whole path")
    func problemInAttributesHasItsPath() async throws {
        let json = #"{"data": [{"type": "users", "id": "1", "attributes": {"company": {"id": 7, "name": [1]}}}]}"#
        let result = try await Sync.changes(
            Data(json.utf8), inEntity: "User", stack: store(), options: SyncOptions(format: .jsonAPI))
        #expect(result.diagnostics.map(\.path) == ["data[0].attributes.company.name"])
    }

    @Test("The insert hook may supply required values, also if the sync is strict")
    func hookMaySupplyRequiredValues() async throws {
        let model = try SyncModel(entities: [
            SyncModel.Entity(
                "Item",
                attributes: [
                    SyncModel.Attribute("id", .integer), SyncModel.Attribute("name", .string, isOptional: false),
                    SyncModel.Attribute("size", .integer),
                ])
        ])
        let stack = try DataStack.inMemory(model)
        var options = changing { ["id": $0.record["id"] ?? nil, "name": "given", "size": 3] }
        options.isStrict = true
        let result = try await Sync.changes(
            [["id": 1, "size": "huge"]], inEntity: "Item", stack: stack, options: options)
        #expect(result["Item"].insertedCount == 1 && result.diagnostics.isEmpty)
        #expect(try await stack.fetch("Item", id: 1)?["name"]?.string == "given")
        let error = await #expect(throws: SyncError.self) {
            try await Sync.changes([["id": 1, "size": "huge"]], inEntity: "Item", stack: stack, options: options)
        }
        #expect(error?.code == .typeMismatch)
    }

    @Test("An error, another key or a value that is no record, from the insert hook, fails the sync")
    func hookMayFailTheSync() async throws {
        struct Refused: Error {}
        let stack = try store()
        let json: JSONValue = [["id": 1]]
        await #expect(throws: Refused.self) {
            try await Sync.changes(json, inEntity: "User", stack: stack, options: changing { _ in throw Refused() })
        }
        for (answer, code) in [
            (["id": 2], .invalidOption), ([:], .invalidOption), (5, .recordExpected),
        ] as [(JSONValue, SyncError.Code)] {
            let error = await #expect(throws: SyncError.self) {
                try await Sync.changes(json, inEntity: "User", stack: stack, options: changing { _ in answer })
            }
            #expect(error?.code == code)
        }
        #expect(try await stack.count("User") == 0)
    }

    @Test("The insert hook may return a record that names another owner than its list, but may not change the key")
    func hookMayKeepAnotherOwner() async throws {
        let model = try SyncModel(entities: [
            SyncModel.Entity(
                "Repository", primaryKey: ["owner", "name"],
                attributes: [SyncModel.Attribute("owner", .string), SyncModel.Attribute("name", .string)],
                relationships: [SyncModel.Relationship("issues", to: "Issue", many: true, inverse: "repository")]),
            SyncModel.Entity(
                "Issue", primaryKey: ["repository", "number"], attributes: [SyncModel.Attribute("number", .integer)],
                relationships: [SyncModel.Relationship("repository", to: "Repository", inverse: "issues")]),
        ])
        let stack = try DataStack.inMemory(model)
        let json: JSONValue = [["owner": "a", "name": "x", "issues": [["number": 1, "repository": ["b", "y"]]]]]
        for change in [["number": 2], ["repository": ["c", "z"]]] as [JSONValue] {
            let options = changing { insertion in
                guard insertion.entity == "Issue", case .object(let members) = change else { return insertion.record }
                return members.reduce(insertion.record) { Self.adding($1.key, $1.value, to: $0) }
            }
            let error = await #expect(throws: SyncError.self) {
                try await Sync.changes(json, inEntity: "Repository", stack: stack, options: options)
            }
            #expect(error?.code == .invalidOption)
        }
        let result = try await Sync.changes(
            json, inEntity: "Repository", stack: stack, options: changing { $0.record })
        #expect(result["Issue"].inserted == [.composite([.composite([.text("a"), .text("x")]), .integer(1)])])
    }

    @Test("The insert hook works for bytes, NDJSON, dictionaries and single rows")
    func hookWorksInEveryFormat() async throws {
        let options = changing { Self.adding("first_name", "hook", to: $0.record) }
        for form in 0..<4 {
            let stack = try store()
            switch form {
            case 0:
                try await Sync.changes(
                    Data(#"[{"id": 1, "first_name": "x"}]"#.utf8), inEntity: "User", stack: stack, options: options)
            case 1:
                var lines = options
                lines.format = .ndjson
                try await Sync.changes(Data(#"{"id": 1}"#.utf8), inEntity: "User", stack: stack, options: lines)
            case 2:
                try await Sync.changes([["id": 1]] as [[String: Any]], inEntity: "User", stack: stack, options: options)
            default:
                try await Sync.insertOrUpdate(["id": 1] as JSONValue, inEntity: "User", stack: stack, options: options)
            }
            #expect(try await stack.fetch("User", id: 1)?["firstName"]?.string == "hook", "form \(form)")
        }
    }
}
