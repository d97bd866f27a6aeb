import Sync
import SyncTesting

@testable import SyncService

// The steps with one-to-one references, and with references to rows that are not stored or not synced.
extension RandomHistory {
    /// Links a project to a tag, or unlinks it, here or as another client. The tag may be linked to another project.
    func pair(_ index: Int, _ world: any HistoryWorld) async throws {
        guard let project = try await one(of: devices[index].rows(keys("Project"))),
            let tag = try await one(of: devices[index].rows(keys("Tag")))
        else {
            try await insert(index, "Project", "name")
            // Names are unique.
            count += 1
            return try await insert(index, "Tag", "name")
        }
        switch number(members.contains(.absent) ? 7 : 6) {
        case 0: try await update(index, "Project", project, ["badge_id": id(tag)])
        case 6:
            let absent = try await absentID("Tag", of: index)
            try await update(index, "Project", project, ["badge_id": absent])
        case 1: try await update(index, "Tag", tag, ["project_id": id(project)])
        case 2:
            try await write(
                index,
                """
                UPDATE Project SET badgeID = NULL WHERE badgeID = '\(tag)';
                UPDATE Project SET badgeID = '\(tag)' WHERE remoteID = '\(project)'
                """)
        case 3: try await write(index, "UPDATE Project SET badgeID = NULL WHERE remoteID = '\(project)'")
        default: try await pairThere(world)
        }
    }

    /// Links a project to a tag as another client.
    private func pairThere(_ world: any HistoryWorld) async throws {
        guard let project = try await row("Project", in: world), let tag = try await row("Tag", in: world) else {
            return
        }
        try await write("Project", project, ["badge_id": tag], as: world)
    }

    /// Links two projects, or unlinks them, here or as another client.
    func mate(_ index: Int, _ world: any HistoryWorld) async throws {
        let projects = try await devices[index].rows(keys("Project"))
        guard let project = one(of: projects), let other = one(of: projects.filter { $0 != project }) else {
            return try await insert(index, "Project", "name")
        }
        let both = "('\(project)', '\(other)')"
        let unlinked = "UPDATE Project SET mateID = NULL WHERE remoteID IN \(both) OR mateID IN \(both)"
        switch number(6) {
        case 0, 1: try await update(index, "Project", project, ["mate_id": id(other)])
        case 2: try await update(index, "Project", project, ["mate_id": .null])
        case 3: try await write(index, unlinked)
        case 4:
            try await write(
                index,
                """
                \(unlinked);
                UPDATE Project SET mateID = '\(other)' WHERE remoteID = '\(project)';
                UPDATE Project SET mateID = '\(project)' WHERE remoteID = '\(other)'
                """)
        default:
            guard let here = try await row("Project", in: world), let there = try await row("Project", in: world),
                here != there
            else { return }
            try await write("Project", here, ["mate_id": there], as: world)
        }
    }

    // MARK: Absent rows

    /// References a row that is not stored, here or as another client, or creates such a row as another client.
    func referenceAbsent(_ index: Int, _ world: any HistoryWorld) async throws {
        count += 1
        guard let task = try await one(of: devices[index].rows(keys("Task"))) else {
            return try await insert(index, "Task", "title")
        }
        switch number(10) {
        case 0: try await arrive(index, world)
        case 1: try await referenceAbsentThere(index, world)
        case 2, 3:
            let project = try await absentID("Project", of: index)
            try await update(index, "Task", task, ["project_id": project])
        case 4:
            let project = try await absentID("Project", of: index)
            try await update(index, "Task", task, ["title": .string("e\(count)"), "project_id": project])
        case 5:
            let project = try await one(of: devices[index].rows(keys("Project")))
            try await update(index, "Task", task, ["project_id": project.map { id($0) } ?? .null])
        case 6: try await editListOfOtherEnd(index)
        default: try await editList(index, task)
        }
    }

    /// Writes the list of tasks of a project or a tag. The list is not sent, so it has no rows that are not stored.
    private func editListOfOtherEnd(_ index: Int) async throws {
        let entity = ["Project", "Tag"][number(2)]
        guard let owner = try await one(of: devices[index].rows(keys(entity))) else { return }
        let tasks = try await devices[index].rows(keys("Task")).filter { _ in number(3) == 0 }
        try await update(index, entity, owner, ["task_ids": .array(tasks.map { id($0) })])
    }

    /// Adds a tag that is not stored to the list of a task, or removes a tag from it.
    private func editList(_ index: Int, _ task: String) async throws {
        let stored = try await devices[index].rows(
            "SELECT tagID FROM Tag_tasks WHERE taskID = '\(task)' ORDER BY \(Device.place) NULLS LAST, tagID")
        let awaited = try await devices[index].rows(
            """
            SELECT target_key FROM sync_pending
            WHERE owner_entity = 'Task' AND CAST(owner_key AS TEXT) = '\(task)' AND relationship = 'tags' ORDER BY position
            """)
        var tags = (stored + awaited).map { id($0) }
        if number(3) == 0, !tags.isEmpty {
            tags.remove(at: number(tags.count))
        } else {
            let tag = try await absentID("Tag", of: index)
            if !tags.contains(tag) { tags.insert(tag, at: number(tags.count + 1)) }
        }
        try await update(index, "Task", task, ["tag_ids": .array(tags)])
    }

    /// Writes a reference to a row that is not stored as another client.
    private func referenceAbsentThere(_ index: Int, _ world: any HistoryWorld) async throws {
        guard let task = try await row("Task", in: world) else { return }
        guard number(2) == 0 else {
            let project = try await absentID("Project", of: index)
            return try await write("Task", task, ["project_id": project], as: world)
        }
        var tags: [JSONValue] = []
        if case .array(let ids)? = try await world.contents(of: "Task")[task]?["tag_ids"] { tags = ids }
        let tag = try await absentID("Tag", of: index)
        if !tags.contains(tag) { tags.insert(tag, at: number(tags.count + 1)) }
        try await write("Task", task, ["tag_ids": .array(tags)], as: world)
    }

    /// Creates a row that a device references, as another client.
    private func arrive(_ index: Int, _ world: any HistoryWorld) async throws {
        let awaited = try await devices[index].rows(
            """
            SELECT DISTINCT target_entity, target_key FROM sync_pending WHERE \(AbsentRow.condition("target_key"))
            ORDER BY 1, 2
            """)
        guard let line = one(of: awaited)?.split(separator: " ").map(String.init), line.count == 2 else { return }
        let (entity, absent) = (line[0], id(line[1]))
        guard try await world.contents(of: entity)[absent] == nil else { return }
        try await write(entity, absent, ["name": .string("late\(count)")], as: world)
    }

    /// Returns the ID of a row that is not stored, which the device may reference already.
    private func absentID(_ entity: String, of index: Int) async throws -> JSONValue {
        let awaited = try await devices[index].rows(
            """
            SELECT DISTINCT target_key FROM sync_pending
            WHERE target_entity = '\(entity)' AND \(AbsentRow.condition("target_key")) ORDER BY 1
            """)
        count += 1
        if number(3) == 0, let key = one(of: awaited) { return id(key) }
        return AbsentRow.id(count, isText: takesKeys)
    }

    // MARK: New tags

    /// Inserts a tag, and references it from a task and a project by SQL. Or the engine of the device syncs tags from now
    /// on.
    func referenceNewTag(_ index: Int) async throws {
        if partial.contains(index), number(3) == 0 { return try syncTags(index) }
        guard let task = try await one(of: devices[index].rows(keys("Task"))) else {
            return try await insert(index, "Task", "title")
        }
        try await insert(index, "Tag", "name")
        let tag = "(SELECT remoteID FROM Tag WHERE name = 'n\(count)')"
        count += 1
        try await write(
            index,
            """
            UPDATE Task SET title = 'e\(count)' WHERE remoteID = '\(task)';
            INSERT OR IGNORE INTO Tag_tasks (taskID, tagID) SELECT remoteID, \(tag) FROM Task WHERE remoteID = '\(task)'
            """)
        guard members.contains(.pairs), let project = try await one(of: devices[index].rows(keys("Project"))) else {
            return
        }
        try await write(index, "UPDATE Project SET badgeID = \(tag) WHERE remoteID = '\(project)'")
    }

    func syncTags(_ index: Int) throws {
        note("\(index) syncs tags from now on")
        partial.remove(index)
        try reopen(index)
    }

    // MARK: Rows

    /// Returns a random row of the service that devices may edit.
    private func row(_ entity: String, in world: any HistoryWorld) async throws -> JSONValue? {
        let edited = try await world.contents(of: entity).filter { _, record in
            let name = (record["name"] ?? .null).plain
            return !name.hasPrefix("inside") && !name.hasPrefix("late")
        }
        return one(of: edited.keys.sorted { $0.plain < $1.plain })
    }

    private func update(_ index: Int, _ entity: String, _ key: String, _ record: JSONValue) async throws {
        note("\(index) updates \(entity) \(key) with \(record)")
        try await shadows[index].update(entity, id(key), record)
    }

    /// Writes a row as another client of the service.
    private func write(
        _ entity: String, _ id: JSONValue, _ record: JSONValue, as world: any HistoryWorld
    ) async throws {
        let old = try await world.contents(of: entity)[id]
        guard await world.write(entity, id, record) else { return }
        note("another client writes \(entity) \(id.plain): \(record)")
        if let old { await ledger.markWritten(old) }
    }

    private func id(_ key: String) -> JSONValue { takesKeys ? .string(key) : .number(key) }

    private func one<T>(of elements: [T]) -> T? { elements.isEmpty ? nil : elements[number(elements.count)] }
}
