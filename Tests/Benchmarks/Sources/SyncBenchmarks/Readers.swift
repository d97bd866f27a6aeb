import Foundation
import GRDB
import Sync
import Synchronization

/// Measures small reads while large payloads are written.
struct Readers {
    let database: String
    let entity: String

    struct Report: Codable {
        let payload: String
        let syncSeconds: Double
        let reads: Int
        let medianMilliseconds: Double
        let p99Milliseconds: Double
        let maximumMilliseconds: Double
    }

    /// Signals the end of the measurement. Readers are not cancelled, because that would interrupt a read.
    private final class End: Sendable {
        let isReached = Atomic(false)
    }

    /// Returns a report for each payload, after one named `idle` for a second without writes.
    func measure(_ payloads: [String]) async throws -> [Report] {
        let stack = try DataStack(at: URL(fileURLWithPath: database))
        var reports = [
            try await report("idle", stack) { try await Task.sleep(for: .seconds(1)) }
        ]
        for payload in payloads {
            let data = try contents(payload)
            let name = URL(fileURLWithPath: payload).lastPathComponent
            reports.append(
                try await report(name, stack) {
                    _ = try await Sync.changes(data, inEntity: entity, stack: stack)
                })
        }
        try stack.close()
        return reports
    }

    private func report(
        _ name: String, _ stack: DataStack, during work: @escaping @Sendable () async throws -> Void
    ) async throws -> Report {
        let clock = ContinuousClock()
        let end = End()
        let readers = (0..<2).map { seed in Task { try await read(stack, from: seed, until: end) } }
        let start = clock.now
        try await work()
        let seconds = start.duration(to: clock.now).seconds
        end.isReached.store(true, ordering: .relaxed)
        var times: [Double] = []
        for reader in readers { times += try await reader.value }
        return Report(
            payload: name, syncSeconds: seconds, reads: times.count,
            medianMilliseconds: times.quantile(0.5), p99Milliseconds: times.quantile(0.99),
            maximumMilliseconds: times.max() ?? .nan)
    }

    /// Reads one row about once a millisecond, as a screen that observes the store does.
    private func read(_ stack: DataStack, from seed: Int, until end: End) async throws -> [Double] {
        let sql = "SELECT * FROM \"\(entity)\" WHERE rowid = ?"
        let clock = ContinuousClock()
        var key = seed
        var times: [Double] = []
        repeat {
            key = (key + 7919) % 10_000
            let wanted = key
            let start = clock.now
            _ = try await stack.read { db in try Row.fetchOne(db, sql: sql, arguments: [wanted])?.count }
            times.append(start.duration(to: clock.now).seconds * 1000)
            try await Task.sleep(for: .milliseconds(1))
        } while !end.isReached.load(ordering: .relaxed)
        return times
    }
}
