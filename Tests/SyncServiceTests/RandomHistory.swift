import Foundation
import GRDB
import Sync
import SyncTesting

@testable import SyncService

/// A history that a seed makes: devices that edit, a service that fails, syncs in between.
///
/// Each step has random numbers of its own, so that a history that fails can be made smaller by leaving steps out.
actor RandomHistory {
    private var random: SeededNumbers
    private let seed: UInt64
    private let omitted: Set<Int>
    private let place: HistoryPlace
    private(set) var steps: [String] = []
    /// How many steps it has, those that are left out among them.
    private(set) var length = 0
    private var count = 0
    private var shadows: [ShadowLog] = []
    private var takesKeys = false

    init(seed: UInt64, at place: HistoryPlace = .memory, omitting omitted: Set<Int> = []) {
        self.seed = seed
        self.place = place
        self.omitted = omitted
        random = SeededNumbers(state: seed &* 0x9E37_79B9_7F4A_7C15 &+ 1)
    }

    var text: String { steps.joined(separator: "\n") }

    /// - Returns: What does not hold at the end; nil if all does.
    func problems() async throws -> [String]? {
        let problems = try await run()
        return problems.isEmpty ? nil : problems
    }

    private func run() async throws -> [String] {
        let world: any HistoryWorld =
            switch place {
            case .memory: MemoryWorld(FakeService(capabilities(), pageSize: 1 + number(5)))
            case .pocketBase: try await PocketBaseWorld(pageSize: 1 + number(5), batchSize: 1 + number(6))
            case .parse: try await ParseWorld(ids: ParseWorld.IDs.allCases[number(4)], pageSize: 1 + number(5))
            case .changes: try await ChangesWorld()
            }
        let service = world.service
        let policies: [ConflictPolicy] = [.clientWins, .serverWins, .lastWriterWins]
        let policy = policies[number(service.capabilities.givesTimes ? 3 : 2)]
        // Nothing tells a service without keys that another device has brought a row back already.
        let canRevive = service.capabilities.createIdempotency != .probe
        let deletions = canRevive ? DeleteConflictPolicy.allCases[number(2)] : .deleteWins
        let isOneDomain = number(5) == 0
        let does = service.capabilities
        takesKeys = does.ids == .client
        note(
            "\(does.ids) \(does.deletions) \(does.createIdempotency) \(does.hasPreconditions) \(policy) \(deletions) \(isOneDomain)"
        )
        let entities = ["Project", "Task", "Tag"].map {
            SyncedEntity($0, policy: policy, deleteConflicts: deletions, isOneDomain: isOneDomain)
        }
        var settings = Device.settings
        settings.deletionGuard = nil
        settings.settleTime = .zero
        // Some give up at once, and leave requests that were never answered.
        if seed % 4 == 3 { settings.attempts = 1 }
        var schema = Device.schema.replacingOccurrences(
            of: "\"entity\": \"Tag\", \"many\": true", with: "\"entity\": \"Tag\", \"many\": true, \"ordered\": true")
        if does.ids == .client || place == .parse {
            schema = schema.replacingOccurrences(
                of: "\"remoteID\": {\"type\": \"integer\"}", with: "\"remoteID\": {\"type\": \"string\"}")
        }
        // What a store was restored from may have lost the key of a row that the service has: it must know it again.
        let mayBeRestored = number(3) == 0 && does.createIdempotency != .probe
        let serviceMayBeRestored = number(4) == 0 && does.createIdempotency != .probe
        // Of two rows with one title, which others may make so, the first device could store one only.
        let replaces = number(3) == 0 && deletions == .deleteWins && !mayBeRestored && !serviceMayBeRestored
        var devices: [Device] = []
        for index in 0..<(2 + number(2)) {
            let stack = try DataStack.inMemory(SyncModel(schema: Data(schema.utf8)))
            if replaces, index == 0 {
                try await stack.write { db in try db.execute(sql: "CREATE UNIQUE INDEX app_title ON Task (title)") }
            }
            let device = try Device(stack, service, entities: entities, settings)
            devices.append(device)
            shadows.append(try await ShadowLog(device))
        }
        let mayFail = number(3) > 0
        let edits = number(2) == 0
        length = 10 + number(30)
        for step in 0..<length {
            count = 100 * (step + 1)
            random = SeededNumbers(state: seed &* 31 &+ UInt64(step) &* 0x2545_F491_4F6C_DD1D)
            if omitted.contains(step) { continue }
            let faults = SeededFaults(seed &+ UInt64(step) &* 104_729, latest: latest(does.createIdempotency))
            await world.setFaults(mayFail ? faults : nil)
            let index = number(devices.count)
            switch number(16) {
            case 0...3:
                if let problem = try await shadows[index].compare() { return ["device \(index): \(problem)"] }
                try await sync(devices[index], index, editing: edits ? world : nil)
            case 4 where mayBeRestored:
                note("\(index) goes back to an older copy")
                try await shadows[index].restore()
            case 5 where serviceMayBeRestored: try await goBack(world, devices)
            case 6 where replaces: try await replace()
            default: try await edit(index)
            }
        }
        await world.setFaults(nil)
        note("-- quiet")
        for (index, shadow) in shadows.enumerated() {
            if let problem = try await shadow.compare() { return ["device \(index): \(problem)"] }
        }
        for _ in 0..<4 {
            for (index, device) in devices.enumerated() {
                do {
                    try await device.engine.sync()
                } catch {
                    return ["device \(index) does not sync: \(error)"]
                }
            }
        }
        return try await problems(devices, world)
    }

    private func capabilities() -> ServiceCapabilities {
        let isClient = number(2) == 0
        let idempotency: ServiceCapabilities.CreateIdempotency =
            isClient ? .clientID : [.key, .marker("marker"), .probe][number(3)]
        return ServiceCapabilities(
            ids: isClient ? .client : .server, deletions: number(2) == 0 ? .tombstones : .sweep,
            createIdempotency: idempotency, hasPreconditions: number(3) > 0, givesTimes: true, batchSize: 1 + number(6),
            sendsCascades: true, ordersVersions: true)
    }

    /// How many requests later one may be carried out whose answer was lost: a row that is looked for must be there by then.
    private func latest(_ idempotency: ServiceCapabilities.CreateIdempotency) -> UInt64 {
        switch idempotency {
        case .clientID, .key: 4
        case .marker, .probe: 1
        }
    }

    // MARK: Steps

    private func sync(_ device: Device, _ index: Int, editing world: (any HistoryWorld)?) async throws {
        await world?.setMeanwhile { [self] in await perhapsEdit(index) }
        do {
            let report = try await device.engine.sync()
            note("\(index) sync \(report.total)")
        } catch {
            note("\(index) sync: \(error)")
        }
        await world?.setMeanwhile(nil)
        try await shadows[index].look()
    }

    /// The service is restored from a copy, and everybody is told.
    private func goBack(_ world: any HistoryWorld, _ devices: [Device]) async throws {
        guard let isBack = await world.goBack() else { return }
        note(isBack ? "the service goes back to its copy" : "the service is copied")
        guard isBack else { return }
        for device in devices { try await device.engine.reset(.relink) }
    }

    /// A row takes the place of another one by the unique index that the app of the first device made.
    private func replace() async throws {
        let rows = "FROM Task WHERE title IS NOT NULL ORDER BY length(remoteID), remoteID LIMIT 1"
        let sql = """
            UPDATE OR REPLACE Task SET title = (SELECT title \(rows) OFFSET \(number(4)))
            WHERE remoteID = (SELECT remoteID \(rows) OFFSET \(number(4)))
            """
        note("0 \(sql)")
        try await shadows[0].write(sql)
    }

    private func perhapsEdit(_ index: Int) async {
        // A run sends until nothing is left: somebody who edits for ever has it run for ever.
        guard number(3) == 0, count % 100 < 40 else { return }
        note("meanwhile:")
        do { try await edit(index) } catch { note("\(error)") }
    }

    private func edit(_ index: Int) async throws {
        count += 1
        let sql: String
        func some(_ table: String) -> String {
            "(SELECT remoteID FROM \(table) ORDER BY length(remoteID), remoteID LIMIT 1 OFFSET \(number(5)))"
        }
        switch number(14) {
        case 0: return try await insert(index, "Project", "name")
        case 1, 2, 3: return try await insert(index, "Task", "title")
        case 4: return try await insert(index, "Tag", "name")
        case 5: sql = "UPDATE Task SET title = 'e\(count)' WHERE remoteID = \(some("Task"))"
        case 6: sql = "UPDATE Task SET points = \(count), done = \(number(2)) WHERE remoteID = \(some("Task"))"
        case 7: sql = "UPDATE Task SET projectID = \(some("Project")) WHERE remoteID = \(some("Task"))"
        case 8: sql = "DELETE FROM Task WHERE remoteID = \(some("Task"))"
        case 9:
            sql =
                "INSERT OR IGNORE INTO Tag_tasks (taskID, tagID) SELECT a, b FROM (SELECT \(some("Task")) AS a, \(some("Tag")) AS b) WHERE a IS NOT NULL AND b IS NOT NULL"
        case 10: sql = "DELETE FROM Tag_tasks WHERE rowid = (SELECT rowid FROM Tag_tasks LIMIT 1 OFFSET \(number(3)))"
        case 11:
            let order = ["-\(Device.place)", "length(tagID), tagID", "tagID DESC"][number(3)]
            sql = """
                UPDATE Tag_tasks SET \(Device.place) = place FROM (
                  SELECT taskID AS task, tagID AS tag, row_number() OVER (PARTITION BY taskID ORDER BY \(order)) AS place
                  FROM Tag_tasks)
                WHERE taskID = task AND tagID = tag AND taskID = \(some("Task"))
                """
        case 12:
            // As an app that knows no upsert; its pairs go with the row, and some are made anew.
            sql = """
                INSERT OR REPLACE INTO Task (remoteID, title, points, done, projectID)
                SELECT remoteID, 'e\(count)', points, done, projectID FROM Task WHERE remoteID = \(some("Task"));
                INSERT OR IGNORE INTO Tag_tasks (taskID, tagID)
                SELECT remoteID, \(some("Tag")) FROM Task WHERE title = 'e\(count)' AND \(some("Tag")) IS NOT NULL
                """
        default:
            sql =
                number(3) == 0
                ? "DELETE FROM Project WHERE remoteID = \(some("Project"))"
                : "UPDATE Project SET name = 'p\(count)' WHERE remoteID = \(some("Project"))"
        }
        note("\(index) \(sql)")
        try await shadows[index].write(sql)
    }

    private func insert(_ index: Int, _ entity: String, _ attribute: String) async throws {
        // An app may give its rows ids by itself, where they are from here.
        let key = takesKeys && count % 3 == 0 ? "k" + String(String(count + 100_000_000_000_000).dropFirst()) : nil
        note("\(index) insert \(entity) n\(count) \(key ?? "")")
        try await shadows[index].insert(entity, attribute, "n\(count)", key: key)
    }

    // MARK: What must hold

    private func problems(_ devices: [Device], _ world: any HistoryWorld) async throws -> [String] {
        var problems: [String] = []
        let server = try await Self.lines(world)
        for (index, device) in devices.enumerated() {
            let rows = try await Self.lines(device, isOrdered: world.keepsOrder)
            if rows != server {
                problems.append(
                    "device \(index) has \(rows.subtracting(server).sorted()) and lacks \(server.subtracting(rows).sorted())"
                )
            }
            let left = try await device.leftovers()
            if !left.isEmpty { problems.append("device \(index) has left over: \(left)") }
            let broken = try await device.rows("PRAGMA foreign_key_check")
            if !broken.isEmpty { problems.append("device \(index) has dangling foreign keys: \(broken)") }
            let orphans = try await device.rows(
                """
                SELECT 'known', e, k FROM sync_known n WHERE NOT EXISTS (SELECT 1 FROM Project WHERE remoteID = n.k AND n.e = 1)
                  AND NOT EXISTS (SELECT 1 FROM Task WHERE remoteID = n.k AND n.e = 2)
                  AND NOT EXISTS (SELECT 1 FROM Tag WHERE remoteID = n.k AND n.e = 3)
                """)
            if !orphans.isEmpty { problems.append("device \(index) knows rows that are not there: \(orphans)") }
            let report = try await device.engine.sync()
            if !report.isEmpty { problems.append("device \(index) is not done: \(report)") }
            let lost = try await shadows[index].lost(accepted: await world.accepted)
            if !lost.isEmpty { problems.append("device \(index) lost without a word: \(lost.sorted())") }
        }
        // Each row has a name of its own.
        for entity in ["Project", "Task", "Tag"] {
            let names = try await world.contents(of: entity).values.compactMap { $0["title"] ?? $0["name"] }
            if Set(names).count != names.count { problems.append("\(entity) has rows twice") }
        }
        return problems
    }

    private static func lines(_ world: any HistoryWorld) async throws -> Set<String> {
        var lines: Set<String> = []
        func text(_ value: JSONValue?) -> String {
            switch value {
            case .string(let text)?, .number(let text)?: text
            case .bool(let flag)?: flag ? "1" : "0"
            default: "nil"
            }
        }
        for (id, row) in try await world.contents(of: "Project") {
            lines.insert("Project \(text(id)) \(text(row["name"]))")
        }
        for (id, row) in try await world.contents(of: "Tag") { lines.insert("Tag \(text(id)) \(text(row["name"]))") }
        let projects = try await world.contents(of: "Project")
        let tags = try await world.contents(of: "Tag")
        for (id, row) in try await world.contents(of: "Task") {
            // An id of a row that is gone is none.
            let project = row["project_id"].flatMap { projects[$0] == nil ? nil : text($0) } ?? "nil"
            lines.insert(
                "Task \(text(id)) \(text(row["title"])) \(text(row["points"])) \(text(row["done"])) \(project)")
            guard case .array(let ids)? = row["tag_ids"] else { continue }
            let names = ids.filter { tags[$0] != nil }.map(text)
            let list = (world.keepsOrder ? names : names.sorted()).joined(separator: " ")
            if !list.isEmpty { lines.insert("list \(text(id)) \(list)") }
        }
        return lines
    }

    private static func lines(_ device: Device, isOrdered: Bool) async throws -> Set<String> {
        Set(
            try await device.rows(
                """
                SELECT 'Project', remoteID, name FROM Project
                """) + device.rows("SELECT 'Tag', remoteID, name FROM Tag")
                + device.rows("SELECT 'Task', remoteID, title, points, done, projectID FROM Task")
                + device.rows(
                    """
                    SELECT 'list', taskID, group_concat(tagID, ' ')
                    FROM (SELECT * FROM Tag_tasks ORDER BY taskID, \(isOrdered ? "\(Device.place) NULLS LAST, tagID" : "tagID"))
                    GROUP BY taskID
                    """))
    }

    // MARK: Chance

    private func number(_ bound: Int) -> Int { Int(random.next() % UInt64(bound)) }
    private func note(_ step: String) { steps.append(step) }
}

/// Faults that a seed makes.
struct SeededFaults: Sendable {
    private let seed: UInt64
    private let latest: UInt64

    /// - Parameter latest: A request is carried out so many requests later, at most.
    init(_ seed: UInt64, latest: UInt64) { (self.seed, self.latest) = (seed, latest) }

    func fault(_ number: Int) -> FakeService.Fault? {
        var random = SeededNumbers(state: seed &* 31 &+ UInt64(number) &* 7919)
        _ = random.next()
        switch random.next() % 12 {
        case 0: return .dropBefore
        case 1: return .dropAfter
        case 2: return .busy
        case 3: return .late(Int(random.next() % latest))
        default: return nil
        }
    }
}

/// SplitMix64.
struct SeededNumbers: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}
