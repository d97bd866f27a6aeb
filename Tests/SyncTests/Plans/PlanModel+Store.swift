import GRDB
import Sync

extension PlanModel {
    /// The highest number of a person with accounts, which deny a deletion.
    static let guarded = 40

    /// Returns a store with `count` rows of every entity, each linked in every way.
    func store(_ count: Int) async throws -> DataStack {
        let stack = try DataStack.inMemory(model())
        var options = SyncOptions(deletionLimit: nil)
        options.payloadKind = .delta
        options.resultDetail = .counts
        let people = JSONValue.array((1...count).map { person($0, of: count) })
        try await Sync.changes(people, inEntity: "Person", stack: stack, options: options)
        for (entity, start) in [
            ("Animal", 1), ("Dog", 1_000_000), ("Cat", 2_000_000), ("Book", 1), ("Film", 1), ("Short", 1_000_000),
        ] {
            let isMedia = ["Book", "Film", "Short"].contains(entity)
            let rows = (0..<count).map { number in
                record(start + number, ["name": "n", isMedia ? "fan_id" : "owner_id": key(1 + number)])
            }
            try await Sync.changes(.array(rows), inEntity: entity, stack: stack, options: options)
        }
        let clips = (1...count).map { ["path": .string("clip \($0)"), "fan_id": key($0)] as JSONValue }
        try await Sync.changes(.array(clips), inEntity: "Clip", stack: stack, options: options)
        return stack
    }

    /// Returns the record of a person in a team of four, with a manager and nested rows.
    func person(_ number: Int, of count: Int) -> JSONValue {
        let tags = (0..<3).map { 1 + (number * 3 + $0) % count }
        var members: [JSONValue.Member] = [
            .init("id", key(number)), .init("name", .string("person \(number)")),
            .init("age", JSONValue(number > Self.guarded ? number % 90 : 500)),
            .init("team", record(1 + number / 4, ["name": "team"])),
            .init("notes", .array([record(number * 2, ["name": "a"]), record(number * 2 + 1, ["name": "b"])])),
            .init("tags", .array(tags.map { record($0, ["name": "tag"]) })),
            .init("likes_ids", .array(tags.map(key))),
            .init("friends_ids", .array([key(number % 2 == 0 ? number - 1 : number + 1)])),
            .init("passport", record(number, ["name": "passport"])),
            .init("address", ["name": "street"]),
            .init("phones", [["name": "home"], ["name": "work"]]),
        ]
        if number > 1 { members.append(.init("manager_id", key(number / 2))) }
        if number <= Self.guarded {
            let accounts = (0..<5).map { record(number * 5 + $0, ["name": "account"]) }
            members.append(.init("accounts", .array(accounts)))
        }
        return .object(members)
    }

    /// Stores pending references: one to a missing team and one to a missing tag for every person.
    func rememberReferences(_ count: Int, in stack: DataStack) async throws {
        var options = SyncOptions(deletionLimit: nil)
        options.payloadKind = .delta
        let people = (1...count).map { number in
            record(number, ["team_id": key(10_000_000 + number), "likes_ids": .array([key(10_000_000 + number)])])
        }
        try await Sync.changes(.array(people), inEntity: "Person", stack: stack, options: options)
    }
}
