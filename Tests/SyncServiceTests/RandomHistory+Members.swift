import Foundation
import GRDB
import Sync
import SyncStore

@testable import SyncService

/// The configuration with which a device of a history is opened again.
struct DeviceSetUp {
    let service: any SyncService
    let entities: [SyncedEntity]
    var configuration: SyncEngine.Configuration
}

// The steps of the members of a history.
extension RandomHistory {
    /// - Returns: Whether a member took the step.
    func takesMemberStep(_ index: Int, _ world: any HistoryWorld) async throws -> Bool {
        let all: Set<HistoryMember> = [.fewer, .triggers, .moves, .revived, .twins, .pairs, .mates, .absent, .partial]
        var steps = members.intersection(all).sorted()
        if members.contains(.cascades) { steps.append(.moves) }
        if members.contains(.refusals), world.service.capabilities.requiresClientCascades { steps.append(.refusals) }
        let isFrequent = !members.isDisjoint(with: [.pairs, .mates, .absent])
        guard !steps.isEmpty, number(isFrequent ? 2 : 4) == 0 else { return false }
        switch steps[number(steps.count)] {
        case .fewer: try await fewer(index)
        case .moves: try await move(index)
        case .absent: try await referenceAbsent(index, world)
        case .partial: try await referenceNewTag(index)
        case .mates: try await mate(index, world)
        case .pairs: try await pair(index, world)
        case .refusals: try await refuseCascade(index, world)
        case .revived: try await revive(index, world)
        case .twins: try await insert(index, "Task", "title")
        default: try await withoutTriggers(index, world)
        }
        return true
    }

    /// Returns a task and a project of a device; nil if it lacks one, after inserting both.
    private func taskAndProject(_ index: Int) async throws -> (task: String, project: String)? {
        let tasks = try await devices[index].rows(keys("Task"))
        let projects = try await devices[index].rows(keys("Project"))
        guard !tasks.isEmpty, !projects.isEmpty else {
            try await insert(index, "Task", "title")
            // Names are unique.
            count += 1
            try await insert(index, "Project", "name")
            return nil
        }
        return (tasks[number(tasks.count)], projects[number(projects.count)])
    }

    /// Moves a row below a row that another device deletes.
    private func move(_ index: Int) async throws {
        guard let (task, project) = try await taskAndProject(index) else { return }
        try await write(index, "UPDATE Task SET projectID = '\(project)' WHERE remoteID = '\(task)'")
        let other = (index + 1) % devices.count
        try await write(other, "DELETE FROM Project WHERE remoteID = '\(project)'")
        try await sync(devices[other], other, editing: nil)
    }

    /// Deletes a project as another client. The device deletes its tasks too, and the service rejects one of these
    /// deletions. Another device moves that task.
    private func refuseCascade(_ index: Int, _ world: any HistoryWorld) async throws {
        guard let (task, project) = try await taskAndProject(index) else { return }
        let other = (index + 1) % devices.count
        try await write(index, "UPDATE Task SET projectID = '\(project)' WHERE remoteID = '\(task)'")
        for index in [index, other] { try await sync(devices[index], index, editing: nil) }
        guard let id = try await world.contents(of: "Task").keys.first(where: { $0.plain == task }),
            try await remove("Project", project, world)
        else { return }
        await troubles.refuseDeletion(of: id, "Task")
        try await sync(devices[index], index, editing: nil)
        try await write(
            other,
            """
            UPDATE Task SET projectID = (SELECT remoteID FROM Project WHERE remoteID <> '\(project)' LIMIT 1)
            WHERE remoteID = '\(task)'
            """)
        try await sync(devices[other], other, editing: nil)
    }

    /// Deletes a row of the service as another client.
    private func remove(_ entity: String, _ key: String, _ world: any HistoryWorld) async throws -> Bool {
        guard let record = await world.remove(entity, key) else { return false }
        note("another client deletes \(entity) \(key)")
        await ledger.recordRemoved(record)
        return true
    }

    /// Has a row deleted by one device or another client, and edited by the other devices.
    private func revive(_ index: Int, _ world: any HistoryWorld) async throws {
        let tasks = try await devices[index].rows("SELECT remoteID FROM Task ORDER BY length(remoteID), remoteID")
        guard !tasks.isEmpty else { return try await insert(index, "Task", "title") }
        let task = tasks[number(tasks.count)]
        let isRemoved = number(2) == 0
        for other in devices.indices where isRemoved || other != index {
            count += 1
            let part = (other + number(2)) % 2 == 0 ? "title = 'e\(count)'" : "points = \(count)"
            try await write(other, "UPDATE Task SET \(part) WHERE remoteID = '\(task)'")
        }
        if number(2) == 0 {
            let other = (index + 1) % devices.count
            try await sync(devices[other], other, editing: nil)
        }
        if isRemoved {
            _ = try await remove("Task", task, world)
        } else {
            try await write(index, "DELETE FROM Task WHERE remoteID = '\(task)'")
            if number(2) == 0 { try await sync(devices[index], index, editing: nil) }
        }
        for other in devices.indices { try await sync(devices[other], other, editing: nil) }
    }

    func write(_ index: Int, _ sql: String) async throws {
        note("\(index) \(sql)")
        try await shadows[index].write(sql)
    }

    func reopen(_ index: Int) throws {
        guard let setUp else { return }
        devices[index] = try Device(
            devices[index].stack, setUp.service, entities: syncedEntities(of: index), setUp.configuration)
    }

    func syncedEntities(of index: Int) -> [SyncedEntity] {
        (setUp?.entities ?? []).filter { $0.name != "Tag" || !partial.contains(index) }
    }

    /// Runs or resets another engine of the same store with fewer entities.
    private func fewer(_ index: Int) async throws {
        guard let setUp else { return }
        let names = [["Project"], ["Tag"], ["Task", "Tag"]][number(3)]
        let engine = try SyncEngine(
            stack: devices[index].stack, service: setUp.service,
            entities: setUp.entities.filter { names.contains($0.name) }, configuration: setUp.configuration)
        await shadows[index].lookAway()
        if number(2) == 0 {
            note("\(index) reset local by an engine of \(names)")
            try await engine.reset(.localData)
            await shadows[index].forget()
        } else {
            note("\(index) sync by an engine of \(names)")
            do { try await engine.sync() } catch { note("\(error)") }
        }
        try reopen(index)
    }

    /// Runs another engine of the same store while a change of a run takes longer than two leases.
    func runAnother(_ index: Int) async {
        guard let setUp else { return }
        let stack = devices[index].stack
        note("meanwhile: \(index) sync by another engine")
        do {
            for _ in 0..<2 { try await passLease(stack) }
            let engine = try SyncEngine(
                stack: stack, service: setUp.service, entities: syncedEntities(of: index),
                configuration: setUp.configuration)
            try await engine.sync()
        } catch { note("\(error)") }
    }

    /// Shortens the lease to a second, and waits until its run renews it.
    private func passLease(_ stack: DataStack) async throws {
        let end = try await stack.write { db in
            try db.execute(sql: "UPDATE sync_lease SET until = until - 119000 WHERE holder <> ''")
            return try Int64.fetchOne(db, sql: "SELECT until FROM sync_lease WHERE holder <> ''") ?? 0
        }
        for _ in 0..<5_000 {
            let isRenewed = try await stack.read { db in
                try Bool.fetchOne(db, sql: "SELECT until > ? FROM sync_lease", arguments: [end]) ?? false
            }
            if isRenewed { return }
            try await Task.sleep(for: .milliseconds(2))
        }
    }

    /// Edits rows without change capture.
    private func withoutTriggers(_ index: Int, _ world: any HistoryWorld) async throws {
        await shadows[index].lookAway()
        if number(2) == 0 {
            try await write(
                index,
                "DELETE FROM Task WHERE remoteID = (SELECT remoteID FROM Task WHERE remoteID NOT LIKE '-%' LIMIT 1)")
        }
        try await devices[index].removeTriggers()
        note("\(index) without triggers:")
        for _ in 0...number(3) {
            if number(2) == 0 { try await edit(index) } else { try await againWithoutTriggers(index) }
        }
        try reopen(index)
        note("\(index) with triggers")
        if number(3) == 0 {
            note("\(index) reset relink")
            await world.listHiddenRows()
            try await devices[index].engine.reset(.cursors)
        }
    }

    /// Inserts a deleted row again whose deletion was not sent.
    private func againWithoutTriggers(_ index: Int) async throws {
        let gone = try await devices[index].rows("SELECT k FROM sync_outbox WHERE e = 2 AND kind = 'delete' LIMIT 1")
        guard let key = gone.first else { return }
        count += 1
        let sql = "INSERT OR IGNORE INTO Task (remoteID, title) VALUES ('\(key)', 'e\(count)')"
        note("\(index) \(sql)")
        try await shadows[index].write(sql)
    }

    /// Edits or deletes the row of a change during its request.
    func edit(_ change: HistoryChange, _ index: Int) async {
        count += 1
        let column = change.entity == "Task" ? "title" : "name"
        let name = (change.body["title"] ?? change.body["name"] ?? .null).plain
        let row = change.id.map { "remoteID = '\($0.plain)'" } ?? "\(column) = '\(name)'"
        let sql =
            number(4) == 0 && !members.contains(.writers)
            ? "DELETE FROM \(change.entity) WHERE \(row)"
            : "UPDATE \(change.entity) SET \(column) = 'e\(count)' WHERE \(row)"
        note("meanwhile: \(index) \(sql)")
        do { try await shadows[index].write(sql) } catch { note("\(error)") }
    }

    // MARK: Decisions

    /// Resolves open conflicts at random.
    func resolve(_ index: Int, isLast: Bool) async throws {
        guard members.contains(.manual), isLast || number(2) == 0 else { return }
        for conflict in try await devices[index].engine.conflicts() where conflict.winner == "open" {
            guard isLast || number(2) == 0 else { continue }
            let side: SyncConflict.Side = number(2) == 0 ? .remote : .local
            note(
                "\(index) resolves \(conflict.entity) \(conflict.key) \(conflict.field): \(side)"
            )
            let before = try await devices[index].stack.read(HistoryLedger.lines)
            do {
                try await devices[index].engine.resolve(
                    conflict.entity, key: conflict.key.json, field: conflict.field.isEmpty ? nil : conflict.field,
                    keeping: side)
            } catch { note("\(error)") }
            // A local one-to-one reference that wins clears the references of other rows, as local edits.
            guard side == .local else { continue }
            await ledger.note(before, try await devices[index].stack.read(HistoryLedger.lines), by: index)
        }
    }

    /// Edits rows with rejected changes, so that they are sent again.
    func wake(_ index: Int, _ world: any HistoryWorld) async throws {
        let waiting = try await devices[index].rows(
            """
            SELECT e, kind, k, cause = 'cascade' FROM sync_outbox
            WHERE state = 'blocked' AND (message LIKE '%refused%' OR message LIKE '%\(RequestOutcome.unacceptedRowReason)')
            """)
        for line in waiting {
            let parts = line.split(separator: " ").map(String.init)
            guard parts.count == 4, let number = Int(parts[0]), (1...3).contains(number) else { continue }
            count += 1
            let (table, column) = [("Project", "name"), ("Task", "title"), ("Tag", "name")][number - 1]
            if parts[3] == "1", let row = try await world.contents(of: table).first(where: { $0.key.plain == parts[2] })
            {
                // The device deleted the row by a cascade, and now deletes it by itself.
                await ledger.recordRemoved(row.value)
            }
            let sql =
                parts[1] == "delete"
                ? """
                INSERT INTO \(table) (remoteID, \(column)) VALUES ('\(parts[2])', 'e\(count)');
                DELETE FROM \(table) WHERE remoteID = '\(parts[2])'
                """ : "UPDATE \(table) SET \(column) = 'e\(count)' WHERE remoteID = '\(parts[2])'"
            note("\(index) \(sql)")
            try await shadows[index].write(sql)
        }
    }

    /// Resets the cursors of a device if it has an accepted create whose row no list has, so that it sends the create
    /// again. Another device deleted the row before this device found it.
    func resendAccepted(_ index: Int) async throws {
        let accepted = try await devices[index].rows("SELECT k FROM sync_request WHERE accepted_seq IS NOT NULL")
        guard !accepted.isEmpty else { return }
        note("\(index) reset relink, for accepted rows \(accepted)")
        try await devices[index].engine.reset(.cursors)
    }

    /// Checks that each blocked change was rejected, and that no later edit is blocked with it.
    func judgeParked(_ index: Int) async throws {
        guard members.contains(.refusals) else { return }
        let values = await troubles.refusedValues
        let deletions = await troubles.refusedDeletions
        let waiting = """
            SELECT %@ AS value FROM sync_outbox c JOIN %@ x ON x.remoteID = c.k WHERE c.e = %@ AND c.state = 'blocked'
              AND c.message LIKE '%refused%' AND EXISTS (SELECT 1 FROM sync_base WHERE e = c.e AND k = c.k AND field = '%@')
            """
        for (number, table, column) in [("1", "Project", "name"), ("2", "Task", "title"), ("3", "Tag", "name")] {
            let sql = [column, table, number, column].reduce(waiting) { text, part in
                text.range(of: "%@").map { text.replacingCharacters(in: $0, with: part) } ?? text
            }
            for value in try await devices[index].rows(sql)
            where value != "nil" && !values.contains(value) {
                parkedProblems.append("device \(index) has \(column) '\(value)' wait, which was never refused")
            }
            let deleted = try await devices[index].rows(
                "SELECT k FROM sync_outbox WHERE e = \(number) AND kind = 'delete' AND state = 'blocked' AND message LIKE '%refused%'"
            )
            for key in deleted where !deletions.contains("\(table) \(key)") {
                parkedProblems.append(
                    "device \(index) has the deletion of \(table) \(key) wait, which was never refused")
            }
        }
    }
}
