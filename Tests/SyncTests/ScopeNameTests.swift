import Foundation
import Sync
import Testing

@Suite("The scope of an entity that references itself")
struct ScopeNameTests {
    static let names = [
        "parent", "all", "any", "in", "not", "nil", "between", "self", "count", "parent node", "parent-node", "o'clock",
        "parent`s", "über", "$ref", "@id", "@count", "id > 0 OR id", "1 == 1 OR id", "id == nil) OR (id",
    ]

    @Test(
        "The scope of an entity that references itself is its roots, whatever the relationship is called",
        arguments: names)
    func scopeIsTheRoots(name: String) async throws {
        let stack = try stack(name)
        let json = #"[{"id": 1}, {"id": 2, "up": 1}, {"id": 3, "up": 2}, {"id": 8}]"#
        try await Sync.changes(Data(json.utf8), inEntity: "Node", stack: stack)
        let result = try await Sync.changes(Data(#"[{"id": 1}]"#.utf8), inEntity: "Node", stack: stack)
        #expect(result["Node"].deleted == [.integer(8)])
        #expect(try await stack.count("Node") == 3)
    }

    @Test("A condition finds the roots by the escaped name of the relationship", arguments: names)
    func escapedNames(name: String) async throws {
        let stack = try stack(name)
        try await Sync.changes(Data(#"[{"id": 1}, {"id": 2, "up": 1}]"#.utf8), inEntity: "Node", stack: stack)
        let escaped = name.replacing("\\", with: "\\\\").replacing("'", with: "\\'")
        let condition = try RowPredicate(parsing: "#'\(escaped)' == nil")
        #expect(try await stack.fetch("Node", where: condition).map { $0["id"]?.int } == [1])
        #expect(try RowPredicate(parsing: condition.description) == condition)
        #expect(try await stack.fetch("Node", where: .where("#'\(escaped)'.id == 1")).map { $0["id"]?.int } == [2])
    }

    private func stack(_ name: String) throws -> DataStack {
        let node = SyncModel.Entity(
            "Node", attributes: [.init("id", .integer)],
            relationships: [
                .init(name, to: "Node", inverse: "children", remoteKey: "up"),
                .init("children", to: "Node", many: true, inverse: name),
            ])
        return try DataStack.inMemory(SyncModel(entities: [node]))
    }
}
