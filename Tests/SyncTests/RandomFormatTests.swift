import Foundation
import Sync
import SyncTools
import TestSize
import Testing

/// A payload gives the same result as bytes, as values and as dictionaries.
@Suite("Random records as bytes, values and dictionaries")
struct RandomFormatTests {
    @Test(
        "Random records give the same rows and result as bytes, values and dictionaries",
        arguments: RandomTest.forms.range)
    func formsGiveSameRows(seed: Int) async throws {
        var generator = RandomRecords(seed: UInt64(seed))
        let value = try JSONValue(parsing: generator.payload()).sorted
        let bytes = Data(try value.text.utf8)
        guard case .array(let records) = value else {
            Issue.record("an array is expected")
            return
        }
        let model = try SyncModel(inferredFrom: bytes, entity: "Thing")
        let stacks = try (0..<4).map { _ in try DataStack.inMemory(model) }
        let expected = try await Sync.changes(bytes, inEntity: "Thing", stack: stacks[0])
        #expect(expected["Thing"].insertedCount > 0)
        #expect(try await Sync.changes(value, inEntity: "Thing", stack: stacks[1]) == expected)
        for isBoxed in [false, true] {
            let dictionaries = try records.map { try #require($0.native(isBoxed: isBoxed) as? [String: Any]) }
            let result = try await Sync.changes(dictionaries, inEntity: "Thing", stack: stacks[isBoxed ? 2 : 3])
            #expect(result == expected)
        }
        let contents = try await stacks[0].contents()
        for stack in stacks.dropFirst() {
            #expect(try await stack.contents().differences(from: contents) == [])
            #expect(try await Sync.changes(bytes, inEntity: "Thing", stack: stack).isEmpty)
        }
    }
}
