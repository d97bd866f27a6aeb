import Sync
import Testing

/// What says which rows of an entity there are has to see all of them: once.
@Suite("A snapshot")
struct WholeEntityPlanTests {
    static let count = 200

    @Test(
        "reads its own table once, and no other", arguments: ["Note", "Tag", "Team", "Account", "Book", "Short", "Dog"])
    func wholeEntity(_ entity: String) async throws {
        let keys = PlanModel(.integer)
        let stack = try await keys.store(Self.count)
        let table = ["Book": "Media", "Short": "Media", "Dog": "Animal"][entity] ?? entity
        let watch = try await StatementWatch.watch(stack) {
            try await Sync.changes(keys.records(1_000_001...1_000_003), inEntity: entity, stack: stack)
        }
        let plans = try await QueryPlans(watch, stack)
        #expect(plans.scans(of: table) == 1)
        #expect(plans.scans(most: Self.count - 1).count == 1, "\(plans.scans(most: Self.count - 1))")
    }

    @Test("whose scope no index knows reads its table once", arguments: ["name == 'x'", "name == 'a'", "name != 'b'"])
    func unindexedScope(_ predicate: String) async throws {
        let keys = PlanModel(.integer)
        let stack = try await keys.store(Self.count)
        let watch = try await StatementWatch.watch(stack) {
            try await Sync.changes(
                keys.records(1...3, ["name": "a"]), inEntity: "Note", stack: stack, predicate: .where(predicate))
        }
        let plans = try await QueryPlans(watch, stack)
        #expect(plans.scans(of: "Note") == 1)
        #expect(plans.scans(most: Self.count - 1).count == 1, "\(plans.scans(most: Self.count - 1))")
    }
}
