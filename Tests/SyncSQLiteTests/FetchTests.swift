import Foundation
import GRDB
import SyncCore
import SyncSQLite
import Testing

@Suite struct FetchTests {
    private func users() throws -> DataStack {
        let model = try SyncModel(entities: [
            SyncModel.Entity(
                "User",
                attributes: [
                    SyncModel.Attribute("id", .integer), SyncModel.Attribute("name", .string),
                    SyncModel.Attribute("price", .decimal),
                ])
        ])
        let stack = try DataStack.inMemory(model)
        try stack.insert("User", values: ["id": 3, "name": "b", "price": 10])
        try stack.insert("User", values: ["id": 1, "name": "b", "price": 9.5])
        try stack.insert("User", values: ["id": 2, "name": "a"])
        return stack
    }

    private func ids(_ records: [SyncRow]) -> [Int64] { records.compactMap { $0["id"]?.int } }

    @Test func rowsAreFetchedInKeyOrder() throws {
        #expect(ids(try users().fetch("User")) == [1, 2, 3])
        #expect(ids(try users().fetch("User", limit: 2)) == [1, 2])
        #expect(try users().fetch("User", limit: 0).isEmpty)
    }

    @Test("A predicate may have thousands of alternatives, also of several comparisons each")
    func manyAlternatives() throws {
        let stack = try users()
        let pairs = (1...3000).map { "id == \($0) AND name == 'b'" }
        for text in [
            pairs.joined(separator: " OR "), pairs.map { "(\($0))" }.joined(separator: " OR "),
            "id > 0 AND (\(pairs.joined(separator: " OR ")))",
        ] {
            #expect(ids(try stack.fetch("User", where: RowPredicate(parsing: text))) == [1, 3])
        }
    }

    @Test func rowsAreFetchedInTheGivenOrderThenByKey() throws {
        let stack = try users()
        #expect(ids(try stack.fetch("User", orderedBy: "name")) == [2, 1, 3])
        #expect(ids(try stack.fetch("User", orderedBy: "-name")) == [1, 3, 2])
        #expect(ids(try stack.fetch("User", orderedBy: ["-name", "-id"])) == [3, 1, 2])
        #expect(ids(try stack.fetch("User", orderedBy: "-name, -id")) == [3, 1, 2])
        #expect(ids(try stack.fetch("User", orderedBy: "name,-id")) == [2, 3, 1])
        #expect(ids(try stack.fetch("User", orderedBy: RowOrder([.init("name", ascending: false)]))) == [1, 3, 2])
    }

    @Test func decimalsAreOrderedByValue() throws {
        #expect(ids(try users().fetch("User", orderedBy: "price")) == [2, 1, 3])
    }

    @Test func unknownAttributesAndEntitiesThrowTypedErrors() throws {
        let stack = try users()
        #expect(
            try #require(throws: SyncError.self) { try stack.fetch("User", orderedBy: "age") }.code == .unknownAttribute
        )
        let error = try #require(throws: SyncError.self) { try stack.fetch("User", orderedBy: "name, age") }
        #expect(error.message.contains("'age'"), "\(error)")
        #expect(try #require(throws: SyncError.self) { try stack.fetch("Usr") }.code == .unknownEntity)
    }

    @Test func keysAreCoercedToTheirType() throws {
        let stack = try users()
        #expect(try stack.fetch("User", id: "2")?["name"]?.string == "a")
        #expect(try stack.fetch("User", id: 2.0)?["name"]?.string == "a")
        #expect(try stack.fetch("User", id: 7) == nil)
        #expect(try stack.fetch("User", id: "x") == nil)
        #expect(try stack.fetch("User", id: nil) == nil)
    }

    @Test func fetchesOfAParentEntityIncludeItsSubEntities() throws {
        let stack = try DataStack.inMemory(Models.trees())
        try stack.insert("Dog", values: ["id": 2, "tricks": 1])
        try stack.insert("Cat", values: ["id": 1])
        try stack.insert("Short", values: ["code": 5, "title": "S"])
        try stack.insert("Film", values: ["code": 4])
        try stack.insert("Book", values: ["isbn": "B"])
        #expect(try stack.fetch("Animal").map(\.entity) == ["Cat", "Dog"])
        #expect(try stack.fetch("Dog").map(\.entity) == ["Dog"])
        #expect(try stack.count("Animal") == 2)
        #expect(try stack.count("Dog") == 1)
        #expect(try stack.fetch("Animal", id: 2)?.entity == "Dog")
        #expect(try stack.fetch("Cat", id: 2) == nil)
        #expect(try stack.fetch("Film").map(\.key) == [.integer(4), .integer(5)])
        #expect(try stack.fetch("Media").map(\.key) == [.integer(5), .integer(4), .text("B")])
        #expect(try stack.fetch("Film", id: 5)?["minutes"] == .null)
    }

    @Test func keysAreReportedInTheFormOfTheirType() throws {
        for (type, value, expected) in [
            (AttributeType.date, "2024-02-29T18:29:59.999Z", PrimaryKeyValue.text("2024-02-29T18:29:59.999Z")),
            (.date, "2024-02-29", .text("2024-02-29T00:00:00Z")),
            (.uuid, "e621e1f8-c36c-495a-93fc-0c247a3e6e5f", .text("E621E1F8-C36C-495A-93FC-0C247A3E6E5F")),
            (.decimal, 1.5, .text("1.5")), (.double, 1.5, .double(1.5)), (.string, "x", .text("x")),
        ] as [(AttributeType, JSONValue, PrimaryKeyValue)] {
            let stack = try DataStack.inMemory(
                SyncModel(entities: [
                    SyncModel.Entity("Row", primaryKey: "code", attributes: [SyncModel.Attribute("code", type)])
                ]))
            try stack.insert("Row", values: ["code": value])
            #expect(try stack.fetch("Row")[0].key == expected)
            #expect(try stack.fetch("Row", id: value)?.key == expected)
        }
    }

    @Test func rowDescriptionsListTheValues() throws {
        let stack = try users()
        #expect(try stack.fetch("User", id: 1)?.description == #"User 1 (id: 1, name: "b", price: 9.5)"#)
        #expect(try stack.fetch("User", id: 2)?.description == #"User 2 (id: 2, name: "a")"#)
    }

    @Test func conditionsFilterFetchesAndCounts() throws {
        let stack = try users()
        #expect(ids(try stack.fetch("User", where: "name == 'b' AND price > 9.75")) == [3])
        #expect(try stack.count("User", where: "price == nil") == 1)
        #expect(ids(try stack.fetch("User", where: .where("id IN %@", [2, 3]), orderedBy: "-id", limit: 1)) == [3])
        let text = "name BEGINSWITH[c] 'B'"
        #expect(try stack.count("User", where: text) == 2)
        #expect(try stack.fetch("User", where: text, orderedBy: "-id").count == 2)
        let error = try #require(throws: SyncError.self) { try stack.fetch("User", where: "name ==") }
        #expect(error.code == .invalidPredicate)
        #expect(throws: SyncError.self) { try stack.count("User", where: "nothing == 1") }
    }

    @Test func conditionsApplyToRowsOfTheEntityOnly() throws {
        let stack = try DataStack.inMemory(Models.trees())
        try stack.insert("Dog", values: ["id": 2, "tricks": 1])
        try stack.insert("Cat", values: ["id": 1])
        #expect(try stack.fetch("Dog", where: "name == '?'").map(\.entity) == ["Dog"])
        #expect(try stack.count("Animal", where: "name == '?' OR id == 7") == 2)
    }
}
