import SyncCore
import SyncTesting
import TestSize
import Testing

/// Random sequences of payloads, by their seeds. One again:
/// `SYNC_FINGERPRINT_SEED=7 swift test --filter RandomFingerprintTests`.
@Suite("Random fingerprints")
struct RandomFingerprintTests {
    @Test("A store with fingerprints and one without have the same rows and give the same results")
    func agreement() async throws {
        var failures = 0
        for seed in RandomTest.fingerprint.seeds where failures < 3 {
            var random = SplitMix64(seed: UInt64(seed))
            let original = try FingerprintCase.random(&random)
            guard try await FingerprintCheck(fingerprintCase: original).failure() != nil else { continue }
            failures += 1
            let smallest = try await Self.smallest(original)
            let problem = try await FingerprintCheck(fingerprintCase: smallest).failure() ?? ""
            Issue.record("seed \(seed): \(problem)\n\(smallest)")
        }
    }

    /// The case with as few steps, records and members as it takes.
    private static func smallest(_ original: FingerprintCase) async throws -> FingerprintCase {
        var smallest = original
        var isSmaller = true
        while isSmaller {
            isSmaller = false
            for candidate in candidates(smallest) {
                guard try await FingerprintCheck(fingerprintCase: candidate).failure() != nil else { continue }
                smallest = candidate
                isSmaller = true
                break
            }
        }
        return smallest
    }

    private static func candidates(_ fingerprintCase: FingerprintCase) -> [FingerprintCase] {
        var found: [FingerprintCase] = []
        for index in fingerprintCase.steps.indices {
            var fewer = fingerprintCase
            fewer.steps.remove(at: index)
            found.append(fewer)
            let step = fingerprintCase.steps[index]
            guard case .sync(let entity, let records, let isLone, let options, let operations) = step else { continue }
            for record in records.indices {
                var fewer = fingerprintCase
                var left = records
                left.remove(at: record)
                fewer.steps[index] = .sync(
                    entity: entity, records: left, isLone: isLone, options: options, operations: operations)
                found.append(fewer)
            }
        }
        return found
    }
}
