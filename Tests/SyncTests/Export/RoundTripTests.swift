import Foundation
import Sync
import TestSize
import Testing

@Suite("Exports of imported rows")
struct RoundTripTests {
    static let models = ["blog", "company", "library", "orchard", "press", "station", "village", "zoo"]

    @Test("An export of random rows syncs back without a change", arguments: models, RandomTest.export.range)
    func randomRowsAreUnchanged(_ model: String, seed: Int) async throws {
        let stack = try DataStack.inMemory(Fixtures.model(model), transformers: .optional)
        var payload = RandomPayload(stack.model, seed: UInt64(seed))
        var options = SyncOptions()
        options.payloadKind = .delta
        for _ in 0..<4 {
            for entity in payload.entities {
                let records = try payload.records(of: entity)
                // Some payloads fail, for example if a delete rule denies a deletion.
                _ = try? await Sync.changes(records, inEntity: entity.name, stack: stack, options: options)
            }
        }
        try await RoundTrip.expectNoChange(stack, "\(model), seed \(seed)")
    }

    @Test("An export of a payload of the package syncs back without a change", arguments: try PayloadFile.own())
    func packagePayloadsAreUnchanged(_ payload: PayloadFile) async throws {
        try await expectNoChange(payload)
    }

    @Test(
        "An export of a payload of the corpus syncs back without a change",
        .enabled(if: PayloadFile.corpus != nil, "SYNC_CONFORMANCE is not set"),
        arguments: try PayloadFile.corpus.map(PayloadFile.shared) ?? [])
    func corpusPayloadsAreUnchanged(_ payload: PayloadFile) async throws {
        try await expectNoChange(payload)
    }

    private func expectNoChange(_ payload: PayloadFile) async throws {
        let stack = try DataStack.inMemory(SyncModel(contentsOf: payload.model), transformers: .optional)
        var options = SyncOptions()
        options.keyPath = .init(payload.keyPath)
        let json = try Data(contentsOf: payload.file)
        let first = try await Sync.changes(json, inEntity: payload.entity, stack: stack, options: options)
        #expect(!first.isEmpty)
        try await RoundTrip.expectNoChange(stack, "\(payload)")
    }
}
