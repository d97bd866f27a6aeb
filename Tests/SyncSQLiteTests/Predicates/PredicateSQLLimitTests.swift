import Foundation
import GRDB
import SyncCore
import SyncStore
import TestSize
import Testing

@testable import SyncSQLite

@Suite("Compilation of conditions")
struct PredicateSQLLimitTests {
    private let store: PredicateStore

    init() throws { store = try PredicateStore() }

    /// Invalid conditions on users, the column of the error, and a part of its message.
    static let mistakes: [(String, Int, String)] = [
        ("agee == 1", 1, "unknown attribute or relationship 'agee'; User has the attributes ref, id, name, age"),
        ("id == 1 AND firm.name == 'x'", 13, "unknown relationship 'firm'; User has"),
        (
            "company.nam == 'x'", 1,
            "unknown attribute or relationship 'nam'; Company has the attributes ref, id, name and"
        ),
        ("name.length == 5", 1, "'name' is an attribute; no name can follow it"),
        ("age == 'x'", 8, "'age' is of type integer and cannot be compared with a string"),
        ("age == 1.5", 8, "'age' is of type integer and cannot be compared with the number 1.5"),
        ("age > 'x'", 7, "'age' is of type integer and cannot be compared with a string"),
        ("age IN {1, 'x'}", 8, "'age' is of type integer and cannot be compared with a string"),
        ("id == 9223372036854775808", 7, "'id' is of type integer"),
        ("active == 2", 11, "'active' is of type boolean"),
        ("born == 'yesterday'", 9, "'born' is of type date and cannot be compared with a string"),
        ("born == '2023-02-29'", 9, "'born' is of type date"),
        ("born == true", 9, "'born' is of type date and cannot be compared with true"),
        ("token == 'x'", 10, "'token' is of type uuid"),
        ("site == 5", 9, "'site' is of type url"),
        ("name > 5", 8, "'name' is of type string and cannot be compared with the number 5"),
        ("name <= 1.5", 9, "'name' is of type string and cannot be compared with"),
        ("name < true", 8, "'name' is of type string and cannot be compared with"),
        ("name BETWEEN {'a', 5}", 14, "'name' is of type string and cannot be compared with"),
        ("company.name >= 5", 17, "'company.name' is of type string and cannot be compared with"),
        ("ANY tags.title > 5", 18, "'tags.title' is of type string and cannot be compared with"),
        ("photo == '!'", 10, "'photo' is of type binary"),
        ("photo > 'AQID'", 1, "not ordered"),
        ("meta > 1", 1, "not ordered"),
        ("meta CONTAINS 'x'", 1, "CONTAINS requires a string, but 'meta' is of type json"),
        ("age ==[c] 1", 1, "[c] requires a string"),
        ("meta.a IN {1, 'x'}", 11, "'meta.a' is compared with must all be strings, numbers or Booleans"),
        ("meta.a + 1 == 2", 1, "'meta.a' is a member of JSON and can only be compared with a constant"),
        ("meta.@count == 1", 1, "@count requires a to-many relationship, and 'meta' is not one"),
        ("meta.#'a\\'\"' == 1", 1, "a condition cannot name the JSON key 'a'\"'"),
        ("meta == 'red'", 9, "'meta' is of type json and cannot be compared with a string"),
        ("age MATCHES '1'", 1, "MATCHES requires a string, but 'age' is of type integer"),
        ("age LIKE '1*'", 1, "LIKE requires a string, but 'age' is of type integer"),
        ("secret == 's'", 1, "transformable and can only be compared with nil"),
        ("tags.id == 1", 1, "'tags' is a to-many relationship; write ANY, ALL or NONE before 'tags.id'"),
        ("tags == 1", 1, "'tags' is a to-many relationship"),
        ("company.users.tags == nil", 1, "'users' is a to-many relationship"),
        ("ANY company.name == 'x'", 5, "ANY requires a to-many relationship"),
        ("ANY tags == nil", 13, "rows of 'tags' are never nil"),
        ("ALL tags IN {1, nil}", 13, "rows of 'tags' are never nil"),
        ("company.@count == 1", 1, "@count requires a to-many relationship, and 'company' is not one"),
        ("address == 1", 1, "rows of Address have no key"),
        ("ANY animals == 1", 5, "rows of Animal have no key"),
        ("ANY tags.@count == 1", 5, "ANY requires a to-many relationship"),
    ]

    @Test("A condition that does not fit the model is rejected with its column", arguments: mistakes)
    func rejectsConditionsThatDoNotFit(text: String, column: Int, message: String) throws {
        let predicate = try RowPredicate(parsing: text)
        let error = try #require(throws: SyncError.self) { try store.refs(predicate) }
        #expect(error.code == .invalidPredicate)
        #expect(error.entity != nil)
        #expect(error.message.contains(message), "\(error.message)")
        #expect(error.column == column)
    }

    @Test("A condition with invalid text throws when it is compiled")
    func throwsForInvalidText() {
        #expect(throws: SyncError.self) { try store.refs("age ==") }
        #expect(throws: SyncError.self) { try store.refs("age > 1" && .where("age > %@")) }
    }

    @Test("A condition of the maximum depth is compiled")
    func compilesMaximumDepth() throws {
        var predicate: RowPredicate = "id == 1"
        for level in 0..<99 {
            let isEven = level.isMultiple(of: 2)
            predicate = isEven ? predicate && "age > 0" : "id == 99" || predicate
        }
        #expect(try store.refs(predicate) == "a")
        #expect(try store.refs(!predicate) == "bcde")
        var negations: RowPredicate = "id == 1"
        for _ in 0..<100 { negations = !negations }
        #expect(try store.refs(negations) == "a")
    }

    @Test(
        "Conditions with many alternatives and long lists are compiled, up to the limit of SQLite",
        .enabled(if: LongTests.areWanted, "make check runs it"))
    func compilesWideConditions() throws {
        let text = (2...10_000).map { "id == \($0)" }.joined(separator: " OR ")
        #expect(try store.refs(.where(text)) == "bcd")
        #expect(try store.refs(.where("NOT (\(text))")) == "ae")
        let names: [String] = (1...1000).map { "n\($0)" } + ["bob", "\"", "Ann"]
        let balances: [Decimal] = (1...1000).map { Decimal($0) / 2 }
        let scores: [Double] = (1...40_000).map { Double($0) / 2 }
        #expect(try store.refs(.where("id IN %@", Array(1...100_000))) == "abcd")
        #expect(try store.refs(.where("name IN %@", names)) == "ab")
        #expect(try store.refs(.where("balance IN %@", balances)) == "ac")
        #expect(try store.refs(.where("score IN %@", Array(scores.prefix(1000)))) == "ae")
        #expect(throws: SyncError.self) { try store.refs(.where("score IN %@", scores)) }
    }

    @Test("Many alternatives that are merged into one list have the same result")
    func mergedAlternativesHaveSameResult() throws {
        for path in ["id", "company", "company.id", "ANY tags.id", "ANY tags", "age", "name"] {
            let numbers = (0..<120).map { "\($0 % 60)" }
            let values = path == "name" ? numbers.map { "'n\($0)'" } + ["'bob'"] : numbers
            let each = values.map { RowPredicate.where("\(path) == \($0)") }
            let expected = try Set(each.flatMap { try store.refs($0) })
            let all = values.map { "\(path) == \($0)" }.joined(separator: " OR ")
            #expect(try Set(store.refs(.where(all))) == expected, "\(path)")
            #expect(
                try Set(store.refs(.where("age > 20 OR \(all)"))) == expected.union(store.refs("age > 20")), "\(path)")
            #expect(
                try Set(store.refs(.where("NOT (\(all))"))) == Set(store.refs(.all)).subtracting(expected), "\(path)")
        }
    }

    @Test("Conditions on keys and foreign keys use an index")
    func usesIndexes() throws {
        try store.queue.write { try $0.execute(sql: "CREATE INDEX byCompany ON User(companyID)") }
        for text in ["id == 1", "id IN {1, 2}", "company.id == 1", "company == 1", "company == nil", "id > 5"] {
            let user = try store.layout.model.entity(named: "User")
            let condition = try PredicateSQL(.where(text), on: user, layout: store.layout, alias: "t")
            let plan = try store.queue.read { db in
                try Row.fetchAll(
                    db, sql: "EXPLAIN QUERY PLAN SELECT * FROM User AS t WHERE \(condition.sql)",
                    arguments: StatementArguments(condition.databaseValues))
            }
            #expect(plan.contains { ($0["detail"] as String).contains("SEARCH") }, "\(text): \(plan)")
        }
    }

    @Test("Every value of a condition is bound")
    func bindsValues() throws {
        let user = try store.layout.model.entity(named: "User")
        let predicate = RowPredicate.where("name == %@ OR name CONTAINS %@ OR age > 12345", "x'; --", "evil")
        let condition = try PredicateSQL(predicate, on: user, layout: store.layout, alias: "t")
        #expect(!condition.sql.contains("x'") && !condition.sql.contains("evil") && !condition.sql.contains("12345"))
        #expect(condition.arguments.count == 3)
    }

    @Test("Decimals are ordered by value")
    func ordersDecimalsByValue() throws {
        let sorted = try store.queue.read { db in
            try String.fetchAll(
                db,
                sql: """
                    SELECT column1 FROM (VALUES ('10'), ('9'), ('-1'), ('-10'), ('0'), ('0.5'), ('0.05'), ('x'),
                        ('12345678901234567890123456789012345678'), ('12345678901234567890123456789012345677.5'))
                    ORDER BY column1 COLLATE sync_decimal
                    """)
        }
        #expect(
            sorted == [
                "-10", "-1", "0", "0.05", "0.5", "9", "10", "12345678901234567890123456789012345677.5",
                "12345678901234567890123456789012345678", "x",
            ])
    }
}
