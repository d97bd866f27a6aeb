import Foundation
import GRDB
import Sync
import SyncTesting
import Synchronization

// Measures the cost of the sync engine, with a service in memory, so that the figures contain no network.
//
//     swift run -c release --package-path Tests/Benchmarks engine-benchmark 100000 10000

//     swift run -c release --package-path Tests/Benchmarks engine-benchmark services 100000
if CommandLine.arguments.dropFirst().first == "services" {
    try await BuiltInServices(count: CommandLine.arguments.last.flatMap { Int($0) } ?? 100_000).measureAll()
    exit(0)
}

let pulled = CommandLine.arguments.dropFirst().first.flatMap { Int($0) } ?? 100_000
let pushed = CommandLine.arguments.dropFirst(2).first.flatMap { Int($0) } ?? 10_000

let schema = """
    {"entities": {"Task": {"attributes": {"id": "integer", "title": "string", "note": "string", "points": "integer",
      "done": "boolean", "due": "date", "price": "double"}}}}
    """
let file = FileManager.default.temporaryDirectory.appendingPathComponent("engine-\(UUID().uuidString).sqlite")
let stack = try DataStack(model: SyncModel(schemaData: Data(schema.utf8)), at: file)
let service = InMemoryService(
    ServiceCapabilities(
        idAssignment: .server, deletionDetection: .tombstones, createIdempotency: .idempotencyKey,
        supportsPreconditions: true, providesModificationTimes: true,
        maxBatchSize: 100), pageSize: 1000)
let listing = ListingService(service)
for id in 1...pulled {
    await service.set(
        "Task", JSONValue(id),
        [
            "title": .string("task \(id)"), "note": "something to do about it", "points": JSONValue(id % 13),
            "done": .bool(id % 2 == 0), "due": "2026-11-23T18:00:00Z", "price": .number("\(id).5"),
        ])
}
let engine = try SyncEngine(stack: stack, service: listing, entities: ["Task"])

func measure(_ name: String, _ body: () async throws -> SyncReport) async throws {
    let earlier = await service.requestCount
    let timer = Stopwatch()
    let report = try await body()
    let time = "\(timer)"
    let requests = await service.requestCount - earlier
    let (done, total) = (report.total.pulledDeletes + report.total.pushedDeletes, report.total)
    print(
        "\(name): \(time), \(requests) requests, \(total.pulledInserts) in, \(total.pushedUpdates) out, \(done) deleted"
    )
}

// The time of the service alone, which the time of the pull contains.
let alone = Stopwatch()
var page: String?
var cursor: String?
var records: [JSONValue] = []
repeat {
    let answer = try await service.pull(PullRequest(entity: "Task", cursor: nil, page: page))
    records += answer.records.compactMap(\.record)
    (page, cursor) = (answer.nextPage, answer.cursor)
} while page != nil
print("the service alone: \(alone)")

// A plain import of the same rows into another store.
let payload = try JSONEncoder().encode(JSONValue.array(records))
records = []
let plain = try DataStack(model: SyncModel(schemaData: Data(schema.utf8)), at: file.appendingPathExtension("plain"))
let imported = Stopwatch()
_ = try await Sync.changes(payload, inEntity: "Task", stack: plain)
print("a plain import of \(payload.count / 1_000_000) MB: \(imported)")
try plain.close()
try FileManager.default.removeItem(at: file.appendingPathExtension("plain"))

try await measure("pull") { try await engine.sync() }

// Returns the least of several times, so that other load of the machine does not count.
func least(_ body: () async throws -> Void) async throws -> Duration {
    var least = Duration.seconds(1000)
    for _ in 0..<20 {
        let start = ContinuousClock.now
        try await body()
        least = min(least, ContinuousClock.now - start)
    }
    return least
}
let asked = try await least { _ = try await service.pull(PullRequest(entity: "Task", cursor: cursor)) }
let earlier = await service.requestCount
let run = try await least { try await engine.sync() }
let requests = (await service.requestCount - earlier) / 20
print("nothing new: \(run), \(requests) request, \(asked) of it the service's")
listing.listsAll.withLock { $0 = true }
try await measure("the same again") { try await engine.sync() }
listing.listsAll.withLock { $0 = false }
try stack.write { db in
    try db.execute(sql: "UPDATE Task SET points = points + 1, title = title || '!' WHERE id <= ?", arguments: [pushed])
}
try await measure("push") { try await engine.sync() }

// Deletions of n/2 and n rows: the time must be proportional, for local and for remote deletions.
for (name, ids) in [("", 1...(pushed / 2)), (", twice as many", (pushed / 2 + 1)...(pushed / 2 + pushed))] {
    let timer = Stopwatch()
    try stack.write { db in
        try db.execute(sql: "DELETE FROM Task WHERE id BETWEEN ? AND ?", arguments: [ids.lowerBound, ids.upperBound])
    }
    print("\(ids.count) rows deleted here: \(timer)")
    try await measure("sent\(name)") { try await engine.sync() }
}
for (name, ids) in [
    ("", (2 * pushed + 1)...(2 * pushed + pushed / 2)), (", twice as many", (3 * pushed + 1)...(4 * pushed)),
] where ids.upperBound <= pulled {
    for id in ids { await service.remove("Task", JSONValue(id)) }
    try await measure("\(ids.count) rows deleted there\(name)") { try await engine.sync() }
}

var usage = rusage()
getrusage(0, &usage)  // RUSAGE_SELF, whose type is not Int32 on every platform
print("peak memory: \(usage.ru_maxrss / 1024) MB, the rows of the service among it")
try? stack.close()
try? FileManager.default.removeItem(at: file)
