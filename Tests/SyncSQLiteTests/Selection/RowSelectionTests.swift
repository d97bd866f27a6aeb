import Foundation
import SyncCore
import SyncSQLite
import Testing

@Suite("Row selection")
struct RowSelectionTests {
    /// Creates a store of users and companies. Each company has a user as its owner.
    private func stack() throws -> DataStack {
        let model = try SyncModel(entities: [
            SyncModel.Entity(
                "User",
                attributes: [
                    SyncModel.Attribute("id", .integer), SyncModel.Attribute("name", .string),
                    SyncModel.Attribute("size", .integer),
                    SyncModel.Attribute("price", .decimal),
                ],
                relationships: [
                    SyncModel.Relationship("company", to: "Company", inverse: "users"),
                    SyncModel.Relationship("owned", to: "Company", inverse: "owner"),
                ]),
            SyncModel.Entity(
                "Company", attributes: [SyncModel.Attribute("id", .string), SyncModel.Attribute("name", .string)],
                relationships: [
                    SyncModel.Relationship("users", to: "User", many: true, inverse: "company"),
                    SyncModel.Relationship("owner", to: "User", inverse: "owned"),
                ]),
        ])
        let stack = try DataStack.inMemory(model)
        let ypsilon = try stack.insert("Company", values: ["id": "y", "name": "Ypsilon"])
        let xerxes = try stack.insert("Company", values: ["id": "x", "name": "Xerxes"])
        try stack.insert(
            "User", values: ["id": 1, "name": "Ada", "size": 10, "price": 9],
            relationships: ["company": [ypsilon], "owned": [xerxes]])
        try stack.insert(
            "User", values: ["id": 2, "name": "Bo", "price": 10.5],
            relationships: ["company": [xerxes], "owned": [ypsilon]])
        try stack.insert("User", values: ["id": 3])
        return stack
    }

    /// Returns the rows as text, with `-` for NULL.
    private func rows(
        _ stack: DataStack, _ columns: [String]?, orderedBy order: RowOrder = .byKey, limit: Int? = nil,
        offset: Int = 0
    ) async throws -> [String] {
        let selection = try stack.selection(
            of: "User", columns: columns, orderedBy: order, limit: limit, offset: offset)
        let types = selection.columns.map(\.type)
        let rows = Lines()
        try await stack.forEachRow(of: selection) { row in
            let values = types.indices.map { column -> String in
                switch row.storage(column) {
                case .null: "-"
                case .integer: "\(row.integer(column))"
                case .real: "\(row.real(column))"
                case .text: String(decoding: row.text(column), as: UTF8.self)
                case .blob: "blob"
                }
            }
            rows.add(values.joined(separator: " "))
        }
        return rows.all
    }

    private final class Lines: @unchecked Sendable {
        private let lock = NSLock()
        private var lines: [String] = []

        var all: [String] { lock.withLock { lines } }

        func add(_ line: String) { lock.withLock { lines.append(line) } }
    }

    @Test("All attributes and to-one relationships are selected by default, from either end")
    func selectsAllColumnsByDefault() async throws {
        let stack = try stack()
        let selection = try stack.selection(of: "User")
        #expect(selection.columns.map(\.name) == ["id", "name", "size", "price", "company", "owned"])
        #expect(selection.columns.map(\.type) == [.integer, .string, .integer, .decimal, .string, .string])
        #expect(try await rows(stack, nil) == ["1 Ada 10 9 y x", "2 Bo - 10.5 x y", "3 - - - - -"])
    }

    @Test("Key paths and counts of to-many relationships can be selected")
    func selectsKeyPathsAndCounts() async throws {
        let found = try await rows(
            stack(), ["company.name", "company.owner.name", "size", "company.users.@count", "owned"])
        #expect(found == ["Ypsilon Bo 10 1 x", "Xerxes Ada - 1 y", "- - - 0 -"])
    }

    @Test("Rows are ordered by key paths, with limit and offset")
    func ordersByKeyPaths() async throws {
        let stack = try stack()
        #expect(try await rows(stack, ["id"], orderedBy: "company.name") == ["3", "2", "1"])
        #expect(try await rows(stack, ["id"], orderedBy: "-company") == ["1", "2", "3"])
        #expect(try await rows(stack, ["id"], orderedBy: "owned.users.@count", limit: 2) == ["3", "1"])
        #expect(try await rows(stack, ["id"], orderedBy: "-company.owner.price") == ["1", "2", "3"])
        #expect(try await rows(stack, ["id"], limit: 1, offset: 1) == ["2"])
        #expect(try await rows(stack, ["id"], offset: 2) == ["3"])
        #expect(try await rows(stack, ["id"], limit: 0) == [])
        #expect(try stack.fetch("User", orderedBy: "company.name").compactMap { $0["id"]?.int } == [3, 2, 1])
    }

    @Test("A temporary key reads as nil")
    func temporaryKeyReadsAsNil() async throws {
        let stack = try stack()
        let row = try await stack.insert("User", values: ["name": "New"])
        let selection = try stack.selection(of: "User", columns: ["id", "name"], where: "name == 'New'")
        let found = Lines()
        try await stack.forEachRow(of: selection) { row in found.add("\(row.storage(0)) \(row.storage(1))") }
        #expect(found.all == ["null text"])
        #expect(row["id"]?.isNull == true)
    }

    @Test(
        "Columns that are unknown or have several values are rejected with a hint",
        arguments: [
            ("wings", SyncError.Code.unknownAttribute, "available: id, name"),
            ("nmae", .unknownAttribute, "did you mean 'name'?"),
            ("company.nam", .unknownAttribute, "did you mean 'name'?"),
            ("firm.name", .unknownAttribute, "unknown relationship 'firm'"),
            ("name.length", .unknownAttribute, "'name' is an attribute"),
            ("company.users", .invalidOption, "users.@count"),
            ("company.users.name", .invalidOption, "is a to-many relationship"),
            ("company.@count", .invalidOption, "to-many"),
            ("", .unknownAttribute, "unknown attribute ''"), ("company.", .unknownAttribute, "unknown attribute ''"),
        ])
    func rejectsInvalidColumns(path: String, code: SyncError.Code, message: String) throws {
        let stack = try stack()
        let column = try #require(throws: SyncError.self) { _ = try stack.selection(of: "User", columns: [path]) }
        #expect(column.code == code)
        #expect(column.message.contains(message), "\(column.message)")
        let order = try #require(throws: SyncError.self) {
            _ = try stack.fetch("User", orderedBy: RowOrder([RowOrder.Term(path)]))
        }
        #expect(order.code == code)
    }

    @Test("An error of the caller ends the reading and is rethrown")
    func callerErrorEndsReading() async throws {
        struct Enough: Error {}
        let stack = try stack()
        let selection = try stack.selection(of: "User", columns: ["id"])
        let seen = Lines()
        await #expect(throws: Enough.self) {
            try await stack.forEachRow(of: selection) { row in
                seen.add("\(row.integer(0))")
                throw Enough()
            }
        }
        #expect(seen.all == ["1"])
        #expect(try stack.fetch("User").count == 3)
    }
}
