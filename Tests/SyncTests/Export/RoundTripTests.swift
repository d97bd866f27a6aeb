import Foundation
import Sync
import TestSize
import Testing

@Suite("Export of what was imported")
struct RoundTripTests {
    static let models = ["blog", "company", "library", "orchard", "press", "station", "village", "zoo"]

    @Test("syncs back with no change: random rows", arguments: models, RandomTest.export.range)
    func random(_ model: String, seed: Int) async throws {
        let stack = try DataStack.inMemory(Fixtures.model(model), transformers: .optional)
        var payload = RandomPayload(stack.model, seed: UInt64(seed))
        var options = SyncOptions()
        options.payload = .delta
        for _ in 0..<4 {
            for entity in payload.entities {
                let records = try payload.records(of: entity)
                // Some payloads are refused, as where a delete rule denies what they ask for.
                _ = try? await Sync.changes(records, inEntity: entity.name, stack: stack, options: options)
            }
        }
        try await RoundTrip.expectNoChange(stack, "\(model), seed \(seed)")
    }

    @Test("syncs back with no change: the payload files of the package", arguments: try PayloadFile.own())
    func own(_ payload: PayloadFile) async throws {
        try await expectNoChange(payload)
    }

    @Test(
        "syncs back with no change: the payload files of the corpus",
        .enabled(if: PayloadFile.corpus != nil, "SYNC_CONFORMANCE is not set"),
        arguments: try PayloadFile.corpus.map(PayloadFile.shared) ?? [])
    func shared(_ payload: PayloadFile) async throws {
        try await expectNoChange(payload)
    }

    private func expectNoChange(_ payload: PayloadFile) async throws {
        let stack = try DataStack.inMemory(SyncModel(contentsOf: payload.model), transformers: .optional)
        var options = SyncOptions()
        options.keyPath = payload.keyPath
        let json = try Data(contentsOf: payload.file)
        let first = try await Sync.changes(json, inEntity: payload.entity, stack: stack, options: options)
        #expect(!first.isEmpty)
        try await RoundTrip.expectNoChange(stack, "\(payload)")
    }
}
