import Sync
import Testing

/// A small sync takes the same work in a store of 100 rows and in one of 2,500.
@Suite("The work of a sync", .serialized)
struct WorkTests {
    private static let keys = PlanModel(.integer)
    private static let sizes = (small: 100, large: 2_500)

    /// Returns the instructions of SQLite's virtual machine for each call, by its name.
    private func work(_ size: Int) async throws -> [String: Int] {
        let keys = Self.keys
        let stack = try await keys.store(size)
        try await keys.rememberReferences(size, in: stack)
        var options = SyncOptions()
        options.payloadKind = .delta
        // A store checks all pending references once after it is opened.
        try await Sync.insertOrUpdate(keys.record(41), inEntity: "Person", stack: stack)
        func steps(_ body: () async throws -> Void) async throws -> Int {
            try await StatementWatch.watch(stack, body).steps
        }
        let nested = keys.record(
            44,
            [
                "name": "new", "notes": keys.records(88...90, ["name": "new"]), "tags": keys.records(3...5),
                "phones": [["name": "new"]], "team_id": keys.key(9),
            ])
        return try await [
            "a single record": steps { try await Sync.insertOrUpdate(nested, inEntity: "Person", stack: stack) },
            "the same again": steps { try await Sync.insertOrUpdate(nested, inEntity: "Person", stack: stack) },
            "a delta": steps {
                let json: JSONValue = [keys.record(45, ["name": "new", "notes": keys.records(88...91)])]
                try await Sync.changes(json, inEntity: "Person", stack: stack, options: options)
            },
            "the rows of a parent": steps {
                try await Sync.changes(
                    keys.records(900_001...900_004, ["name": "new"]), inEntity: "Note", stack: stack,
                    parent: SyncParent("Person", id: keys.key(46)))
            },
            "the rows of a parent for which a condition holds": steps {
                try await Sync.changes(
                    keys.records(900_005...900_006, ["name": "new"]), inEntity: "Note", stack: stack,
                    predicate: "name CONTAINS 'a'", parent: SyncParent("Person", id: keys.key(47)))
            },
            "an update": steps {
                try await Sync.update(id: keys.key(48), with: ["name": "new"], inEntity: "Person", stack: stack)
            },
            "a deletion": steps { try await Sync.delete(id: keys.key(49), inEntity: "Person", stack: stack) },
            "an arrival": steps {
                try await Sync.insertOrUpdate(keys.record(10_000_050), inEntity: "Tag", stack: stack)
            },
            "a fetch": steps { _ = try await stack.fetch("Person", id: keys.key(50)) },
            "a row of a tree": steps {
                try await Sync.insertOrUpdate(keys.record(1_000_050, ["name": "new"]), inEntity: "Short", stack: stack)
            },
        ]
    }

    @Test("The work of a small sync does not grow with the store")
    func smallSyncTakesSameWork() async throws {
        let small = try await work(Self.sizes.small)
        let large = try await work(Self.sizes.large)
        for (name, steps) in small {
            let more = try #require(large[name])
            #expect(abs(more - steps) * 5 <= steps, "\(name): \(steps) steps among few rows, \(more) among many")
        }
    }
}
