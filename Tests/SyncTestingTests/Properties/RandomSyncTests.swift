import Foundation
import SyncCore
import SyncTesting
import TestSize
import Testing

/// Random models and payloads, by their seeds. One again: `SYNC_PROPERTY_SEED=7 swift test --filter RandomSyncTests`.
@Suite("Random syncs")
struct RandomSyncTests {
    private static var kinds: PropertyKinds {
        ProcessInfo.processInfo.environment["SYNC_PROPERTY_KINDS"].flatMap { Int($0) }.map(PropertyKinds.init) ?? .all
    }

    @Test("A store and the reference agree, and the same payload again changes nothing")
    func agreement() async throws { try await agree(RandomTest.property.seeds, Self.kinds) }

    @Test("So they do where keys have several parts: SYNC_KEYS_SEED=7, SYNC_KEYS_CASES=1000")
    func partedKeys() async throws { try await agree(RandomTest.keys.seeds, Self.kinds.union(.partedKeys)) }

    @Test(
        "So they do where lists are objects and records name their kinds: SYNC_LAYOUTS_SEED=7, SYNC_LAYOUTS_CASES=1000")
    func layouts() async throws {
        try await agree(RandomTest.layouts.seeds, Self.kinds.union([.keyedObjects, .discriminators]))
    }

    @Test("Also with keys of several parts")
    func layoutsWithPartedKeys() async throws {
        try await agree(
            RandomTest.layouts.seeds, Self.kinds.union([.keyedObjects, .discriminators, .partedKeys]))
    }

    private func agree(_ seeds: RandomSeeds, _ kinds: PropertyKinds) async throws {
        print("Random syncs: seeds \(seeds.range)")
        let lanes = 4
        let failures = try await withThrowingTaskGroup(of: [String].self) { group in
            for lane in 0..<lanes {
                group.addTask {
                    var failures: [String] = []
                    for seed in seeds where seed % lanes == lane && failures.count < 5 {
                        if let failure = try await Self.failure(seed, kinds) { failures.append(failure) }
                    }
                    return failures
                }
            }
            return try await group.reduce(into: []) { $0 += $1 }
        }
        for failure in failures { Issue.record("\(failure)") }
    }

    /// What goes wrong in the case with this seed, made as small as it gets.
    private static func failure(_ seed: Int, _ kinds: PropertyKinds) async throws -> String? {
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
        // A row that one piece names by an id that waits, and another as a record, may have another link in the end.
        if kinds.contains(.discriminators), !namesOnce { size = nil }
        let original = PropertyCase(model: model, steps: steps, namesOnce: namesOnce, parts: size)
        guard try await problem(of: original, seed) != nil else { return nil }
        let smallest = try await CaseShrinker.smallest(original) { try await problem(of: $0, seed) != nil }
        return """
            seed \(seed): \(try await problem(of: smallest, seed) ?? "")
            \(smallest)
            Again: SYNC_PROPERTY_SEED=\(seed) SYNC_PROPERTY_KINDS=\(kinds.rawValue) swift test --filter RandomSyncTests
            """
    }

    private static func problem(of propertyCase: PropertyCase, _ seed: Int) async throws -> String? {
        var random = SplitMix64(seed: UInt64(seed) &+ 1)
        return try await PropertyCheck(propertyCase: propertyCase).failure(shuffling: &random)
    }
}
