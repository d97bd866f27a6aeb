import Foundation
import Sync
import SyncTools
import TestSize
import Testing

@Suite("Keys in a spelling of the service")
struct SpellingRoundTripTests {
    @Test(
        "are given back as they came, and read again with no change: random models and payloads",
        arguments: KeyCase.allCases, RandomTest.spelling.range)
    func declared(keys: KeyCase, seed: Int) async throws {
        var random = SpelledPayload(keys, seed: UInt64(seed))
        let model = try random.model()
        let records = random.records()
        try await expectSameKeys(records, as: "Order", model)
    }

    @Test(
        "are worked out by inference, so that the service gets back the names it sent",
        arguments: KeyCase.allCases.filter { $0 != .exact }, RandomTest.spelling.range)
    func inferred(keys: KeyCase, seed: Int) async throws {
        var random = SpelledPayload(keys, seed: UInt64(seed))
        _ = try random.model()
        let records = random.records()
        var text: [UInt8] = []
        for record in records { text += Data("\(record.line)\n".utf8) }
        let sample = InferenceSample(Data(text), entity: "Order", form: .ndjson)
        try await expectSameKeys(records, as: "Order", InferredModel(from: [sample]).model)
    }

    @Test("are given back one by one where they follow no rule")
    func mixed() async throws {
        let record: JSONValue = [
            "Id": 1, "first_name": "a", "lastName": "b", "Total": 2, "unit-price": 3, "_rev": "c", "address_1": "d",
            "homeTown": ["id": 2, "Name": "e"], "line_items": [["id": 3, "unit_price": 4]], "$meta": "f", "URL": "g",
        ]
        let sample = InferenceSample(Data(record.line.utf8), entity: "Order", form: .ndjson)
        try await expectSameKeys([record], as: "Order", InferredModel(from: [sample]).model)
    }

    private func expectSameKeys(_ records: [JSONValue], as entity: String, _ model: SyncModel) async throws {
        let stack = try DataStack.inMemory(model)
        let first = try await Sync.changes(.array(records), inEntity: entity, stack: stack)
        #expect(first.unmappedKeys == [])
        #expect(first.diagnostics == [])
        let exported = try await stack.export(entity)
        #expect(exported.map(\.keyPaths) == records.map(\.keyPaths), "\(records) \(exported)")
        let second = try await Sync.changes(.array(exported), inEntity: entity, stack: stack)
        #expect(second.isEmpty && second.unmappedKeys == [] && second.diagnostics == [])
        // The model that the store keeps says the same.
        let kept = try SyncModel(schema: model.schemaFile())
        #expect(kept == model)
        #expect(kept.schemaFile() == model.schemaFile())
    }
}

extension JSONValue {
    /// Every key with those around it, those of all elements of a list together.
    fileprivate var keyPaths: Set<String> {
        switch self {
        case .object(let members):
            members.reduce(into: []) { paths, member in
                paths.insert(member.key)
                paths.formUnion(member.value.keyPaths.map { "\(member.key)/\($0)" })
            }
        case .array(let elements): elements.reduce(into: []) { $0.formUnion($1.keyPaths) }
        default: []
        }
    }

    fileprivate var line: String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.withoutEscapingSlashes]
        return (try? encoder.encode(self)).map { String(decoding: $0, as: UTF8.self) } ?? ""
    }
}
