import Foundation
import GRDB
import Sync
import SyncTesting
import TestSize
import Testing

@testable import SyncService

/// Random histories of rows with composite keys. The few possible keys are created twice, reused and swapped, and
/// surrogate keys are reused often.
@Suite("Random histories with composite keys")
struct CompositeKeyHistoryTests {
    private static let schema = """
        {"entities": {
          "Area": {"primaryKey": ["country", "name"],
            "attributes": {"country": {"type": "string"}, "name": {"type": "string"}, "note": {"type": "string"}},
            "relationships": {"places": {"entity": "Place", "many": true, "inverse": "area", "deleteRule": "cascade"}}},
          "Place": {"primaryKey": ["area", "number"], "attributes": {"number": {"type": "integer"}, "note": {"type": "string"}},
            "relationships": {"area": {"entity": "Area", "inverse": "places"},
              "marks": {"entity": "Mark", "many": true, "inverse": "places"}}},
          "Mark": {"primaryKey": ["kind", "day"], "attributes": {"kind": {"type": "integer"}, "day": {"type": "date"},
              "note": {"type": "string"}},
            "relationships": {"places": {"entity": "Place", "many": true, "inverse": "marks"},
              "near": {"entity": "Area"}}}
        }}
        """

    @Test("Random histories with composite keys end with the same rows on all devices and the service")
    func converge() async throws {
        for seed in RandomTest.parted.seeds {
            let history = PartedHistory(seed: UInt64(seed), schema: Self.schema)
            let problems = try await history.problems()
            let steps = await history.steps.joined(separator: "\n")
            if ProcessInfo.processInfo.environment["SYNC_HISTORY_TEXT"] == "1" { print("seed \(seed):\n\(steps)") }
            #expect(problems.isEmpty, "seed \(seed): \(problems.joined(separator: "\n"))\n\(steps)")
        }
    }
}

private actor PartedHistory {
    private var random: SeededNumbers
    private let schema: String
    private let seed: UInt64
    private let clock: HistoryClock
    private var count = 0
    private(set) var steps: [String] = []

    init(seed: UInt64, schema: String) {
        (self.seed, self.schema) = (seed, schema)
        clock = HistoryClock(seed: seed)
        random = SeededNumbers(state: seed &* 0x9E37_79B9_7F4A_7C15 &+ 1)
    }

    func problems() async throws -> [String] {
        let idempotency: ServiceCapabilities.CreateIdempotency = number(2) == 0 ? .idempotencyKey : .matchByContent
        let service = InMemoryService(
            ServiceCapabilities(
                idAssignment: .server, deletionDetection: number(2) == 0 ? .tombstones : .listing,
                createIdempotency: idempotency,
                supportsPreconditions: number(3) > 0, providesModificationTimes: true, maxBatchSize: 1 + number(4),
                requiresClientCascades: true,
                supportsCompositeIDs: true), pageSize: 1 + number(5)
        ) { [clock] in clock.advance() }
        let deletions = DeleteConflictPolicy.allCases[number(2)]
        let policy: ConflictPolicy = number(2) == 0 ? .clientWins : .serverWins
        steps.append("\(service.capabilities) \(deletions) \(policy)")
        let entities = ["Area", "Place", "Mark"].map {
            SyncedEntity($0, conflictPolicy: policy, deleteConflictPolicy: deletions)
        }
        var configuration = Device.configuration
        configuration.clock = clock.ofEngine
        configuration.deletionLimit = nil
        configuration.inDoubtTimeout = .zero
        var devices: [Device] = []
        for index in 0..<(2 + number(2)) {
            let stack = try DataStack.inMemory(SyncModel(schemaData: Data(schema.utf8)))
            try clock.install(in: stack, index)
            devices.append(try Device(stack, service, entities: entities, configuration))
        }
        let mayFail = number(3) > 0
        for step in 0..<(15 + number(25)) {
            clock.begin(step: step)
            let index = number(devices.count)
            guard number(4) == 0 else {
                try await edit(devices[index], index)
                let orphans = try await devices[index].rows(Self.orphans)
                if !orphans.isEmpty { return ["after an edit device \(index) has notes of nothing: \(orphans)"] }
                continue
            }
            let faults = SeededFaults(seed &+ UInt64(step) &* 104_729, latest: 1)
            await service.deleteRequests()
            if mayFail { await service.setFault { _, number in faults.fault(number) } }
            do {
                steps.append("\(index) sync \(try await devices[index].engine.sync().total)")
            } catch {
                steps.append("\(index) sync: \(error)")
            }
            let orphans = try await devices[index].rows(Self.orphans)
            if !orphans.isEmpty { return ["after a sync device \(index) has notes of nothing: \(orphans)"] }
        }
        await service.setFault(nil)
        steps.append("-- quiet")
        for _ in 0..<4 {
            for (index, device) in devices.enumerated() {
                do { try await device.engine.sync() } catch { return ["device \(index) does not sync: \(error)"] }
            }
        }
        return try await compare(devices, service)
    }

    // MARK: Edits

    private func edit(_ device: Device, _ index: Int) async throws {
        count += 1
        let area = "(country, name, note) VALUES ('c\(number(2))', 'n\(number(2))', 'e\(count)')"
        let anArea = "(SELECT sync_id FROM Area ORDER BY country, name LIMIT 1 OFFSET \(number(3)))"
        let aPlace = "(SELECT sync_id FROM Place ORDER BY number, areaID LIMIT 1 OFFSET \(number(4)))"
        let aMark = "(SELECT sync_id FROM Mark ORDER BY kind, day LIMIT 1 OFFSET \(number(3)))"
        let day = "2026-11-0\(1 + number(2)) 00:00:00.000"
        let sql =
            switch number(24) {
            case 0: "INSERT OR IGNORE INTO Area \(area)"
            case 1: "INSERT OR REPLACE INTO Area \(area)"
            case 2: "DELETE FROM Area WHERE sync_id = \(anArea)"
            case 3: "UPDATE Area SET note = 'e\(count)' WHERE sync_id = \(anArea)"
            case 4: "UPDATE OR IGNORE Area SET name = 'n\(number(3))' WHERE sync_id = \(anArea)"
            case 5, 6:
                "INSERT OR IGNORE INTO Place (areaID, number, note) SELECT sync_id, \(number(2)), 'e\(count)' FROM Area WHERE sync_id = \(anArea)"
            case 7: "DELETE FROM Place WHERE sync_id = \(aPlace)"
            case 8: "UPDATE Place SET note = 'e\(count)' WHERE sync_id = \(aPlace)"
            case 9: "UPDATE OR IGNORE Place SET number = \(number(3)) WHERE sync_id = \(aPlace)"
            case 10:
                "INSERT OR REPLACE INTO Mark (kind, day, note, nearID) VALUES (\(number(2)), '\(day)', 'e\(count)', \(anArea))"
            case 11: "DELETE FROM Mark WHERE sync_id = \(aMark)"
            case 12, 18, 19, 20, 21:
                "INSERT OR IGNORE INTO Mark_places (placeID, markID) SELECT a, b FROM (SELECT \(aPlace) AS a, \(aMark) AS b) WHERE a IS NOT NULL AND b IS NOT NULL"
            case 13: "UPDATE OR IGNORE Mark SET kind = \(number(3)) WHERE sync_id = \(aMark)"
            case 14:
                "INSERT OR REPLACE INTO Place (areaID, number, note) SELECT sync_id, \(number(2)), 'e\(count)' FROM Area WHERE sync_id = \(anArea)"
            case 15: "UPDATE Place SET sync_id = (SELECT max(sync_id) + 1 FROM Place) WHERE sync_id = \(aPlace)"
            case 16: "UPDATE Mark SET sync_id = (SELECT max(sync_id) + 1 FROM Mark) WHERE sync_id = \(aMark)"
            case 17: "DELETE FROM Mark_places WHERE placeID = \(aPlace)"
            default: "DELETE FROM Mark_places WHERE rowid = (SELECT rowid FROM Mark_places LIMIT 1 OFFSET \(number(3)))"
            }
        steps.append("\(index) \(sql)")
        clock.advance()
        try await device.write(sql)
    }

    // MARK: Checks

    private func compare(_ devices: [Device], _ service: InMemoryService) async throws -> [String] {
        var problems: [String] = []
        let server = await Self.lines(service)
        for (index, device) in devices.enumerated() {
            let rows = Set(try await device.rows(Self.sql))
            if rows != server {
                problems.append(
                    "device \(index) has \(rows.subtracting(server).sorted()), lacks \(server.subtracting(rows).sorted())"
                )
            }
            let left = try await device.leftovers()
            if !left.isEmpty { problems.append("device \(index) has left over: \(left)") }
            let broken = try await device.rows("PRAGMA foreign_key_check")
            if !broken.isEmpty { problems.append("device \(index) has dangling foreign keys: \(broken)") }
            let misnamed = try await device.rows(Self.misnamed)
            if !misnamed.isEmpty { problems.append("device \(index) knows rows by other names: \(misnamed)") }
            let report = try await device.engine.sync()
            if !report.isEmpty { problems.append("device \(index) is not done: \(report.total)") }
        }
        return problems
    }

    private static let sql = """
        SELECT 'Area', country, name, note FROM Area
        UNION ALL SELECT 'Place', a.country || ' ' || a.name, number, p.note FROM Place p JOIN Area a ON a.sync_id = areaID
        UNION ALL SELECT 'Mark', kind || ' ' || substr(day, 1, 10), m.note, a.name FROM Mark m LEFT JOIN Area a ON a.sync_id = nearID
        UNION ALL SELECT 'pair', a.country || ' ' || a.name || ' ' || number, kind, substr(day, 1, 10) FROM Mark_places x
          JOIN Place p ON p.sync_id = placeID JOIN Area a ON a.sync_id = areaID JOIN Mark m ON m.sync_id = markID
        """

    /// Edits that would never be sent, because no pending change belongs to their row, and open conflicts of deleted
    /// rows.
    private static let orphans = """
        SELECT 'link', owner, other, op FROM sync_link AS l
          WHERE NOT EXISTS (SELECT 1 FROM sync_outbox AS c WHERE c.e IN (2, 3) AND c.k = l.owner)
        UNION ALL SELECT 'base', e, k, field FROM sync_base AS b
          WHERE NOT EXISTS (SELECT 1 FROM sync_outbox AS c WHERE c.e = b.e AND c.k = b.k)
        UNION ALL SELECT 'conflict', e, k, field FROM sync_conflict AS o
          WHERE winner = 'open' AND NOT EXISTS (SELECT 1 FROM sync_known AS n WHERE n.e = o.e AND n.k = o.k)
        """

    private static let misnamed = """
        SELECT e, k, name FROM sync_known AS n WHERE NOT EXISTS (
          SELECT 1 FROM Area WHERE e = 1 AND sync_id = k AND json_array(country, Area.name) = n.name)
        AND NOT EXISTS (SELECT 1 FROM Place p JOIN Area a ON a.sync_id = areaID
          WHERE e = 2 AND p.sync_id = k AND json_array(country, a.name, number) = n.name)
        AND NOT EXISTS (SELECT 1 FROM Mark WHERE e = 3 AND sync_id = k AND json_array(kind, day) = n.name)
        """

    private static func lines(_ service: InMemoryService) async -> Set<String> {
        func text(_ value: JSONValue?) -> String {
            switch value {
            case .string(let text)?, .number(let text)?: text
            case .array(let parts)?: parts.map { text($0) }.joined(separator: " ")
            default: "nil"
            }
        }
        let areas = await service.contents(of: "Area")
        let places = await service.contents(of: "Place")
        let marks = await service.contents(of: "Mark")
        var lines: Set<String> = []
        for (id, row) in areas { lines.insert("Area \(text(id)) \(text(row["note"]))") }
        for (id, row) in marks {
            // The ID of a deleted row counts as null.
            var near = "nil"
            if let area = row["near_id"], areas[area] != nil, case .array(let parts) = area { near = text(parts.last) }
            lines.insert("Mark \(text(id).prefix(12)) \(text(row["note"])) \(near)")
        }
        for (id, row) in places {
            lines.insert("Place \(text(id)) \(text(row["note"]))")
            guard case .array(let ids)? = row["mark_ids"] else { continue }
            for mark in ids where marks[mark] != nil { lines.insert("pair \(text(id)) \(text(mark).prefix(12))") }
        }
        return lines
    }

    private func number(_ bound: Int) -> Int { Int(random.next() % UInt64(bound)) }
}
