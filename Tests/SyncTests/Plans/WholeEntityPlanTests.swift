import Sync
import Testing

/// A snapshot of an entity has to read all of its rows, but only once.
@Suite("Snapshots of an entity")
struct WholeEntityPlanTests {
    static let count = 200

    @Test(
        "A snapshot reads its own table once, and no other",
        arguments: ["Note", "Tag", "Team", "Account", "Book", "Short", "Dog"])
    func snapshotReadsItsTableOnce(_ entity: String) async throws {
        let keys = PlanModel(.integer)
        let stack = try await keys.store(Self.count)
        let table = ["Book": "Media", "Short": "Media", "Dog": "Animal"][entity] ?? entity
        let watch = try await StatementWatch.watch(stack) {
            try await Sync.changes(
                keys.records(1_000_001...1_000_003), inEntity: entity, stack: stack,
                options: SyncOptions(deletionLimit: nil))
        }
        let plans = try await QueryPlans(watch, stack)
        #expect(plans.scans(of: table) == 1)
        #expect(plans.scans(most: Self.count - 1).count == 1, "\(plans.scans(most: Self.count - 1))")
    }

    @Test(
        "A snapshot whose scope has no index reads its table once",
        arguments: ["name == 'x'", "name == 'a'", "name != 'b'"])
    func scopeWithoutIndex(_ predicate: String) async throws {
        let keys = PlanModel(.integer)
        let stack = try await keys.store(Self.count)
        let watch = try await StatementWatch.watch(stack) {
            try await Sync.changes(
                keys.records(1...3, ["name": "a"]), inEntity: "Note", stack: stack, predicate: .where(predicate),
                options: SyncOptions(deletionLimit: nil))
        }
        let plans = try await QueryPlans(watch, stack)
        #expect(plans.scans(of: "Note") == 1)
        #expect(plans.scans(most: Self.count - 1).count == 1, "\(plans.scans(most: Self.count - 1))")
    }
}
