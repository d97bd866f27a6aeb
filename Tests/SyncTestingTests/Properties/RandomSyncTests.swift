import Foundation
import MemoryStore
import SyncCore
import SyncTesting
import TestSize
import Testing

/// Random models and payloads, by their seeds. `SYNC_PROPERTY_SEED=7 swift test --filter RandomSyncTests` repeats one.
@Suite("Random syncs")
struct RandomSyncTests {
    private static var kinds: PropertyKinds {
        ProcessInfo.processInfo.environment["SYNC_PROPERTY_KINDS"].flatMap { Int($0) }.map(PropertyKinds.init) ?? .all
    }

    @Test("The store and the reference store agree, and a repeated payload changes nothing")
    func agreement() async throws { try await agree(RandomTest.property.seeds, Self.kinds) }

    @Test("The stores agree with composite keys: SYNC_KEYS_SEED=7, SYNC_KEYS_CASES=1000")
    func partedKeys() async throws { try await agree(RandomTest.keys.seeds, Self.kinds.union(.partedKeys)) }

    @Test(
        "The stores agree with keyed objects and discriminators: SYNC_LAYOUTS_SEED=7, SYNC_LAYOUTS_CASES=1000")
    func layouts() async throws {
        try await agree(RandomTest.layouts.seeds, Self.kinds.union([.keyedObjects, .discriminators]))
    }

    @Test("The stores agree with keyed objects, discriminators and composite keys")
    func layoutsWithPartedKeys() async throws {
        try await agree(
            RandomTest.layouts.seeds, Self.kinds.union([.keyedObjects, .discriminators, .partedKeys]))
    }

    @Test("A store without SQL agrees, also with composite keys: SYNC_MEMORY_SEED=7, SYNC_MEMORY_CASES=1000")
    func memory() async throws {
        try await agree(RandomTest.memory.seeds, Self.kinds, MemoryStoreFactory())
        try await agree(RandomTest.memory.seeds, Self.kinds.union(.partedKeys), MemoryStoreFactory())
    }

    private func agree(
        _ seeds: RandomSeeds, _ kinds: PropertyKinds, _ stores: any ScenarioStoreFactory = SQLiteStoreFactory()
    ) async throws {
        print("Random syncs: seeds \(seeds.range)")
        let lanes = 4
        let failures = try await withThrowingTaskGroup(of: [String].self) { group in
            for lane in 0..<lanes {
                group.addTask {
                    var failures: [String] = []
                    for seed in seeds where seed % lanes == lane && failures.count < 5 {
                        if let failure = try await Self.failure(seed, kinds, stores) { failures.append(failure) }
                    }
                    return failures
                }
            }
            return try await group.reduce(into: []) { $0 += $1 }
        }
        for failure in failures { Issue.record("\(failure)") }
    }

    /// Returns the problem of the case with a seed, after reducing the case.
    private static func failure(
        _ seed: Int, _ kinds: PropertyKinds, _ stores: any ScenarioStoreFactory
    ) async throws -> String? {
        var random = SplitMix64(seed: UInt64(seed))
        let namesOnce = random.chance(20)
        let kinds = namesOnce ? kinds.subtracting([.ordered]) : kinds
        let model = try ModelGenerator.model(&random, kinds)
        var payloads = PayloadGenerator(&random, model, kinds, namesOnce: namesOnce)
        let steps = (0..<(2 + random.below(3))).map { _ in payloads.step() }
        let parts: [PropertyParts.Size?] = [
            nil, nil, .pages(records: 1 + random.below(3)), .pieces(bytes: 1 + random.below(80)),
        ]
        var size = random.pick(parts)
        // A row that one chunk has as a pending reference, and another as a record, may end with another link.
        if kinds.contains(.discriminators), !namesOnce { size = nil }
        let original = PropertyCase(model: model, steps: steps, namesOnce: namesOnce, parts: size)
        guard try await problem(of: original, seed, stores) != nil else { return nil }
        let smallest = try await CaseShrinker.smallest(original) {
            try await problem(of: $0, seed, stores) != nil
        }
        return """
            seed \(seed): \(try await problem(of: smallest, seed, stores) ?? "")
            \(smallest)
            Again: SYNC_PROPERTY_SEED=\(seed) SYNC_PROPERTY_KINDS=\(kinds.rawValue) swift test --filter RandomSyncTests
            """
    }

    private static func problem(
        of propertyCase: PropertyCase, _ seed: Int, _ stores: any ScenarioStoreFactory
    ) async throws -> String? {
        var random = SplitMix64(seed: UInt64(seed) &+ 1)
        return try await PropertyCheck(propertyCase: propertyCase, stores: stores).failure(shuffling: &random)
    }
}
