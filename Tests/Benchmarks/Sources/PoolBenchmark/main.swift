import Foundation
import Sync

// Measures the effect of many concurrent syncs on other tasks of the program and on readers.
//
//     swift run -c release --package-path Tests/Benchmarks pool-benchmark 16 5000

let syncs = CommandLine.arguments.dropFirst().first.flatMap { Int($0) } ?? 16
let users = CommandLine.arguments.dropFirst(2).first.flatMap { Int($0) } ?? 5_000

let schema = """
    {"entities": {
      "User": {"attributes": {"id": "integer", "name": "string", "email": "string", "age": "integer", "joinedAt": "date"},
        "relationships": {"notes": {"entity": "Note", "many": true, "inverse": "user", "deleteRule": "cascade"}}},
      "Note": {"attributes": {"id": "integer", "text": "string"},
        "relationships": {"user": {"entity": "User", "inverse": "notes"}}}}}
    """
let model = try SyncModel(schemaData: Data(schema.utf8))
let records = (1...users).map { id in
    let notes = (0..<3).map { #"{"id":\#(id * 3 + $0),"text":"note \#($0) of \#(id)"}"# }.joined(separator: ",")
    return
        #"{"id":\#(id),"name":"User \#(id)","email":"user\#(id)@example.com","age":\#(id % 90),"joined_at":"2024-02-29T18:29:59.999Z","notes":[\#(notes)]}"#
}
let payload = Data("[\(records.joined(separator: ","))]".utf8)
let folder = FileManager.default.temporaryDirectory.appendingPathComponent("pool-\(UUID().uuidString)")
try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
defer { try? FileManager.default.removeItem(at: folder) }
let stacks = try (0..<syncs).map { try DataStack(model: model, at: folder.appendingPathComponent("\($0).sqlite")) }

/// Measures how late a sleeping task wakes up, and how long reads take, until it is cancelled.
func watch() async throws -> (delays: [Double], reads: [Double]) {
    let clock = ContinuousClock()
    var (delays, reads): ([Double], [Double]) = ([], [])
    while !Task.isCancelled {
        let start = clock.now
        do { try await Task.sleep(for: .milliseconds(10)) } catch { break }
        let woken = clock.now
        do { _ = try await stacks[0].count("User") } catch is CancellationError { break }
        delays.append((woken - start) / .milliseconds(1) - 10)
        reads.append((clock.now - woken) / .milliseconds(1))
    }
    return (delays, reads)
}

for round in ["import", "nothing to do"] {
    let watcher = Task { try await watch() }
    try await Task.sleep(for: .milliseconds(100))
    let start = ContinuousClock.now
    try await withThrowingTaskGroup(of: Void.self) { group in
        for stack in stacks { group.addTask { try await Sync.changes(payload, inEntity: "User", stack: stack) } }
        try await group.waitForAll()
    }
    let seconds = (ContinuousClock.now - start) / .seconds(1)
    watcher.cancel()
    let (delays, reads) = try await watcher.value
    let p99 = reads.sorted()[min(reads.count - 1, reads.count * 99 / 100)]
    let longest = delays.max() ?? 0
    print(
        "\(round): \(syncs) syncs of \(users) users in \(seconds) s; a sleep of 10 ms is \(longest) ms late at most; "
            + "99 of 100 reads take less than \(p99) ms")
}
