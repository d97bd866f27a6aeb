import Foundation
import Sync
import Testing

@Suite("Diagnostics")
struct DiagnosticTests {
    private func model() throws -> SyncModel {
        try SyncModel(entities: [
            SyncModel.Entity(
                "User",
                attributes: [
                    SyncModel.Attribute("id", .integer), SyncModel.Attribute("age", .integer),
                    SyncModel.Attribute("code", .string, isOptional: false),
                ],
                relationships: [
                    SyncModel.Relationship("notes", to: "Note", many: true, inverse: "user"),
                    SyncModel.Relationship("boss", to: "User", remoteKey: "org.chart.boss"),
                ]),
            SyncModel.Entity(
                "Note",
                attributes: [
                    SyncModel.Attribute("id", .integer), SyncModel.Attribute("title", .string, isOptional: false),
                ],
                relationships: [SyncModel.Relationship("user", to: "User", inverse: "notes")]),
            SyncModel.Entity("Memo", parent: "Note"), SyncModel.Entity("Letter", parent: "Note"),
        ])
    }

    private func diagnostics(_ json: String, after first: String = "[]") async throws -> [String] {
        let stack = try DataStack.inMemory(model())
        try await Sync.changes(Data(first.utf8), inEntity: "User", stack: stack)
        return try await Sync.changes(Data(json.utf8), inEntity: "User", stack: stack).diagnostics
            .map { "\($0.kind) \($0.entity ?? "-") \($0.key ?? "-") \($0.path)" }
    }

    @Test("A diagnostic names its record by key, wherever the record has it")
    func diagnosticNamesKey() async throws {
        let found = try await diagnostics(
            """
            [{"age": "old", "id": 1, "code": "a", "notes": [{"title": "t", "id": 5, "user": 7}, {"id": "x"}]},
             {"id": 2, "code": "b", "notes": 5}]
            """)
        #expect(
            found == [
                "typeMismatch User 1 [0].age", "typeMismatch Note - [0].notes[1].id",
                "missingPrimaryKey Note - [0].notes[1]", "invalidRelationshipValue User 2 [1].notes",
            ])
    }

    @Test("A diagnostic of the store has the path of the record, through lists and dotted keys")
    func storeDiagnosticHasPath() async throws {
        let found = try await diagnostics(
            """
            [{"id": 1, "code": "a", "notes": [{"id": 5, "title": "t"}, {"id": 6}]}, {"id": 2},
             {"id": 3, "code": "c", "org": {"chart": {"boss": {"id": 4}}}}]
            """)
        #expect(
            found.sorted() == [
                "missingRequiredValue Note 6 [0].notes[1]", "missingRequiredValue User 2 [1]",
                "missingRequiredValue User 4 [2].org.chart.boss",
            ])
    }

    @Test("A value in place of an object around a relationship is reported; null removes the link", arguments: [1, 2])
    func valueAroundRelationship(depth: Int) async throws {
        let stack = try DataStack.inMemory(model())
        func sync(_ value: String) async throws -> [SyncDiagnostic] {
            let wrapper = depth == 1 ? value : #"{"chart": \#(value)}"#
            let json = #"[{"id": 1, "code": "a", "org": \#(wrapper)}, {"id": 2, "code": "b"}]"#
            return try await Sync.changes(Data(json.utf8), inEntity: "User", stack: stack).diagnostics
        }
        _ = try await sync(depth == 1 ? #"{"chart": {"boss": 2}}"# : #"{"boss": 2}"#)
        let place = depth == 1 ? "org" : "org.chart"
        for (value, found) in [("[{}]", "an array"), (#""gone""#, "a string")] {
            let diagnostics = try await sync(value)
            #expect(diagnostics.map(\.path) == ["[0].\(place)"])
            #expect(diagnostics.map(\.message) == ["expected an object at \(place), found \(found)"])
            #expect(try await stack.count("User", where: "boss.id == 2") == 1)
        }
        #expect(try await sync("null").isEmpty)
        #expect(try await stack.count("User", where: "boss.id == 2") == 0)
    }

    @Test("A diagnostic for a row of another entity has the path of the record")
    func mismatchHasPath() async throws {
        let stack = try DataStack.inMemory(model())
        try await Sync.changes([["id": 5, "title": "t"]], inEntity: "Memo", stack: stack)
        let result = try await Sync.changes(
            [["id": 4, "title": "t"], ["id": 5, "title": "t"]], inEntity: "Letter", stack: stack)
        #expect(result.diagnostics.map(\.kind) == [.entityMismatch])
        #expect(result.diagnostics.map(\.path) == ["[1]"])
    }
}

@Suite("Owners named by nested records")
struct WayBackTests {
    @Test("A row that a nested record names as its owner is kept and updated, but the enclosing record is the owner")
    func enclosingRecordStaysOwner() async throws {
        let stack = try DataStack.inMemory(Fixtures.model("company"))
        try await Sync.changes([["id": 7], ["id": 8], ["id": 9]], inEntity: "Company", stack: stack)
        let json: JSONValue = [
            ["id": 7, "users": [["id": 1, "company_id": 8], ["id": 2, "company": ["id": 9, "name": "named"]]]]
        ]
        let result = try await Sync.changes(json, inEntity: "Company", stack: stack)
        #expect(result["Company"].deleted.isEmpty)
        #expect(try await stack.count("User", where: "company.id == 7") == 2)
        #expect(try await stack.fetch("Company", id: 9)?["name"]?.string == "named")
        #expect(try await Sync.changes(json, inEntity: "Company", stack: stack).isEmpty)
    }
}
