import Foundation
import Sync
import SyncTesting
import TestSize
import Testing

@testable import SyncService

/// The engine reads and writes the entries of many rows together. The result is that of single rows.
@Suite("Entries of many rows")
struct EntrySetTests {
    /// Two devices with services of their own, to which the same happens. One of them handles rows separately.
    private struct Pair {
        let services: [InMemoryService]
        let devices: [Device]

        init(_ seed: UInt64, _ policy: ConflictPolicy) throws {
            services = (0..<2).map { _ in
                InMemoryService(
                    ServiceCapabilities(
                        idAssignment: .client, deletionDetection: seed % 2 == 0 ? .tombstones : .listing,
                        createIdempotency: .clientID, supportsPreconditions: true, providesModificationTimes: true,
                        maxBatchSize: 7), pageSize: 5)
            }
            devices = try zip(services, [true, false]).map { service, isTogether in
                var configuration = Device.configuration
                configuration.handlesRowsTogether = isTogether
                configuration.conflictPolicy = policy
                configuration.deletionLimit = nil
                return try Device(service, configuration)
            }
        }

        func here(_ sql: String) async throws {
            for device in devices { try await device.write(sql) }
        }

        func there(_ entity: String, _ id: Int, _ record: [String: JSONValue]?) async {
            for service in services {
                if let record {
                    await service.set(
                        entity, JSONValue(id), .object(record.sorted { $0.key < $1.key }.map { .init($0, $1) }))
                } else {
                    await service.remove(entity, JSONValue(id))
                }
            }
        }

        /// Syncs both devices, and returns the rows and entries of each.
        func sync() async throws -> [[String]] {
            var states: [[String]] = []
            for (device, service) in zip(devices, services) {
                try await device.engine.sync()
                var lines = try await device.rows(
                    """
                    SELECT 'Task', remoteID, title, points, projectID FROM Task UNION ALL SELECT 'Project', remoteID, name, '', '' FROM Project
                    UNION ALL SELECT 'Tag', remoteID, name, '', '' FROM Tag UNION ALL SELECT 'link', taskID, tagID, '', '' FROM Tag_tasks
                    UNION ALL SELECT 'known', e, k, origin, trust FROM sync_known
                    UNION ALL SELECT 'outbox', e, k, kind || state, reason FROM sync_outbox
                    UNION ALL SELECT 'base', e, k, field, value FROM sync_base UNION ALL SELECT 'sent', request, field, value, '' FROM sync_sent
                    UNION ALL SELECT 'conflict', e || ' ' || k, field || ' ' || winner, reason, local || remote FROM sync_conflict
                    UNION ALL SELECT 'quarantine', e, k, body, message FROM sync_quarantine ORDER BY 1, 2, 3, 4, 5
                    """)
                for entity in ["Task", "Project", "Tag"] {
                    let contents = await service.contents(of: entity)
                    lines += contents.map { "\(entity) \($0.key): \($0.value)" }.sorted()
                }
                states.append(lines)
            }
            return states
        }
    }

    @Test("Random histories have the same result with rows together and one by one: SYNC_TOGETHER_SEED=7")
    func histories() async throws {
        for seed in RandomTest.together.seeds where try await !isSame(UInt64(seed)) { return }
    }

    private func isSame(_ seed: UInt64) async throws -> Bool {
        var random = SeededNumbers(state: seed)
        let pair = try Pair(
            seed, ConflictPolicy.allCases.filter { $0 != .lastWriterWins }.randomElement(using: &random) ?? .clientWins)
        func id() -> Int { Int.random(in: 1...12, using: &random) }
        for step in 0..<12 {
            for _ in 0..<Int.random(in: 1...12, using: &random) {
                let (task, other, value) = (id(), id(), Int.random(in: 0...99, using: &random))
                switch Int.random(in: 0..<12, using: &random) {
                case 0:
                    try await pair.here("INSERT OR IGNORE INTO Task (remoteID, title) VALUES (\(task), 'n\(value)')")
                case 1...3: try await pair.here("UPDATE Task SET points = \(value) WHERE remoteID = \(task)")
                case 4: try await pair.here("UPDATE Task SET title = 'e\(value)' WHERE remoteID < \(task)")
                case 5: try await pair.here("DELETE FROM Task WHERE remoteID = \(task)")
                case 6:
                    try await pair.here(
                        "UPDATE Task SET projectID = (SELECT remoteID FROM Project WHERE remoteID = \(other)) WHERE remoteID = \(task)"
                    )
                case 7:
                    try await pair.here("INSERT OR IGNORE INTO Project (remoteID, name) VALUES (\(other), 'p\(value)')")
                case 8: await pair.there("Project", other, ["name": .string("q\(value)")])
                case 9: await pair.there("Task", task, nil)
                default:
                    await pair.there("Task", task, ["title": .string("t\(value)"), "points": JSONValue(value)])
                }
            }
            let states = try await pair.sync()
            #expect(states[0] == states[1], "seed \(seed), step \(step)")
            guard states[0] == states[1] else { return false }
        }
        return true
    }
}
