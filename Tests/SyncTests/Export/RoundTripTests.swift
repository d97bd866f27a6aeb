import Foundation
import Sync
import Testing

@Suite("Export of what was imported")
struct RoundTripTests {
    static let models = ["blog", "company", "library", "orchard", "press", "station", "village", "zoo"]

    @Test("syncs back with no change: random rows", arguments: models, 0..<40)
    func random(_ model: String, seed: Int) async throws {
        let stack = try DataStack.inMemory(Fixtures.model(model))
        var payload = RandomPayload(stack.model, seed: UInt64(seed))
        var options = SyncOptions()
        options.payload = .delta
        for _ in 0..<4 {
            try await importAllRows(payload, stack)
            for entity in payload.entities {
                let records = try payload.records(of: entity)
                // Some payloads are refused, as where a delete rule denies what they ask for.
                _ = try? await Sync.changes(records, inEntity: entity.name, stack: stack, options: options)
            }
        }
        try await importAllRows(payload, stack)
        guard try await stack.unresolvedReferences().isEmpty else { return }
        try await RoundTrip.expectNoChange(stack, "\(model), seed \(seed)")
    }

    /// So that no reference waits for its row.
    private func importAllRows(_ payload: RandomPayload, _ stack: DataStack) async throws {
        var options = SyncOptions()
        options.payload = .delta
        for entity in payload.entities {
            try await Sync.changes(
                try payload.allRows(of: entity), inEntity: entity.name, stack: stack, options: options)
        }
    }
}
