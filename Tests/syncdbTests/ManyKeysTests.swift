import Foundation
import TestSize
import Testing

/// Payloads with thousands of keys, as services send them. Each test takes a moment. With work for each pair of keys it
/// would take minutes.
@Suite("Payloads with many keys")
struct ManyKeysTests {
    private static let count = LongTests.count(6000, many: 20_000)

    private let sandbox: Sandbox

    init() throws {
        sandbox = try Sandbox()
        let seed = try sandbox.importUsers("-", "--delta", input: #"[{"id": 1, "first_name": "A"}]"#)
        #expect(seed.status == 0, "\(seed.errors)")
    }

    @Test("The note about --evolve covers the first of many unmapped keys only")
    func noteCoversFirstKeys() throws {
        let keys = (0..<Self.count).map { "\"key\($0)\": \($0)" }.joined(separator: ", ")
        let one = try sandbox.importUsers("-", "--delta", input: "[{\"id\": 1, \(keys)}]")
        #expect(one.status == 0)
        #expect(one.errors.hasSuffix("\nnote: use --evolve to add unmapped keys and wider types to the model\n"))
        let records = (0..<Self.count).map { "{\"id\": \($0), \"key\($0)\": 1}" }.joined(separator: ", ")
        let each = try sandbox.importUsers("-", "--delta", input: "[\(records)]")
        #expect(each.status == 0)
        let note = each.errors.split(separator: "\n").last ?? ""
        #expect(note.hasPrefix("note: --evolve would add User.key0: integer, new; User.key1: integer, new; "))
        #expect(note.hasSuffix(" more (from the first records)"))
        #expect(note.count < 1000)
    }

    @Test(
        "A payload with many keys is imported in chunks, and with a result as JSON",
        arguments: [["--json"], ["--piece-size", "64K", "--whole-up-to", "1"]])
    func manyKeysInChunks(_ more: [String]) throws {
        let records = (0..<Self.count).map { "{\"id\": \($0), \"key\($0)\": 1}" }.joined(separator: ", ")
        let run = try sandbox.run(
            ["import", "-", "--entity", "User", "--database", "app.sqlite", "--delta"] + more, input: "[\(records)]")
        #expect(run.status == 0, "\(run.errors)")
    }

    @Test("doctor has a finding for each of many misfits and pending references")
    func manyFindings() throws {
        let records = (0..<5000).map { "{\"id\": \($0), \"age\": \"old\", \"company_id\": \(4000 + $0)}" }
        let run = try sandbox.run(
            ["doctor", "-", "--entity", "User", "--database", "app.sqlite", "--all"],
            input: "[\(records.joined(separator: ","))]")
        #expect(run.status == 1)
        #expect(run.output.contains("[4999].age: "))
        #expect(
            run.output.contains("[4999].company_id: User 4999: the row 8999, referenced by 'company', is not stored"))
        #expect(run.output.contains("5000 errors, "))
    }
}
