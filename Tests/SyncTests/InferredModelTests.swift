import Foundation
import Sync
import Testing

@Suite("A model inferred from JSON")
struct InferredModelTests {
    @Test(
        "reads every key of its samples, reports nothing, and a second sync writes nothing", arguments: 0..<200)
    func random(_ seed: UInt64) async throws {
        var generator = RandomRecords(seed: seed)
        try await expectComplete(generator.payload(), key: [])
    }

    @Test("reads the orders of a shop")
    func shop() async throws {
        let (result, stack) = try await expectComplete(
            Fixtures.payload("Shop/orders"), entity: "Order", key: ["orders"])
        #expect(result["LineItem"].insertedCount == 3)
        #expect(result["Coupon"].insertedCount == 1)
        let prices = try await stack.fetch("LineItem", where: "order.id == 9001 AND unitPrice > 19")
        #expect(prices.count == 2)
    }

    @Test("reads the payloads of the package", arguments: try PayloadFile.own().filter { $0.keyPath.isEmpty })
    func own(_ payload: PayloadFile) async throws { try await expectComplete(payload) }

    @Test(
        "reads the payloads of the corpus", .enabled(if: PayloadFile.corpus != nil, "SYNC_CONFORMANCE is not set"),
        arguments: try PayloadFile.corpus.map(PayloadFile.shared) ?? [])
    func shared(_ payload: PayloadFile) async throws { try await expectComplete(payload) }

    @Test(
        "reads the lists of iso-codes",
        arguments: [IsoCodes.countries, IsoCodes.languages, IsoCodes.currencies, IsoCodes.subdivisions])
    func isoCodes(_ list: IsoCodes) async throws {
        try await expectComplete(list.file(), entity: list.entity, primaryKey: list.key, key: [list.list])
    }

    /// A payload some of whose records have no key, or none, is no sample of a model.
    private func expectComplete(_ payload: PayloadFile) async throws {
        let json = try Data(contentsOf: payload.file)
        do {
            try await expectComplete(json, entity: payload.entity, key: payload.keyPath)
        } catch let error as SyncError where error.code == .primaryKeyMissing {
            #expect(!String(decoding: json, as: UTF8.self).contains("\"id\""), "\(error)")
        }
    }

    @discardableResult
    private func expectComplete(
        _ json: Data, entity: String = "Thing", primaryKey: String? = nil, key: [String]
    ) async throws -> (SyncResult, DataStack) {
        let sample = InferenceSample(json, entity: entity, primaryKey: primaryKey, keyPath: key)
        let model = try InferredModel(from: [sample]).model
        #expect(try Model(schema: model.schemaFile()) == model)
        let stack = try DataStack.inMemory(model)
        var options = SyncOptions()
        options.keyPath = key
        let first = try await Sync.changes(json, inEntity: entity, stack: stack, options: options)
        let text = String(decoding: model.schemaFile(), as: UTF8.self)
        #expect(first.unmappedKeys == [], "\(text)")
        #expect(first.diagnostics == [], "\(text)")
        let written = try await stack.changesWritten()
        let second = try await Sync.changes(json, inEntity: entity, stack: stack, options: options)
        #expect(second.isEmpty, "\(second) \(text)")
        #expect(try await stack.changesWritten() == written)
        return (first, stack)
    }
}
