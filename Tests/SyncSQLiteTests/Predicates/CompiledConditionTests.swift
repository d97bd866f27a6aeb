import SyncCore
import SyncStore
import Testing

@testable import SyncSQLite

@Suite("The SQL of a predicate, to the letter")
struct CompiledConditionTests {
    /// SQLite finds an index by how a condition is spelled, which tests of what it means do not notice.
    @Test("is what it has always been", arguments: CompiledCondition.all)
    func isUnchanged(expected: CompiledCondition) throws {
        let store = try PredicateStore()
        let entity = try store.layout.model.entity(named: expected.entity)
        let condition = try PredicateSQL(expected.predicate, on: entity, layout: store.layout, alias: "row")
        let family = PredicateSQL.familyCondition(entity, layout: store.layout, alias: "row")
        #expect([condition.sql, family].compactMap(\.self).joined(separator: " AND ") == expected.sql)
        let arguments = condition.databaseValues.map { ColumnValue.literal($0) ?? "NULL" }
        #expect(arguments.joined(separator: ", ") == expected.arguments)
    }
}
