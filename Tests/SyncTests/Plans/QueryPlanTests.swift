import Foundation
import GRDB
import Sync
import TestSize
import Testing

/// A small sync in a large store uses indexes.
@Suite("Query plans")
struct QueryPlanTests {
    /// Enough rows for a sync to look them up by key.
    static let count = 200
    /// The tested types of keys.
    static let keys = LongTests.areWanted ? PlanModel.all : [PlanModel(.string)]

    private static let delta: SyncOptions = {
        var options = SyncOptions()
        options.payloadKind = .delta
        return options
    }()

    /// Runs calls, and expects that none of their statements reads a whole table.
    private func expectNoScan(
        _ stack: DataStack, _ location: SourceLocation = #_sourceLocation, _ body: () async throws -> Void
    ) async throws {
        let watch = try await StatementWatch.watch(stack, body)
        let plans = try await QueryPlans(watch, stack)
        #expect(watch.statements.contains { $0.hasPrefix("SELECT") }, "nothing was asked", sourceLocation: location)
        for scan in plans.scans(most: Self.count - 1) {
            Issue.record("\(scan)", sourceLocation: location)
        }
    }

    @Test("A sync of a single record with nested records uses indexes", arguments: keys)
    func singleRecordUsesIndexes(_ keys: PlanModel) async throws {
        let stack = try await keys.store(Self.count)
        let nested: KeyValuePairs<String, JSONValue> = [
            "name": "new", "team": keys.record(7, ["name": "other team"]),
            "notes": .array([keys.record(200, ["name": "c"]), keys.record(9_000)]),
            "tags": .array([keys.record(50, ["name": "tag"]), keys.record(51), keys.record(9_001)]),
            "likes_ids": keys.keys(20...22), "friends_ids": keys.keys(30...31), "manager_id": keys.key(3),
            "passport": keys.record(9_002), "address": ["name": "elsewhere"], "phones": [["name": "new"]],
            "accounts": .array([keys.record(100), keys.record(101)]),
        ]
        try await expectNoScan(stack) {
            try await Sync.insertOrUpdate(keys.record(100, nested), inEntity: "Person", stack: stack)
        }
        try await expectNoScan(stack) {
            try await Sync.insertOrUpdate(keys.record(9_000, nested), inEntity: "Person", stack: stack)
        }
        try await expectNoScan(stack) {
            let json = JSONValue.array([keys.record(102, nested)])
            try await Sync.changes(json, inEntity: "Person", stack: stack, options: Self.delta)
        }
        var options = Self.delta
        options.resultDetail = .values
        options.deletionLimit = .fraction(0.9, above: 10)
        options.willInsert = { $0.record }
        try await expectNoScan(stack) {
            let json = JSONValue.array([keys.record(103, nested), keys.record(9_003, nested)])
            try await Sync.changes(json, inEntity: "Person", stack: stack, options: options)
        }
        try await expectNoScan(stack) {
            let json = JSONValue.array([keys.record(104, nested)])
            let operations: SyncOperations = [.insert, .update, .insertRelationships]
            try await Sync.changes(json, inEntity: "Person", stack: stack, operations: operations, options: Self.delta)
        }
    }

    @Test("A sync of the rows of a parent uses indexes", arguments: keys)
    func parentsUseIndexes(_ keys: PlanModel) async throws {
        let stack = try await keys.store(Self.count)
        let parent = SyncParent("Person", id: keys.key(60))
        for entity in ["Note", "Account", "Animal", "Dog", "Book", "Short"] {
            try await expectNoScan(stack) {
                let json = keys.records(9_001...9_003, ["name": "new"])
                try await Sync.changes(
                    json, inEntity: entity, stack: stack, parent: parent, options: SyncOptions(deletionLimit: nil))
            }
        }
        for relationship in ["tags", "likes"] {
            let parent = SyncParent("Person", id: keys.key(60), relationship: relationship)
            try await expectNoScan(stack) {
                let json = keys.records(3...5, ["name": "new"])
                try await Sync.changes(json, inEntity: "Tag", stack: stack, parent: parent)
            }
        }
        try await expectNoScan(stack) {
            try await Sync.changes(
                keys.records(4...6), inEntity: "Person", stack: stack,
                parent: SyncParent("Tag", id: keys.key(9), relationship: "people"))
        }
        for relationship in ["friends", "reports"] {
            let parent = SyncParent("Person", id: keys.key(60), relationship: relationship)
            try await expectNoScan(stack) {
                try await Sync.changes(keys.records(4...6), inEntity: "Person", stack: stack, parent: parent)
            }
        }
        try await expectNoScan(stack) {
            try await Sync.changes(
                keys.records(11...13), inEntity: "Person", stack: stack, parent: SyncParent("Team", id: keys.key(12)))
        }
        try await expectNoScan(stack) {
            try await Sync.changes(
                keys.records(9_004...9_005), inEntity: "Note", stack: stack, predicate: "name BEGINSWITH 'n'",
                parent: parent)
        }
    }

    @Test("A sync of links from their other end uses indexes", arguments: keys)
    func otherEndsUseIndexes(_ keys: PlanModel) async throws {
        let stack = try await keys.store(Self.count)
        let given: [(String, KeyValuePairs<String, JSONValue>)] = [
            ("Tag", ["people_ids": keys.keys(2...4)]), ("Tag", ["people": keys.records(2...4)]),
            ("Team", ["members": keys.records(8...11, ["name": "moved"])]), ("Team", ["members_ids": keys.keys(8...9)]),
            ("Note", ["person_id": keys.key(9)]), ("Passport", ["person_id": keys.key(9)]),
            ("Passport", ["person": keys.record(10)]), ("Account", ["person": keys.record(10)]),
            ("Person", ["team_id": keys.key(2)]), ("Person", ["reports_ids": keys.keys(20...22)]),
            ("Person", ["media": .null]), ("Person", ["animals_ids": keys.keys(3...4)]),
        ]
        for (entity, members) in given {
            try await expectNoScan(stack) {
                let json = JSONValue.array([keys.record(31, members)])
                try await Sync.changes(json, inEntity: entity, stack: stack, options: Self.delta)
            }
        }
    }

    @Test("Syncs of inheritance hierarchies use indexes", arguments: keys)
    func hierarchiesUseIndexes(_ keys: PlanModel) async throws {
        let stack = try await keys.store(Self.count)
        for (entity, first) in [("Animal", 7), ("Dog", 1_000_007), ("Book", 7), ("Film", 7), ("Short", 1_000_007)] {
            let owner = ["Animal", "Dog"].contains(entity) ? "owner_id" : "fan_id"
            try await expectNoScan(stack) {
                let json = keys.records(first...first + 1, ["name": "new", owner: keys.key(77)])
                try await Sync.changes(json, inEntity: entity, stack: stack, options: Self.delta)
            }
            try await expectNoScan(stack) {
                try await Sync.insertOrUpdate(keys.record(first, ["name": "single"]), inEntity: entity, stack: stack)
                try await Sync.insertOrUpdate(keys.record(9_000 + first), inEntity: entity, stack: stack)
            }
            try await expectNoScan(stack) {
                #expect(try await stack.fetch(entity, id: keys.key(first)) != nil)
                try await Sync.update(id: keys.key(first), with: ["name": "updated"], inEntity: entity, stack: stack)
                try await Sync.update(
                    id: keys.key(first), with: keys.record(first + 5_000), inEntity: entity, stack: stack)
                try await Sync.delete(id: keys.key(first + 1), inEntity: entity, stack: stack)
            }
        }
        try await expectNoScan(stack) {
            let json: JSONValue = [["path": "clip 7", "name": "new", "fan_id": keys.key(77)], ["path": "new clip"]]
            try await Sync.changes(json, inEntity: "Clip", stack: stack, options: Self.delta)
            #expect(try await stack.fetch("Clip", id: "clip 7")?["name"]?.string == "new")
            try await Sync.delete(id: "clip 7", inEntity: "Clip", stack: stack)
        }
    }

    @Test("Calls on single rows use indexes", arguments: keys)
    func singleRowsUseIndexes(_ keys: PlanModel) async throws {
        let stack = try await keys.store(Self.count)
        try await expectNoScan(stack) {
            #expect(try await stack.fetch("Person", id: keys.key(5)) != nil)
            try await Sync.update(id: keys.key(5), with: ["name": "updated"], inEntity: "Person", stack: stack)
            try await Sync.update(id: keys.key(5), with: keys.record(5_005), inEntity: "Person", stack: stack)
        }
        // Accounts deny the deletion of a person. A person without accounts is deleted with its rows.
        try await expectNoScan(stack) {
            await #expect(throws: SyncError.self) {
                try await Sync.delete(id: keys.key(6), inEntity: "Person", stack: stack)
            }
        }
        try await expectNoScan(stack) {
            try await Sync.delete(id: keys.key(107), inEntity: "Person", stack: stack)
            #expect(try await stack.fetch("Person", id: keys.key(107)) == nil)
        }
        for entity in ["Team", "Tag", "Note", "Passport", "Account"] {
            try await expectNoScan(stack) { try await Sync.delete(id: keys.key(12), inEntity: entity, stack: stack) }
        }
        let targets = try await stack.fetch("Tag", limit: 2)
        let team = try #require(try await stack.fetch("Team", limit: 1).first)
        try await expectNoScan(stack) {
            try await stack.insert(
                "Person", values: ["id": keys.key(9_999), "name": "inserted"],
                relationships: ["tags": targets, "team": [team]])
            _ = try await stack.fetchRelated("members", of: team)
        }
    }

    @Test("Syncs with pending references use indexes", arguments: keys)
    func pendingReferencesUseIndexes(_ keys: PlanModel) async throws {
        let stack = try await keys.store(Self.count)
        try await keys.rememberReferences(Self.count, in: stack)
        try await expectNoScan(stack) {
            let json = JSONValue.array([keys.record(5, ["tags_ids": keys.keys(7_000...7_001)])])
            let result = try await Sync.changes(json, inEntity: "Person", stack: stack, options: Self.delta)
            #expect(result.pendingReferences.count == 2)
        }
        try await expectNoScan(stack) {
            try await Sync.insertOrUpdate(keys.record(9, ["name": "touched"]), inEntity: "Person", stack: stack)
        }
        for (entity, relationship) in [("Team", "members"), ("Tag", "people")] {
            try await expectNoScan(stack) {
                let key = entity == "Team" ? 10_000_009 : 7_000
                let result = try await Sync.insertOrUpdate(keys.record(key), inEntity: entity, stack: stack).result
                #expect(result.linksAdded == 1, "\(entity).\(relationship)")
            }
        }
        try await expectNoScan(stack) {
            try await Sync.delete(id: keys.key(119), inEntity: "Person", stack: stack)
            try await Sync.update(id: keys.key(21), with: keys.record(5_021), inEntity: "Person", stack: stack)
        }
    }

    @Test("A sync with a scope uses an index if there is one", arguments: keys)
    func scopesUseIndexes(_ keys: PlanModel) async throws {
        let stack = try await keys.store(Self.count)
        try await stack.write { db in try db.execute(sql: "CREATE INDEX person_age ON Person (age)") }
        let records = try await stack.fetch("Person", orderedBy: .byKey, limit: 12)
        let known = try records.suffix(2).map { try #require($0["id"]) }
        let person: [RowPredicate] = [
            .where("id == %@", known[0]), .where("id IN %@", known), "team == nil", "age == 33",
            "age > 80 AND age < 90",
            "age BETWEEN {7, 8}", "age IN {3, 4} AND name CONTAINS 'x'", "age == 3 OR age == 4",
        ]
        let ordered: [RowPredicate] = [
            .where("id > %@ AND id <= %@", known[0], known[1]), .where("id BETWEEN %@", known),
            .where("id < %@", known[0]),
        ]
        for predicate in person {
            try await expectNoScan(stack) {
                try await Sync.changes(keys.records(9...12), inEntity: "Person", stack: stack, predicate: predicate)
            }
        }
        // An index orders decimals by their text, not by their value.
        for predicate in keys.type == .decimal ? [] : ordered {
            try await expectNoScan(stack) {
                try await Sync.changes(keys.records(9...12), inEntity: "Note", stack: stack, predicate: predicate)
            }
        }
        for entity in ["Note", "Dog", "Short"] {
            let end = entity == "Note" ? "person" : entity == "Dog" ? "owner" : "fan"
            try await expectNoScan(stack) {
                let predicate = RowPredicate.where("\(end).id == %@", known[1])
                try await Sync.changes(
                    keys.records(2_000_001...2_000_002), inEntity: entity, stack: stack, predicate: predicate)
            }
        }
        try await expectNoScan(stack) {
            try await Sync.changes(keys.records(1...2), inEntity: "Person", stack: stack)
        }
    }
}
