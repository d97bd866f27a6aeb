import Foundation
import Sync
import SyncTesting
import TestSize
import Testing

@testable import SyncService

/// Random histories of several devices and one service. Afterwards all have the same rows, with no duplicates, no
/// leftovers in the engine's tables and no edit lost without a log entry.
@Suite("Random histories")
struct ConvergenceTests {
    @Test("Random histories converge with the in-memory service")
    func converge() async throws {
        for seed in RandomTest.history.seeds {
            let found = try await Self.failure(UInt64(seed))
            #expect(found == nil, "seed \(seed): \(found ?? "")")
        }
    }

    @Test(
        "Random histories converge with PocketBase",
        .enabled("PocketBase comes from PyPI, which cannot be reached") { await PocketBaseServer.isThere })
    func pocketBase() async throws {
        for seed in RandomTest.pocketbase.seeds {
            let found = try await Self.failure(UInt64(seed), .pocketBase)
            #expect(found == nil, "seed \(seed): \(found ?? "")")
        }
    }

    @Test(
        "Random histories converge with a stub of Parse",
        .enabled(if: RESTServer.isThere, "make services builds the server"))
    func parse() async throws {
        for seed in RandomTest.parse.seeds {
            let found = try await Self.failure(UInt64(seed), .parse)
            #expect(found == nil, "seed \(seed): \(found ?? "")")
        }
    }

    @Test(
        "Random histories converge with a stub of a changes endpoint",
        .enabled(if: RESTServer.isThere, "make services builds the server"))
    func changes() async throws {
        for seed in RandomTest.changes.seeds {
            let found = try await Self.failure(UInt64(seed), .changes)
            #expect(found == nil, "seed \(seed): \(found ?? "")")
        }
    }

    @Test("Random histories converge with a REST service")
    func rest() async throws {
        for seed in RandomTest.rest.seeds {
            let found = try await Self.failure(UInt64(seed), .rest)
            #expect(found == nil, "seed \(seed): \(found ?? "")")
        }
    }

    @Test(
        "Random histories converge with Kinto",
        .enabled("Kinto comes from PyPI, which cannot be reached") { await KintoServer.isThere })
    func kinto() async throws {
        for seed in RandomTest.kinto.seeds {
            let found = try await Self.failure(UInt64(seed), .kinto)
            #expect(found == nil, "seed \(seed): \(found ?? "")")
        }
    }

    /// `make soak`: runs for the given time, starting with a seed from the clock.
    @Test(
        "Random histories converge for a long time",
        .enabled(if: soakTime != nil, "SYNC_SOAK_SECONDS says for how long"))
    func soak() async throws {
        let end = Date(timeIntervalSinceNow: Self.soakTime ?? 0)
        let first = UInt64(Date().timeIntervalSince1970) &* 1000
        var seed = first
        while Date() < end {
            if let found = try await Self.failure(seed) {
                Issue.record("seed \(seed), SYNC_HISTORY_SEED=\(seed) takes it again: \(found)")
                return
            }
            seed += 1
            if (seed - first) % 100 == 0 { print("\(seed - first) histories, from seed \(first)") }
        }
        print("\(seed - first) histories converged, from seed \(first)")
    }

    private static var soakTime: Double? {
        ProcessInfo.processInfo.environment["SYNC_SOAK_SECONDS"].flatMap { Double($0) }
    }

    /// - Returns: The problems after a history with the fewest failing steps; nil if there are none.
    private static func failure(_ seed: UInt64, _ place: HistoryPlace = .memory) async throws -> String? {
        var omitted = Set(
            (ProcessInfo.processInfo.environment["SYNC_HISTORY_OMITTING"] ?? "").split(separator: ",").compactMap {
                Int($0)
            })
        let history = RandomHistory(seed: seed, at: place, omitting: omitted)
        guard var problems = try await history.problems() else {
            if ProcessInfo.processInfo.environment["SYNC_HISTORY_TEXT"] == "1" {
                print("seed \(seed):\n\(await history.text)")
            }
            return nil
        }
        var text = await history.text
        let length = await history.length
        if ProcessInfo.processInfo.environment["SYNC_HISTORY_SMALLER"] == "0" {
            return "\(problems.joined(separator: "\n"))\nafter \(length) steps:\n\(text)"
        }
        // Omits halves, quarters and so on of the steps, as long as the history still fails.
        var size = length / 2
        while size > 0 {
            for start in stride(from: 0, to: length, by: size) {
                let more = omitted.union(start..<min(start + size, length))
                guard more != omitted else { continue }
                let smaller = RandomHistory(seed: seed, at: place, omitting: more)
                guard let left = try await smaller.problems() else { continue }
                (omitted, problems, text) = (more, left, await smaller.text)
            }
            size /= 2
        }
        let others = omitted.sorted().map { "\($0)" }.joined(separator: ",")
        return """
            \(problems.joined(separator: "\n"))
            after \(length - omitted.count) of \(length) steps, SYNC_HISTORY_OMITTING=\(others):
            \(text)
            """
    }
}
