import Foundation
import GRDB
import Sync
import SyncTesting

@testable import SyncService

/// A random history of a seed: devices edit, a service fails, and the devices sync.
///
/// Each step has its own random numbers, so that a failing history can be shortened by omitting steps.
actor RandomHistory {
    private var random: SeededNumbers
    private let seed: UInt64
    private let omitted: Set<Int>
    let place: HistoryPlace
    private(set) var steps: [String] = []
    /// The number of steps, including omitted ones.
    private(set) var length = 0
    var count = 0
    var shadows: [ShadowLog] = []
    var devices: [Device] = []
    /// Whether clients assign IDs.
    private(set) var takesKeys = false
    let members: Set<HistoryMember>
    let troubles: HistoryTroubles
    let clock: HistoryClock
    let ledger: HistoryLedger
    var setUp: DeviceSetUp?
    /// The devices whose engine does not sync tags yet.
    var partial: Set<Int> = []
    /// The problems of changes that are blocked and were never rejected.
    var parkedProblems: [String] = []
    /// Whether stores or the service may be restored from older copies, or rows replace others.
    private(set) var isRestored = false
    /// Whether an edit of one field of a row may decide other fields too.
    private(set) var isOneDomain = false

    init(seed: UInt64, at place: HistoryPlace = .memory, omitting omitted: Set<Int> = []) {
        self.seed = seed
        self.place = place
        self.omitted = omitted
        members = HistoryMember.chosen(by: seed, at: place)
        troubles = HistoryTroubles(members)
        clock = HistoryClock(seed: seed)
        ledger = HistoryLedger(clock)
        random = SeededNumbers(state: seed &* 0x9E37_79B9_7F4A_7C15 &+ 1)
    }

    var text: String { steps.joined(separator: "\n") }

    /// - Returns: The problems at the end; nil if there are none.
    func problems() async throws -> [String]? {
        let problems = try await run()
        return problems.isEmpty ? nil : problems
    }

    private func run() async throws -> [String] {
        let world = try await world()
        let service = world.service
        var policies: [ConflictPolicy] = [.clientWins, .serverWins, .lastWriterWins]
        if members.contains(.manual) { policies = [.manual, .manual, .manual] }
        if members.contains(.twins), world.hasTimes { policies = [.lastWriterWins, .lastWriterWins, .clientWins] }
        let policy = policies[number(world.hasTimes ? 3 : 2)]
        // Without idempotency keys a service cannot know that another device has restored a row already.
        let canRevive = service.capabilities.createIdempotency != .matchByContent
        let comesBack = canRevive && !members.isDisjoint(with: [.revived, .reserved])
        let deletions = comesBack ? .editWins : canRevive ? DeleteConflictPolicy.allCases[number(2)] : .deleteWins
        let isWhole = number(5) == 0 || members.contains(.whole)
        isOneDomain = isWhole || members.contains(.grouped)
        let does = service.capabilities
        takesKeys = does.idAssignment == .client
        note(
            "\(does.idAssignment) \(does.deletionDetection) \(does.createIdempotency) \(does.supportsPreconditions) \(policy) \(deletions) \(isOneDomain)"
                + members.sorted().map { " \($0)" }.joined()
        )
        let entities = ["Project", "Task", "Tag"].map { name in
            SyncedEntity(
                name, conflictPolicy: policy, deleteConflictPolicy: deletions, mergesWholeRow: isWhole,
                fieldGroups: isWhole ? [] : fieldGroups(of: name))
        }
        var configuration = Device.configuration
        if place.hasHistoryClock { configuration.clock = clock.ofEngine }
        configuration.deletionLimit = members.contains(.guarded) ? .half : nil
        configuration.inDoubtTimeout = .zero
        if members.contains(.slow) { configuration.clock.beat = { try await Task.sleep(for: .milliseconds(5)) } }
        // Some runs have one attempt, and leave in-doubt requests.
        if seed % 4 == 3 || members.contains(.lost) { configuration.maxAttempts = 1 }
        var schema = Device.schema.replacingOccurrences(
            of: "\"entity\": \"Tag\", \"many\": true", with: "\"entity\": \"Tag\", \"many\": true, \"ordered\": true")
        if does.idAssignment == .client || place == .parse {
            schema = schema.replacingOccurrences(
                of: "\"remoteID\": {\"type\": \"integer\"}", with: "\"remoteID\": {\"type\": \"string\"}")
        }
        schema = withOneToOneReferences(schema)
        // The copy of a store may lack the key of a created row, so the service must identify the row.
        // A store without a row that another client created would delete the rows that reference it.
        let mayGoBack = does.createIdempotency != .matchByContent && !members.contains(.absent)
        // The copy of a store may lack the engine's triggers of an entity that is synced later.
        let mayBeRestored = number(3) == 0 && mayGoBack && !members.contains(.partial)
        let serviceMayBeRestored = number(4) == 0 && mayGoBack
        // If others create two rows with one title, the first device could store only one of them.
        let replaces = number(3) == 0 && deletions == .deleteWins && !mayBeRestored && !serviceMayBeRestored
        setUp = DeviceSetUp(service: service, entities: entities, configuration: configuration)
        isRestored = mayBeRestored || serviceMayBeRestored || replaces
        for index in 0..<(2 + number(2)) {
            let stack = try DataStack.inMemory(SyncModel(schemaData: Data(schema.utf8)))
            if place.hasHistoryClock { try clock.install(in: stack, index) }
            if replaces, index == 0 {
                try await stack.write { db in try db.execute(sql: "CREATE UNIQUE INDEX app_title ON Task (title)") }
            }
            if members.contains(.partial), number(2) == 0 { partial.insert(index) }
            let device = try Device(stack, service, entities: syncedEntities(of: index), configuration)
            devices.append(device)
            shadows.append(try await ShadowLog(device, ledger, index: index))
            if partial.contains(index) { await shadows[index].lookAway() }
        }
        let mayFail = number(3) > 0
        let edits = number(2) == 0
        length = 10 + number(30)
        for step in 0..<length {
            count = 100 * (step + 1)
            clock.begin(step: step)
            random = SeededNumbers(state: seed &* 31 &+ UInt64(step) &* 0x2545_F491_4F6C_DD1D)
            if omitted.contains(step) { continue }
            let faults = SeededFaults(
                seed &+ UInt64(step) &* 104_729 &+ HistoryClock.salt &* 32_452_843,
                latest: latest(does.createIdempotency),
                isTimely: members.contains(.lost))
            await world.setFaults(mayFail ? faults : nil)
            let index = number(devices.count)
            await troubles.begin(seed &+ UInt64(step) &* 7_919 &+ HistoryClock.salt &* 15_485_863)
            await world.pass(random)
            if try await takesMemberStep(index, world) { continue }
            switch number(16) {
            case 0...3:
                if let problem = try await shadows[index].compare() { return ["device \(index): \(problem)"] }
                try await sync(devices[index], index, editing: edits ? world : nil)
            case 4 where mayBeRestored:
                note("\(index) goes back to an older copy")
                try await shadows[index].restore()
            case 5 where serviceMayBeRestored: try await goBack(world)
            case 6 where replaces: try await replace()
            default: try await edit(index)
            }
        }
        await world.setFaults(nil)
        clock.begin(step: length)
        note("-- quiet")
        for (index, shadow) in shadows.enumerated() {
            if let problem = try await shadow.compare() { return ["device \(index): \(problem)"] }
        }
        if let problems = try await rest(world) { return problems }
        return try await problems(world)
    }

    /// Syncs all devices until nothing is left to do.
    ///
    /// - Returns: The problems that prevent it.
    private func rest(_ world: any HistoryWorld) async throws -> [String]? {
        await troubles.end()
        for index in partial.sorted() { try syncTags(index) }
        if members.contains(.guarded) {
            setUp?.configuration.deletionLimit = nil
            for index in devices.indices { try reopen(index) }
        }
        for round in 0..<(members.isEmpty ? 4 : 8) {
            for (index, device) in devices.enumerated() {
                do {
                    try await device.engine.sync()
                } catch {
                    // A row that another device restored is accepted after three attempts.
                    guard members.contains(.revived), round < 3 else {
                        return ["device \(index) does not sync: \(error)"]
                    }
                }
                try await resolve(index, isLast: true)
                if round == 1, members.contains(.ghosts), world.service.capabilities.deletionDetection == .tombstones {
                    try await device.engine.reset(.cursors)
                }
                if round == 1, members.contains(.bodiless) { try await resendAccepted(index) }
                if round == 2, members.contains(.refusals) { try await wake(index, world) }
            }
        }
        return nil
    }

    private func world() async throws -> any HistoryWorld {
        switch place {
        case .memory:
            await MemoryWorld(memoryService(), troubles, ledger, members)
        case .pocketBase: try await PocketBaseWorld(pageSize: 1 + number(5), batchSize: 1 + number(6))
        case .parse: try await ParseWorld(ids: ParseWorld.IDs.allCases[number(4)], pageSize: 1 + number(5))
        case .changes: try await ChangesWorld()
        case .kinto: try await KintoWorld(pageSize: 1 + number(5))
        case .server: try await RESTServerWorld(RESTMake { number($0) })
        case .rest: try RESTWorld(RESTMake { number($0) }, troubles, ledger, members)
        }
    }

    private func memoryService() -> InMemoryService {
        InMemoryService(capabilities(), pageSize: 1 + number(5)) { [clock] in clock.advance() }
    }

    private func fieldGroups(of entity: String) -> [[String]] {
        guard members.contains(.grouped) else { return [] }
        switch entity {
        case "Task": return [["title", "project"], ["points", "done"]]
        case "Project": return members.contains(.pairs) ? [["name", "badge"]] : []
        default: return []
        }
    }

    private func withOneToOneReferences(_ schema: String) -> String {
        var schema = schema
        func add(_ relationship: String, after text: String) {
            schema = schema.replacingOccurrences(of: text, with: text + ", " + relationship)
        }
        if members.contains(.mates) {
            add(#""mate": {"entity": "Project", "inverse": "mate"}"#, after: #""deleteRule": "cascade"}"#)
        }
        if members.contains(.pairs) {
            add(#""badge": {"entity": "Tag", "inverse": "project"}"#, after: #""deleteRule": "cascade"}"#)
            // The list stays with the task: otherwise the tag would have as many relationships, and would be sent with it.
            schema = schema.replacingOccurrences(
                of: #""inverse": "tags"}"#, with: #""inverse": "tags", "export": false}"#)
            add(
                #""project": {"entity": "Project", "inverse": "badge"}"#, after: #""inverse": "tags", "export": false}"#
            )
        }
        return schema
    }

    /// Whether another client writes rows. A device could not find its new row by values that such a client changed.
    private var hasOtherWriters: Bool { !members.isDisjoint(with: [.pairs, .mates, .absent]) }

    private func capabilities() -> ServiceCapabilities {
        let isClient = number(2) == 0
        let idempotency: ServiceCapabilities.CreateIdempotency =
            isClient
            ? .clientID
            : [.idempotencyKey, .markerField("marker"), .matchByContent][number(hasOtherWriters ? 2 : 3)]
        return ServiceCapabilities(
            idAssignment: isClient ? .client : .server, deletionDetection: number(2) == 0 ? .tombstones : .listing,
            createIdempotency: idempotency, supportsPreconditions: number(3) > 0, providesModificationTimes: true,
            maxBatchSize: 1 + number(6), maxConcurrentRequests: 1 + number(3),
            requiresClientCascades: !members.contains(.cascades), hasOrderedVersions: true)
    }

    /// Returns the number of requests after which a request with a lost answer may still be carried out. A row that is
    /// looked up must exist by then.
    private func latest(_ idempotency: ServiceCapabilities.CreateIdempotency) -> UInt64 {
        switch idempotency {
        case .clientID, .idempotencyKey: 4
        case .markerField, .matchByContent: 1
        }
    }

    // MARK: Steps

    func sync(_ device: Device, _ index: Int, editing world: (any HistoryWorld)?) async throws {
        await world?.setMeanwhile { [self] in await perhapsEdit(index) }
        await troubles.beginRun(knowing: try await known(by: device)) { [self] change in
            await edit(change, index)
        } pause: { [self] in
            await runAnother(index)
        }
        do {
            let report = try await device.engine.sync()
            note("\(index) sync \(report.total)")
        } catch {
            note("\(index) sync: \(error)")
        }
        await world?.setMeanwhile(nil)
        await troubles.endRun()
        try await judgeParked(index)
        try await resolve(index, isLast: false)
        try await shadows[index].look()
        // Triggers do not capture edits of tags.
        if partial.contains(index) { await shadows[index].lookAway() }
    }

    private func known(by device: Device) async throws -> Set<HistoryRow> {
        guard members.contains(.wrong) else { return [] }
        var rows: Set<HistoryRow> = []
        for (index, entity) in ["Project", "Task", "Tag"].enumerated() {
            let keys = try await device.rows("SELECT k FROM sync_known WHERE e = \(index + 1)")
            rows.formUnion(keys.map { HistoryRow(entity: entity, key: $0) })
        }
        return rows
    }

    /// Copies the service, or restores it from the copy and tells all devices.
    private func goBack(_ world: any HistoryWorld) async throws {
        guard let isBack = await world.goBack() else { return }
        note(isBack ? "the service goes back to its copy" : "the service is copied")
        guard isBack else { return }
        await world.listHiddenRows()
        for (device, shadow) in zip(devices, shadows) {
            try await device.engine.reset(.cursors)
            await shadow.discardCopy()
        }
    }

    /// Replaces a row through the unique index that the app of the first device created.
    private func replace() async throws {
        let rows = "FROM Task WHERE title IS NOT NULL ORDER BY length(remoteID), remoteID LIMIT 1"
        let sql = """
            UPDATE OR REPLACE Task SET title = ifnull((SELECT title \(rows) OFFSET \(number(4))), title)
            WHERE remoteID = (SELECT remoteID \(rows) OFFSET \(number(4)))
            """
        note("0 \(sql)")
        try await shadows[0].write(sql)
    }

    private func perhapsEdit(_ index: Int) async {
        // A run sends until nothing is left, so endless edits would make an endless run.
        guard number(3) == 0, count % 100 < 40 else { return }
        note("meanwhile:")
        do { try await edit(index) } catch { note("\(error)") }
    }

    func edit(_ index: Int) async throws {
        count += 1
        let sql: String
        func some(_ table: String) -> String {
            "(\(keys(table)) LIMIT 1 OFFSET \(number(5)))"
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
            // An app without upserts: links are deleted with the row, and some are inserted again.
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

    /// Returns the query for the keys of the rows that devices edit.
    func keys(_ table: String) -> String {
        var others: [String] = []
        // Rows that are only nested in others must not be edited.
        if members.contains(.nested), table == "Project" { others.append("inside*") }
        if members.contains(.absent), table != "Task" { others.append(AbsentRow.names) }
        let edited = others.isEmpty ? "" : "WHERE " + others.map { "name NOT GLOB '\($0)'" }.joined(separator: " AND ")
        return "SELECT remoteID FROM \(table) \(edited) ORDER BY length(remoteID), remoteID"
    }

    func insert(_ index: Int, _ entity: String, _ attribute: String) async throws {
        // An app may assign client IDs itself.
        var key = takesKeys && count % 3 == 0 ? "k" + String(String(count + 100_000_000_000_000).dropFirst()) : nil
        if takesKeys, members.contains(.twins), number(2) == 0 {
            // Other devices create a row with this key too.
            let twin = "twin00000000\(100 + number(3))"
            if try await devices[index].rows("SELECT 1 FROM \(entity) WHERE remoteID = '\(twin)'").isEmpty {
                key = twin
            }
        }
        note("\(index) insert \(entity) n\(count) \(key ?? "")")
        try await shadows[index].insert(entity, attribute, "n\(count)", key: key)
    }

    // MARK: Random numbers

    func number(_ bound: Int) -> Int { Int(random.next() % UInt64(bound)) }
    func note(_ step: String) { steps.append(step) }
}
