import Foundation
import Sync
import SyncTools
import TestSize
import Testing

@Suite("Keys in the case of a service")
struct SpellingRoundTripTests {
    @Test(
        "Keys in the case that a model declares are exported as they came, for random models",
        arguments: KeyCase.allCases, RandomTest.spelling.range)
    func declaredCaseIsKept(keys: KeyCase, seed: Int) async throws {
        var random = SpelledPayload(keys, seed: UInt64(seed))
        let model = try random.model()
        let records = random.records()
        try await expectSameKeys(records, as: "Order", model)
    }

    @Test(
        "Inference finds the case of keys, so that an export has them as they came",
        arguments: KeyCase.allCases.filter { $0 != .exact }, RandomTest.spelling.range)
    func inferredCaseIsKept(keys: KeyCase, seed: Int) async throws {
        var random = SpelledPayload(keys, seed: UInt64(seed))
        _ = try random.model()
        let records = random.records()
        var text: [UInt8] = []
        for record in records { text += Data("\(record.line)\n".utf8) }
        let sample = InferenceSample(Data(text), entity: "Order", form: .ndjson)
        try await expectSameKeys(records, as: "Order", InferredModel(from: [sample]).model)
    }

    @Test("Keys without a common case are exported as they came")
    func mixedCasesAreKept() async throws {
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
        // The schema file gives the same model.
        let kept = try SyncModel(schemaData: model.schemaFile())
        #expect(kept == model)
        #expect(kept.schemaFile() == model.schemaFile())
    }
}

extension JSONValue {
    /// The paths of all keys. All elements of a list share one path.
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
