import SyncCore
import SyncSQLite
import Testing

@testable import SyncTesting

@Suite("Expectations of rows")
struct ExpectationMatcherTests {
    /// The links of all rows, by relationship name.
    struct Links: RowSource {
        var rows: [String: [StoredRowView]]

        func targets(of row: StoredRowView, along relationship: String) async throws -> [StoredRowView] {
            rows[relationship] ?? []
        }
    }

    static let company = StoredRowView(entity: "Company", values: ["id": .integer(5), "name": .string("Five")])
    static let user = StoredRowView(entity: "User", values: ["id": .integer(1), "height": .double(1.7500004)])
    static let links = Links(rows: [
        "company": [company],
        "tags": [2, 1].map { StoredRowView(entity: "Tag", values: ["id": .integer($0)]) },
        "notes": [StoredRowView(entity: "Note", values: [:])],
    ])

    static func model() throws -> SyncModel {
        try SyncModel(entities: [
            SyncModel.Entity(
                "Company", attributes: [SyncModel.Attribute("id", .integer), SyncModel.Attribute("name", .string)]),
            SyncModel.Entity("Note", attributes: [SyncModel.Attribute("text", .string)]),
            SyncModel.Entity("Tag", attributes: [SyncModel.Attribute("id", .integer)]),
            SyncModel.Entity(
                "User",
                attributes: [
                    SyncModel.Attribute("id", .integer), SyncModel.Attribute("height", .double, sourceType: "Float"),
                    SyncModel.Attribute("nick", .string),
                ],
                relationships: [
                    SyncModel.Relationship("boss", to: "User"), SyncModel.Relationship("company", to: "Company"),
                    SyncModel.Relationship("notes", to: "Note", many: true),
                    SyncModel.Relationship("tags", to: "Tag", many: true),
                ]),
        ])
    }

    func paths(_ expected: JSONValue) async throws -> [String] {
        let matcher = ExpectationMatcher(model: try Self.model(), source: Self.links)
        return try await matcher.mismatches(expected, in: Self.user).map(\.path)
    }

    @Test(
        "A row meets expectations of each kind",
        arguments: [
            [:], ["id": 1, "nick": nil], ["height": .number("1.75")], ["boss": nil],
            ["company": ["name": "Five"]], ["company": [:]],
            ["tags": ["count": 2]], ["tags": ["ids": [1, 2]]], ["tags": ["orderedIDs": [2, 1]]],
            ["tags": ["count": 2, "ids": [2, 1], "orderedIDs": [2, 1]]], ["notes": ["count": 1]],
        ] as [JSONValue])
    func meets(_ expected: JSONValue) async throws {
        #expect(try await paths(expected) == [])
    }

    @Test(
        "A row that differs from an expectation is reported with the path of the difference",
        arguments: [
            (["id": 2, "nick": "x"], ["id", "nick"]), (["height": .number("1.76")], ["height"]),
            (["boss": ["id": 1]], ["boss"]), (["boss": [:]], ["boss"]), (["company": nil], ["company"]),
            (["company": ["name": "Six", "id": 5]], ["company.name"]),
            (["tags": ["count": 1]], ["tags.count"]), (["tags": ["ids": [1]]], ["tags.ids"]),
            (["tags": ["ids": [1, 1]]], ["tags.ids"]), (["tags": ["ids": ["1", "2"]]], ["tags.ids"]),
            (["tags": ["orderedIDs": [1, 2]]], ["tags.orderedIDs"]),
            (["tags": ["count": 2, "ids": [1, 2], "orderedIDs": [1, 2]]], ["tags.orderedIDs"]),
        ] as [(JSONValue, [String])])
    func differs(_ expected: JSONValue, _ paths: [String]) async throws {
        #expect(try await self.paths(expected) == paths)
    }

    @Test(
        "An expectation with an unknown or malformed member is an error",
        arguments: [
            ["nickname": "x"], ["tags": [:]], ["tags": [1, 2]], ["tags": nil], ["tags": ["id": [1]]],
            ["tags": ["ids": 1]], ["company": 5], ["notes": ["ids": [1]]], [1],
        ] as [JSONValue])
    func invalidExpectations(_ expected: JSONValue) async {
        await #expect(throws: ScenarioError.self) { try await paths(expected) }
    }

    @Test("A mismatch has the expected and the found value")
    func mismatchValues() async throws {
        let matcher = ExpectationMatcher(model: try Self.model(), source: Self.links)
        let mismatches = try await matcher.mismatches(["tags": ["ids": [7]], "company": nil], in: Self.user)
        #expect(
            mismatches == [
                Mismatch(path: "tags.ids", expected: "[7]", found: "[2, 1]"),
                Mismatch(path: "company", expected: "null", found: #"{"id": 5}"#),
            ])
    }
}
