// A server under load: 50 tasks sync feeds into the stores of 25 tenants, while other tasks read. Prints the latency of the
// reads, and the memory and file descriptors of the process.
//
//   .ci/compile .build/apps/server-load -O Tests/ServerLoad/main.swift
//   .build/apps/server-load [SYNCS] [LIMIT]     by default 10,000 syncs, and one sync less at once than processors

import Foundation
import Sync

let arguments = CommandLine.arguments.dropFirst().compactMap { Int($0) }
let syncs = arguments.first ?? 10_000
let limit = arguments.dropFirst().first ?? max(1, ProcessInfo.processInfo.activeProcessorCount - 1)
Sync.maxConcurrentSyncs = limit > 0 ? limit : nil

let model = """
    {"entities": {
      "User": {"attributes": {"id": "integer", "name": "string", "age": "integer"},
        "relationships": {"notes": {"entity": "Note", "many": true, "inverse": "user", "deleteRule": "cascade"}}},
      "Note": {"attributes": {"id": "integer", "text": "string"},
        "relationships": {"user": {"entity": "User", "inverse": "notes"}}}}}
    """

/// Returns a feed of 100 users with two notes each. Every tenth user differs in each round.
func feed(_ round: Int) -> Data {
    let users = (0..<100).map { id in
        let name = id % 10 == round % 10 ? "user \(id) in round \(round)" : "user \(id)"
        let notes = (0..<2).map { #"{"id": \#(id * 2 + $0), "text": "a note"}"# }.joined(separator: ",")
        return #"{"id": \#(id), "name": "\#(name)", "age": \#(id % 90), "notes": [\#(notes)]}"#
    }
    return Data("[\(users.joined(separator: ","))]".utf8)
}

/// The memory of the process in MB, and its open file descriptors.
func resources() throws -> (memory: Int, descriptors: Int) {
    let status = try String(contentsOfFile: "/proc/self/status", encoding: .utf8)
    let line = status.split(separator: "\n").first { $0.hasPrefix("VmRSS:") } ?? ""
    let memory = line.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0
    return (memory / 1024, try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count)
}

actor Progress {
    private var next = 0
    private(set) var latencies: [Double] = []
    private let all: Int
    private let start = ContinuousClock.now

    init(_ all: Int) { self.all = all }

    var isOver: Bool { next >= all }

    /// Returns the number of the next sync; nil after the last.
    func takeSync() throws -> Int? {
        guard next < all else { return nil }
        if next % max(1, all / 5) == 0 {
            let (memory, descriptors) = try resources()
            print("after \(next) syncs: \(memory) MB, \(descriptors) descriptors")
        }
        next += 1
        return next - 1
    }

    func record(_ latency: Duration) {
        latencies.append(
            Double(latency.components.seconds) * 1000 + Double(latency.components.attoseconds) / 1e15)
    }

    func finish() throws {
        let seconds = (ContinuousClock.now - start).components.seconds
        let (memory, descriptors) = try resources()
        print(
            "after \(all) syncs: \(memory) MB, \(descriptors) descriptors; \(all / max(1, Int(seconds))) syncs a second"
        )
        let sorted = latencies.sorted()
        func part(_ part: Double) -> String {
            String(format: "%.2f ms", sorted[min(sorted.count - 1, Int(Double(sorted.count) * part))])
        }
        print("\(sorted.count) reads: half of them in \(part(0.5)), 99 % in \(part(0.99)), the longest in \(part(1))")
    }
}

let folder = FileManager.default.temporaryDirectory.appendingPathComponent("sync-server-\(UUID().uuidString)")
try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
defer { try? FileManager.default.removeItem(at: folder) }
let stacks = try (0..<25).map { tenant in
    try DataStack(
        model: SyncModel(schemaData: Data(model.utf8)), at: folder.appendingPathComponent("tenant-\(tenant).sqlite"))
}
for stack in stacks { try await Sync.changes(feed(0), inEntity: "User", stack: stack) }

let progress = Progress(syncs)
try await withThrowingTaskGroup(of: Void.self) { group in
    for writer in 0..<50 {
        group.addTask {
            while let round = try await progress.takeSync() {
                try await Sync.changes(feed(round), inEntity: "User", stack: stacks[writer % stacks.count])
            }
        }
    }
    for reader in 0..<4 {
        group.addTask {
            var tenant = reader
            while await !progress.isOver {
                let stack = stacks[tenant % stacks.count]
                let start = ContinuousClock.now
                _ = try await stack.fetch("User", where: "age > 20", orderedBy: "name", limit: 10)
                await progress.record(ContinuousClock.now - start)
                tenant += 1
                try await Task.sleep(for: .milliseconds(2))
            }
        }
    }
    try await group.waitForAll()
}
try await progress.finish()
for stack in stacks { try stack.close() }
