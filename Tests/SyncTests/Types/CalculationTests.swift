import Foundation
import Sync
import Testing

@Suite("Conditions that calculate or are about one related row")
struct CalculationTests {
    private func stack() async throws -> DataStack {
        let model = """
            {"entities": {
              "User": {"attributes": {"id": "integer", "a": "integer", "b": "integer", "x": "double", "name": "string",
                "nick": "string", "born": "date", "price": "decimal"},
                "relationships": {"notes": {"entity": "Note", "many": true, "inverse": "user"}, "boss": {"entity": "User"}}},
              "Note": {"attributes": {"id": "integer", "stars": "integer", "text": "string"},
                "relationships": {"user": {"entity": "User"}, "tags": {"entity": "Tag", "many": true}}},
              "Tag": {"attributes": {"id": "integer", "name": "string"}}}}
            """
        let stack = try DataStack.inMemory(SyncModel(schemaData: Data(model.utf8)))
        let json = """
            [{"id": 1, "a": 9223372036854775807, "b": 1, "x": 0.5, "name": "Ann", "nick": "Ann", "notes": [
                {"id": 10, "stars": 1, "text": "x"}, {"id": 11, "stars": 5, "text": "y", "tags": [{"id": 1, "name": "new"}]}]},
             {"id": 2, "a": 7, "b": 2, "x": 2, "name": "Bob", "boss": 1, "notes": [{"id": 12, "stars": 5, "text": "x"}]},
             {"id": 3, "a": null, "b": 0, "name": "Cid", "boss": 2}]
            """
        try await Sync.changes(Data(json.utf8), inEntity: "User", stack: stack)
        return stack
    }

    @Test(
        "A condition that calculates or is about one related row matches these rows",
        arguments: [
            ("a + b > 8", [2]), ("a + b == 9", [2]), ("a - b * 2 == 3", [2]), ("(a - b) * 2 == 10", [2]),
            ("a / b == 3", [2]), ("a MOD b == 1", [2]), ("a MOD b == 0", [1]), ("b / b == 1", [1, 2]),
            ("b / b != 1", [3]), ("NOT b / b == 1", [3]), ("2 * b < 3", [1, 3]), ("b + 1 < 3", [1, 3]),
            // An overflow of 64 bits and nil have no value.
            ("a + 1 > 0", [2]), ("a + 1 != 0", [1, 2, 3]), ("(a + 1) MOD 2 == 0", [2]), ("a + 1 - 1 == #a", [2, 3]),
            ("name == #nick", [1]), ("name != #nick", [2, 3]),
            ("x * 2 >= 1", [1, 2]), ("x + b == 4", [2]), ("b / 2.0 == 0.5", [1]), ("x / 0 > 1", []),
            ("boss.b + 1 == b", [2]), ("notes.@count == #b", [3]), ("notes.@count + 1 == 3", [1]),
            ("ANY notes (stars > 4 AND text == 'x')", [2]), ("ANY notes.stars > 4 AND ANY notes.text == 'x'", [1, 2]),
            ("ALL notes (stars > 4)", [2, 3]), ("NONE notes (stars > 4 AND text == 'x')", [1, 3]),
            ("NOT ANY notes (stars > 4 AND text == 'x')", [1, 3]),
            ("ANY notes (ANY tags (name == 'new' AND id < 2))", [1]),
            ("ANY boss.notes (stars == 1)", [2]), ("ANY notes (user.b == 1 AND stars + 1 == 6)", [1]),
        ])
    func rows(text: String, expected: [Int64]) async throws {
        let stack = try await stack()
        let condition = try RowPredicate(parsing: text)
        let found = try await stack.fetch("User", where: condition).compactMap { $0["id"]?.int }
        #expect(found == expected)
        #expect(try RowPredicate(parsing: condition.description) == condition, "\(condition)")
        let matched = try await stack.count("User", where: .where("NOT (\(text))"))
        #expect(matched == 3 - expected.count)
    }

    @Test(
        "An invalid calculation is an error that names the reason",
        arguments: [
            ("a + name > 1", "'+' requires integers or doubles, not string"),
            ("price + 1 > 2", "'+' requires integers or doubles, not decimal"),
            ("a == #name", "values of type integer and string cannot be compared"),
            ("a + nil > 1", "nil cannot be used in a calculation"),
            ("x MOD 2 == 1", "MOD requires integers"),
            ("notes + 1 > 2", "'notes' is a relationship"), ("ANY name (id == 1)", "requires a relationship"),
            ("ANY notes (nothing == 1)", "unknown attribute or relationship 'nothing'"),
            ("a + > 1", "expected an attribute"),
        ])
    func invalidCalculationIsError(text: String, message: String) async throws {
        let stack = try await stack()
        let error = await #expect(throws: SyncError.self) {
            try await stack.count("User", where: try RowPredicate(parsing: text))
        }
        #expect(error?.code == .invalidPredicate)
        #expect(error?.message.contains(message) == true, "\(error?.description ?? "")")
    }
}
