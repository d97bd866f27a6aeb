import Foundation
import Sync
import TestSize
import Testing

/// Rows with as many columns as SQLite allows, sixteen rows per statement.
@Suite("An entity with many attributes")
struct ManyColumnsTests {
    private static let count = LongTests.count(500, many: 1_900)

    @Test("Rows with many attributes are imported, updated and read")
    func wideRows() async throws {
        let names = (0..<Self.count).map { "a\($0)" }
        let attributes = [SyncModel.Attribute("id", .integer)] + names.map { SyncModel.Attribute($0, .integer) }
        let stack = try DataStack.inMemory(SyncModel(entities: [SyncModel.Entity("Wide", attributes: attributes)]))
        func json(_ base: Int) -> Data {
            let records = (0..<40).map { row in
                let members = names.indices.map { "\"a\($0)\": \($0 + row + base)" }
                return "{\"id\": \(row), \(members.joined(separator: ", "))}"
            }
            return Data("[\(records.joined(separator: ","))]".utf8)
        }
        #expect(try await Sync.changes(json(0), inEntity: "Wide", stack: stack)["Wide"].inserted.count == 40)
        #expect(try await Sync.changes(json(0), inEntity: "Wide", stack: stack)["Wide"].updated.isEmpty)
        #expect(try await Sync.changes(json(7), inEntity: "Wide", stack: stack)["Wide"].updated.count == 40)
        let last = try #require(names.last)
        for row in [0, 15, 16, 39] {
            let condition = RowPredicate.where("id == %@ AND %K == %@", row, last, names.count + row + 6)
            #expect(try await stack.count("Wide", where: condition) == 1)
        }
    }
}
