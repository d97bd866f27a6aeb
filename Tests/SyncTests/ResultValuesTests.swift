import Foundation
import Sync
import Testing

@Suite("Values in results")
struct ResultValuesTests {
    private static let asked: SyncOptions = {
        var options = SyncOptions()
        options.resultDetail = .values
        return options
    }()

    private func day1() async throws -> DataStack {
        let stack = try DataStack.inMemory(Fixtures.model("company"))
        try await Sync.changes(Fixtures.payload("day1"), inEntity: "User", stack: stack)
        return stack
    }

    @Test("A result has values only if the options request them")
    func valuesAreOptional() async throws {
        let result = try await Sync.changes(Fixtures.payload("day2"), inEntity: "User", stack: day1())
        #expect(result.addedLinks == nil && result.removedLinks == nil)
        #expect(result.entities.values.allSatisfy { $0.insertedRows == nil && $0.deletedRows == nil })
        #expect(result.entities.values.allSatisfy { $0.updated.allSatisfy { $0.values == nil } })
    }

    @Test("An update has the old and new value of every changed attribute and to-one relationship")
    func updatesHaveOldAndNewValues() async throws {
        let result = try await Sync.plan(
            Fixtures.payload("day2"), inEntity: "User", stack: day1(), options: Self.asked)
        let user = try #require(result["User"].updated.first { $0.key == .integer(8) })
        #expect(user.values?["company"]?.new == .null)
        #expect(user.values?["company"]?.old != .null)
        let note = try #require(result["Note"].updated.first { $0.key == .integer(14) })
        #expect(note.changedAttributes == ["user"])
        #expect(note.values?.keys.sorted() == ["user"])
        for changes in result.entities.values {
            for update in changes.updated {
                #expect(Set(update.changedAttributes) == Set((update.values ?? [:]).keys))
                #expect((update.values ?? [:]).values.allSatisfy { $0.old != $0.new })
            }
        }
    }

    @Test("A result has the values of inserted rows, without null, and of deleted rows")
    func insertedAndDeletedRowsHaveValues() async throws {
        let stack = try DataStack.inMemory(Fixtures.model("company"))
        let first: JSONValue = [
            [
                "id": 1, "first_name": "Ada", "company": ["id": 7, "name": "Engines"],
                "notes": [["id": 3, "text": "n"]],
            ]
        ]
        let inserted = try await Sync.changes(first, inEntity: "User", stack: stack, options: Self.asked)
        #expect(inserted["User"].insertedRows?.count == 1)
        let ada: [String: JSONValue] = ["id": 1, "firstName": "Ada", "company": 7]
        #expect(inserted["User"].insertedRows?.first == .init(key: .integer(1), values: ada))
        #expect(inserted["Note"].insertedRows?.first?.values == ["id": 3, "text": "n", "user": 1])
        let deleted = try await Sync.changes([], inEntity: "User", stack: stack, options: Self.asked)
        #expect(deleted["User"].deletedRows?.first == .init(key: .integer(1), values: ada))
        #expect(deleted["Note"].deletedRows?.first?.values == ["id": 3, "text": "n", "user": 1])
    }

    @Test("A result with values lists every added and removed link, of a sync and of a plan", arguments: [true, false])
    func linksAreListed(isDryRun: Bool) async throws {
        let stack = try DataStack.inMemory(Fixtures.model("company"))
        func sync(_ json: JSONValue) async throws -> SyncResult {
            try await Sync.changes(json, inEntity: "User", stack: stack, options: Self.asked)
        }
        let added = try await sync([["id": 1, "tag_ids": [], "tags": [["id": 5], ["id": 6]], "company": ["id": 7]]])
        #expect(added.addedLinks?.count == added.linksAdded)
        #expect(added.removedLinks == [])
        let json: JSONValue = [["id": 1, "tags": [["id": 5], ["id": 8]], "company": nil]]
        let changed =
            isDryRun
            ? try await Sync.plan(json, inEntity: "User", stack: stack, options: Self.asked) : try await sync(json)
        #expect(changed.addedLinks?.map(Self.text) == ["User 1 tags 8"])
        #expect(changed.removedLinks?.map(Self.text) == ["User 1 company 7", "User 1 tags 6"])
    }

    @Test("A result omits the links that a pending reference adds to a deleted row", arguments: [true, false])
    func linksOfDeletedRowsAreOmitted(hasValues: Bool) async throws {
        let schema = """
            {"entities": {"Ant": {"attributes": {"id": "integer"},
              "relationships": {"boss": {"entity": "Ant", "inverse": "reports"},
                "reports": {"entity": "Ant", "many": true, "inverse": "boss"},
                "likes": {"entity": "Ant", "many": true, "inverse": "likedBy"},
                "likedBy": {"entity": "Ant", "many": true, "inverse": "likes"},
                "friends": {"entity": "Ant", "many": true, "inverse": "friends"}}}}}
            """
        let stack = try DataStack.inMemory(SyncModel(schemaData: Data(schema.utf8)))
        try await Sync.changes(
            [["id": 5, "report_ids": [9], "like_ids": [9], "friend_ids": [9]], ["id": 6, "likes": [["id": 5]]]],
            inEntity: "Ant", stack: stack)
        let options = hasValues ? Self.asked : SyncOptions()
        let result = try await Sync.changes([["id": 9], ["id": 6]], inEntity: "Ant", stack: stack, options: options)
        #expect(result["Ant"].inserted == [.integer(9)] && result["Ant"].deleted == [.integer(5)])
        #expect(result.linksAdded == 0 && result.linksRemoved == 1)
        #expect(result.addedLinks == (hasValues ? [] : nil))
        #expect(result.removedLinks?.map(Self.text) == (hasValues ? ["Ant 6 likes 5"] : nil))
        #expect(try await stack.count("Ant", where: "boss != nil") == 0)
    }

    @Test("A link of a relationship that is its own inverse is removed in both directions with one of its rows")
    func symmetricLinksOfDeletedRowsAreListed() async throws {
        let schema = """
            {"entities": {"Ant": {"attributes": {"id": "integer"},
              "relationships": {"friends": {"entity": "Ant", "many": true, "inverse": "friends"}}}}}
            """
        let stack = try DataStack.inMemory(SyncModel(schemaData: Data(schema.utf8)))
        let json: JSONValue = [["id": 1, "friends": [["id": 1], ["id": 2]]], ["id": 2]]
        let added = try await Sync.changes(json, inEntity: "Ant", stack: stack, options: Self.asked)
        let removed = try await Sync.changes([["id": 2]], inEntity: "Ant", stack: stack, options: Self.asked)
        #expect(added.linksAdded == 3 && removed.linksRemoved == 3)
        #expect(removed.removedLinks == added.addedLinks)
    }

    private static func text(_ link: SyncResult.Link) -> String {
        "\(link.entity) \(link.key) \(link.relationship) \(link.target)"
    }

    @Test("A result with values lists as many links as it counts", arguments: ["day1", "day2"])
    func listedLinksEqualCounts(_ day: String) async throws {
        let stack = day == "day1" ? try DataStack.inMemory(Fixtures.model("company")) : try await day1()
        let result = try await Sync.changes(
            Fixtures.payload(day), inEntity: "User", stack: stack, options: Self.asked)
        #expect(result.linksAdded > 0)
        #expect(result.addedLinks?.count == result.linksAdded)
        #expect(result.removedLinks?.count == result.linksRemoved)
    }

    @Test("A result with values lists the links of resolved pending references")
    func resolvedReferencesAreListed() async throws {
        let stack = try DataStack.inMemory(Fixtures.model("company"))
        let users: JSONValue = [["id": 1, "company_id": 7, "tag_ids": [5]]]
        try await Sync.changes(users, inEntity: "User", stack: stack)
        let companies: JSONValue = [["id": 7, "name": "Engines"]]
        let result = try await Sync.changes(companies, inEntity: "Company", stack: stack, options: Self.asked)
        #expect(result["User"].updated.first?.values == ["company": .init(old: nil, new: 7)])
        #expect(result.addedLinks?.map(Self.text) == ["User 1 company 7"])
        let tags: JSONValue = [["id": 5, "name": "t"]]
        let linked = try await Sync.changes(tags, inEntity: "Tag", stack: stack, options: Self.asked)
        #expect(linked.addedLinks?.map(Self.text) == ["Tag 5 users 1"])
    }

    @Test("A result with values survives encoding and decoding")
    func valuesAreCodable() async throws {
        let result = try await Sync.changes(
            Fixtures.payload("day2"), inEntity: "User", stack: day1(), options: Self.asked)
        #expect(result["User"].insertedRows?.isEmpty == false)
        let data = try JSONEncoder().encode(result)
        #expect(try JSONDecoder().decode(SyncResult.self, from: data) == result)
    }

    @Test("Requested values change neither the rows nor the counts")
    func valuesChangeNothingElse() async throws {
        let (plain, asked) = (try await day1(), try await day1())
        let day2 = try Fixtures.payload("day2")
        let expected = try await Sync.changes(day2, inEntity: "User", stack: plain)
        var result = try await Sync.changes(day2, inEntity: "User", stack: asked, options: Self.asked)
        (result.addedLinks, result.removedLinks) = (nil, nil)
        for name in result.entities.keys {
            result.entities[name]?.insertedRows = nil
            result.entities[name]?.deletedRows = nil
            for index in result[name].updated.indices { result.entities[name]?.updated[index].values = nil }
        }
        #expect(result == expected)
        #expect(try await asked.contents() == plain.contents())
    }

    @Test("A paged import reports the values before its first page and after its last")
    func pagesReportFirstAndLastValues() async throws {
        let stack = try DataStack.inMemory(Fixtures.model("company"))
        let before: JSONValue = [["id": 1, "first_name": "A", "age": 1], ["id": 2, "first_name": "B"]]
        try await Sync.changes(before, inEntity: "User", stack: stack)
        let texts = [
            #"[{"id": 1, "first_name": "X"}, {"id": 3, "first_name": "new", "age": 5}]"#,
            #"[{"id": 1, "first_name": "Y", "age": null}, {"id": 3, "age": null, "last_name": "L"}]"#,
        ]
        let pages = AsyncStream { stream in
            for text in texts { stream.yield(Data(text.utf8)) }
            stream.finish()
        }
        let result = try await Sync.changes(pages: pages, inEntity: "User", stack: stack, options: Self.asked)
        let user = result["User"]
        #expect(user.updated.map(\.key) == [.integer(1)])
        #expect(
            user.updated.first?.values == ["firstName": .init(old: "A", new: "Y"), "age": .init(old: 1, new: nil)])
        #expect(
            user.insertedRows == [.init(key: .integer(3), values: ["id": 3, "firstName": "new", "lastName": "L"])])
        #expect(user.deletedRows == [.init(key: .integer(2), values: ["id": 2, "firstName": "B"])])
    }

    @Test("A changed key is reported with its old and new value")
    func changedKeyIsReported() async throws {
        let stack = try await day1()
        let updated = try await Sync.update(
            id: 1, with: ["id": 99], inEntity: "User", stack: stack, options: Self.asked)
        #expect(updated?.result["User"].updated.first?.values == ["id": .init(old: 1, new: 99)])
    }
}

@Suite("JSON values in Codable types")
struct JSONValueCodingTests {
    @Test(
        "Every JSON value is the same after encoding and decoding",
        arguments: [
            "null", "true", "7", "-7.25", "9223372036854775807", "0.1", "12345678901234567890.123456789", #""text""#,
            #"["a",[null],{}]"#, #"{"a":{"b":1},"c":[]}"#, #""2024-01-01T00:00:00Z""#, "1e+200",
        ])
    func roundTrip(_ text: String) throws {
        let value = try JSONValue(parsing: text)
        #expect(try JSONDecoder().decode(JSONValue.self, from: JSONEncoder().encode(value)) == value)
    }
}
