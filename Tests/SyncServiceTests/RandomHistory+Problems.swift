import Foundation
import Sync
import SyncTesting

@testable import SyncService

extension RandomHistory {
    // MARK: Checks

    func problems(_ world: any HistoryWorld) async throws -> [String] {
        var problems = await parkedProblems + troubles.problems + ledger.problems
        let server = try await lines(world)
        for (index, device) in devices.enumerated() {
            let rows = try await lines(device, isOrdered: world.keepsOrder).filter { !isUnlisted($0, server) }
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
            problems += try await judgeRulings(index, world)
            problems += try await judgeLinks(index)
        }
        problems += try await judgeRows(world)
        // Names are unique.
        for entity in ["Project", "Task", "Tag"] {
            let names = try await world.contents(of: entity).values.compactMap { $0["title"] ?? $0["name"] }
            if Set(names).count != names.count { problems.append("\(entity) has rows twice") }
        }
        return problems
    }

    /// Returns whether a line is of a row that was only nested in another row and is no longer.
    private func isUnlisted(_ line: String, _ server: Set<String>) -> Bool {
        members.contains(.nested) && !server.contains(line) && line.hasPrefix("Project 90") && line.contains("inside")
    }

    /// Returns the impossible entries of the conflict log.
    private func judgeRulings(_ index: Int, _ world: any HistoryWorld) async throws -> [String] {
        guard !isRestored, !members.contains(.fewer) else { return [] }
        let rulings = try await devices[index].engine.conflicts().map { line in
            HistoryLedger.Ruling(
                domain: line.field, local: line.local == .null ? String?.none : line.local.plain,
                remote: line.remote == .null ? String?.none : line.remote.plain, winner: line.winner, why: line.why)
        }
        return await ledger.judge(
            rulings, of: index, knowsOwn: members.contains(.lost) && !members.contains(.triggers),
            isTimed: place == .memory, isOneDomain: isOneDomain)
    }

    /// Returns the references that a device lost without a log entry.
    private func judgeLinks(_ index: Int) async throws -> [String] {
        guard place == .memory, !isRestored, !members.contains(.fewer),
            !members.isDisjoint(with: HistoryLinks.members)
        else { return [] }
        let lines = try await devices[index].stack.read(HistoryLedger.lines)
        let logged = try await devices[index].engine.conflicts().map { conflict in
            HistoryLinks.Logged(row: "\(conflict.entity) \(conflict.key)", field: conflict.field)
        }
        return await ledger.judgeLinks(lines, logged: Set(logged), of: index)
    }

    /// Returns the impossible rows of the service.
    private func judgeRows(_ world: any HistoryWorld) async throws -> [String] {
        var records: [String: [JSONValue]] = [:]
        for entity in ["Project", "Task", "Tag"] {
            records[entity] = Array(try await world.contents(of: entity).values)
        }
        guard !isRestored else { return [] }
        return await ledger.judge(
            records, isRestored: members.contains(.fewer) || members.contains(.triggers),
            mayBeTwice: world.service.capabilities.createIdempotency == .matchByContent)
    }

    private func lines(_ world: any HistoryWorld) async throws -> Set<String> {
        var lines: Set<String> = []
        func text(_ value: JSONValue?) -> String {
            switch value {
            case .string(let text)?, .number(let text)?: text
            case .bool(let flag)?: flag ? "1" : "0"
            default: "nil"
            }
        }
        for (id, row) in try await world.contents(of: "Tag") { lines.insert("Tag \(text(id)) \(text(row["name"]))") }
        let projects = try await world.contents(of: "Project")
        var named: Set<JSONValue> = []
        let tags = try await world.contents(of: "Tag")
        for (id, row) in try await world.contents(of: "Task") {
            // The ID of a deleted row counts as null.
            if let id = row["project_id"] { named.insert(id) }
            let project = row["project_id"].flatMap { isLive($0, projects) ? text($0) : nil } ?? "nil"
            lines.insert(
                "Task \(text(id)) \(text(row["title"])) \(text(row["points"])) \(text(row["done"])) \(project)")
            guard case .array(let ids)? = row["tag_ids"] else { continue }
            for tag in ids where tags[tag] == nil && AbsentRow.contains(tag) {
                lines.insert("awaited \(text(id)) \(text(tag))")
            }
            let names = ids.filter { tags[$0] != nil }.map(text)
            let list = (world.keepsOrder ? names : names.sorted()).joined(separator: " ")
            if !list.isEmpty { lines.insert("list \(text(id)) \(list)") }
        }
        for (id, row) in projects {
            // A project that is only nested in tasks exists as long as a task has it.
            if members.contains(.nested), TroubledService.inside.contains(id), !named.contains(id) { continue }
            lines.insert("Project \(text(id)) \(text(row["name"]))")
            if let badge = row["badge_id"], isLive(badge, tags) { lines.insert("badge \(text(id)) \(text(badge))") }
            if let mate = row["mate_id"], projects[mate] != nil { lines.insert("mate \(text(id)) \(text(mate))") }
        }
        return lines
    }

    /// Returns whether the service has a row, or may have it later.
    private func isLive(_ id: JSONValue, _ rows: [JSONValue: JSONValue]) -> Bool {
        rows[id] != nil || AbsentRow.contains(id)
    }

    private func lines(_ device: Device, isOrdered: Bool) async throws -> Set<String> {
        let project = ReferenceSQL.liveValue(of: "projectID", "Task", "Task")
        let badge = members.contains(.pairs) ? ReferenceSQL.liveValue(of: "badgeID", "Project", "Project") : "NULL"
        let mate = members.contains(.mates) ? "mateID" : "NULL"
        let place = isOrdered ? "\(Device.place) NULLS LAST, tagID" : "tagID"
        let queries = [
            "SELECT 'Project', remoteID, name FROM Project",
            "SELECT 'Tag', remoteID, name FROM Tag",
            "SELECT 'Task', remoteID, title, points, done, \(project) FROM Task",
            "SELECT * FROM (SELECT 'badge', remoteID, \(badge) AS tag FROM Project) WHERE tag IS NOT NULL",
            "SELECT * FROM (SELECT 'mate', remoteID, \(mate) AS mate FROM Project) WHERE mate IS NOT NULL",
            """
            SELECT 'awaited', owner_key, target_key FROM sync_pending
            WHERE owner_entity = 'Task' AND relationship = 'tags' AND owner_key IN (SELECT remoteID FROM Task)
              AND \(AbsentRow.condition("target_key"))
            """,
            """
            SELECT 'list', taskID, group_concat(tagID, ' ')
            FROM (SELECT * FROM Tag_tasks ORDER BY taskID, \(place)) GROUP BY taskID
            """,
        ]
        var lines: Set<String> = []
        for query in queries { lines.formUnion(try await device.rows(query)) }
        return lines
    }
}
