import Foundation
import GRDB
import Sync
import SyncCore
import SyncSQLite
import SyncTesting
import TestSize
import Testing

/// Random syncs of stores to which a connection without foreign keys has written, by their seeds.
/// `SYNC_DANGLING_CASES=10000` runs more cases, and `SYNC_DANGLING_SEED=7 swift test --filter RandomDanglingLinkTests`
/// repeats one.
@Suite("Random dangling links")
struct RandomDanglingLinkTests {
    /// A sync deletes keyless rows with the last link to them, and the simple repair does not. For keyless rows the
    /// test only checks that the sync succeeds.
    @Test(
        "A sync with dangling links has the same result as one after their removal",
        arguments: [true, false])
    func agreement(hasKeys: Bool) async throws {
        var failures = 0
        for seed in RandomTest.dangling.seeds where failures < 3 {
            guard let problem = try await Self.problem(seed, hasKeys: hasKeys) else { continue }
            failures += 1
            Issue.record("seed \(seed): \(problem)")
        }
    }

    private static func problem(_ seed: Int, hasKeys: Bool) async throws -> String? {
        var random = SplitMix64(seed: UInt64(seed))
        let kinds = hasKeys ? PropertyKinds.all.subtracting(.keyless) : .all
        let model = try ModelGenerator.model(&random, kinds)
        var payloads = PayloadGenerator(&random, model, kinds, namesOnce: true, keyCount: 12)
        let entities = model.compiled.entities.filter { $0.keySlot != nil && !$0.isAbstract }
        let steps = (0..<(2 + random.below(2))).map { _ in
            let entity = random.pick(entities)
            return (
                entity: entity.name,
                records: payloads.records(of: entity, count: 2 + random.below(6)).payload
            )
        }
        let isDelta = random.chance(40)
        var last = random.pick(steps)
        if random.chance(50) {
            last.records = payloads.records(of: try model.compiled.entity(named: last.entity), count: 3).payload
        }
        let folder = try CaseFolder()
        defer { folder.remove() }
        let damage = LinkDamage(model)
        var stores: [DamagedStore] = []
        var statements: [String] = []
        for name in ["repaired", "damaged"] {
            let store = try DamagedStore(name, model, in: folder.url)
            for step in steps + [last] { _ = try? await store.sync(step.records, step.entity) }
            if stores.isEmpty {
                statements = try store.damage(1 + random.below(4), damage, &random)
                try store.write { try damage.repair($0) }
            } else {
                try store.write { db in for sql in statements { try db.execute(sql: sql) } }
            }
            stores.append(store)
        }
        var expected: String?
        for store in stores {
            let found = await store.outcome(
                last.records, last.entity, isDelta: isDelta, isSettled: hasKeys, damage)
            let isSame = hasKeys ? found == expected ?? found : !found.hasPrefix("unexpected")
            if !isSame || found.hasPrefix("unexpected") {
                let story = steps.map { "\($0.entity) \($0.records.text)" } + statements
                return """
                    \(store.name): \(found)
                    instead of \(expected ?? "none")
                    \(model.schemaFile().text)
                    \(story.joined(separator: "\n"))
                    \(last.entity)\(isDelta ? " delta" : "") \(last.records.text)
                    """
            }
            expected = found
        }
        return nil
    }
}

/// A folder for the files of one case.
private struct CaseFolder {
    let url: URL

    init() throws {
        url = FileManager.default.temporaryDirectory.appendingPathComponent("dangling-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    }

    func remove() { try? FileManager.default.removeItem(at: url) }
}

extension [JSONValue] {
    fileprivate var payload: Data { Data(JSONText.bytes(of: .array(self))) }
}

extension Data {
    fileprivate var text: String { String(decoding: self, as: UTF8.self) }
}
