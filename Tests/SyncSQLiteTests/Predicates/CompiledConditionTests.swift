import SyncCore
import SyncStore
import Testing

@testable import SyncSQLite

@Suite("Exact SQL of conditions")
struct CompiledConditionTests {
    /// SQLite chooses an index by the spelling of a condition, which tests of the results do not notice.
    @Test("The SQL of a condition does not change", arguments: CompiledCondition.all)
    func sqlDoesNotChange(expected: CompiledCondition) throws {
        let store = try PredicateStore()
        let entity = try store.layout.model.entity(named: expected.entity)
        let condition = try PredicateSQL(expected.predicate, on: entity, layout: store.layout, alias: "row")
        let family = PredicateSQL.familyCondition(entity, layout: store.layout, alias: "row")
        #expect([condition.sql, family].compactMap(\.self).joined(separator: " AND ") == expected.sql)
        let arguments = condition.databaseValues.map { ColumnValue.literal($0) ?? "NULL" }
        #expect(arguments.joined(separator: ", ") == expected.arguments)
    }
}
