import Foundation
import Sync
import SyncTools
import TestSize
import Testing

@Suite("Models inferred from JSON")
struct InferredModelTests {
    @Test(
        "An inferred model reads every key of its samples, and a second sync writes nothing",
        arguments: RandomTest.inference.range)
    func randomSamplesAreComplete(_ seed: Int) async throws {
        var generator = RandomRecords(seed: UInt64(seed))
        try await expectComplete(generator.payload(), key: [])
    }

    @Test("An inferred model reads the orders of a shop")
    func shopOrdersAreComplete() async throws {
        let orders = Fixtures.folder.appendingPathComponent("Samples/shop-orders.json")
        let (result, stack) = try await expectComplete(
            Data(contentsOf: orders), entity: "Order", key: ["orders"])
        #expect(result["LineItem"].insertedCount == 3)
        #expect(result["Coupon"].insertedCount == 1)
        let prices = try await stack.fetch("LineItem", where: "order.id == 9001 AND unitPrice > 19")
        #expect(prices.count == 2)
    }

    @Test(
        "An inferred model reads the payloads of the package",
        arguments: try PayloadFile.own().filter { $0.keyPath.isEmpty })
    func packagePayloadsAreComplete(_ payload: PayloadFile) async throws { try await expectComplete(payload) }

    @Test(
        "An inferred model reads the payloads of the corpus",
        .enabled(if: PayloadFile.corpus != nil, "SYNC_CONFORMANCE is not set"),
        arguments: try PayloadFile.corpus.map(PayloadFile.shared) ?? [])
    func corpusPayloadsAreComplete(_ payload: PayloadFile) async throws { try await expectComplete(payload) }

    @Test(
        "An inferred model reads the lists of iso-codes",
        arguments: [IsoCodes.countries, IsoCodes.languages, IsoCodes.currencies, IsoCodes.subdivisions])
    func isoCodesAreComplete(_ list: IsoCodes) async throws {
        try await expectComplete(list.file(), entity: list.entity, primaryKey: list.key, key: [list.list])
    }

    /// Expects a complete import with the key of the payload's model, or an error if no record has that key.
    private func expectComplete(_ payload: PayloadFile) async throws {
        let json = try Data(contentsOf: payload.file)
        let key = try SyncModel(contentsOf: payload.model).primaryKey(of: payload.entity)?.remote ?? "id"
        do {
            try await expectComplete(json, entity: payload.entity, primaryKey: key, key: payload.keyPath)
        } catch let error as SyncError where error.code == .primaryKeyMissing {
            #expect(!Self.hasKey(key, in: try JSONValue(parsing: json)), "\(error)")
        }
    }

    private static func hasKey(_ key: String, in payload: JSONValue) -> Bool {
        guard case .array(let records) = payload else { return payload[key] != nil }
        return records.contains { $0[key] != nil }
    }

    @discardableResult
    private func expectComplete(
        _ json: Data, entity: String = "Thing", primaryKey: String? = nil, key: [String]
    ) async throws -> (SyncResult, DataStack) {
        let sample = InferenceSample(json, entity: entity, primaryKey: primaryKey, keyPath: key)
        let inferred = try InferredModel(from: [sample])
        let model = inferred.model
        #expect(try SyncModel(schemaData: model.schemaFile()) == model)
        let stack = try DataStack.inMemory(model)
        var options = SyncOptions()
        options.keyPath = .init(key)
        let first = try await Sync.changes(json, inEntity: entity, stack: stack, options: options)
        let text = String(decoding: model.schemaFile(), as: UTF8.self)
        #expect(first.unmappedKeys == [], "\(text)")
        // A root record without a key cannot be stored. A note of the inference says so.
        let skipped = first.diagnostics.filter { $0.kind == .missingPrimaryKey && !$0.path.contains(".") }
        #expect(first.diagnostics == skipped, "\(text)")
        #expect(skipped.isEmpty || inferred.notes.contains { $0.message.contains("\(skipped.count) without it") })
        let written = try await stack.changesWritten()
        let second = try await Sync.changes(json, inEntity: entity, stack: stack, options: options)
        #expect(second.isEmpty, "\(second) \(text)")
        #expect(try await stack.changesWritten() == written)
        return (first, stack)
    }
}
