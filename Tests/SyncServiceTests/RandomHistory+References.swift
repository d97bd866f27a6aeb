import Sync
import SyncTesting

@testable import SyncService

// The steps with one-to-one references.
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
        switch number(6) {
        case 0: try await update(index, "Project", project, ["badge_id": id(tag)])
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

    // MARK: Rows

    /// Returns a random row of the service that devices may edit.
    private func row(_ entity: String, in world: any HistoryWorld) async throws -> JSONValue? {
        let edited = try await world.contents(of: entity).filter { _, record in
            let name = (record["name"] ?? .null).plain
            return !name.hasPrefix("inside")
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
