import Foundation
import Testing

@testable import SyncCore

@Suite("Predicates")
struct RowPredicateTests {
    @Test("Values and paths are passed as arguments, never as text of the condition")
    func takesArguments() throws {
        let date = Date(timeIntervalSince1970: 1_709_231_399.999)
        let uuid = try #require(UUID(uuidString: "0b6ae2f7-5e0b-4a55-8b46-3f8d3b7d0a11"))
        let cases: [(RowPredicate, String)] = [
            (.where("name == %@", "x' OR 1 == 1"), "name == 'x\\' OR 1 == 1'"),
            (.where("%K == %@", "company.name", 5), "company.name == 5"),
            (.where("%K > 1", "tags.@count"), "tags.@count > 1"),
            (.where("%K == 1", "any"), "#any == 1"),
            (.where("%K == 1", "odd name"), "#'odd name' == 1"),
            (.where("a == %@ AND b == %@", true, nil), "a == TRUE AND b == nil"),
            (.where("a == %@", Int64.min), "a == -9223372036854775808"),
            (.where("a > %@ AND b > %@", 0.5, 1e21), "a > 0.5 AND b > 1e+21"),
            (.where("a == %@", Decimal(string: "12.340")), "a == 12.34"),
            (.where("at > %@", date), "at > '2024-02-29T18:29:59.999Z'"),
            (.where("at > %@", Date(timeIntervalSince1970: -62_135_596_800)), "at > '0001-01-01T00:00:00Z'"),
            (.where("u == %@", uuid), "u == '0B6AE2F7-5E0B-4A55-8B46-3F8D3B7D0A11'"),
            (.where("u == %@", URL(string: "http://a.b/c")), "u == 'http://a.b/c'"),
            (.where("b == %@", Data([1, 2, 3])), "b == 'AQID'"),
            (.where("id IN %@", [1, 2]), "id IN {1, 2}"),
            (.where("id IN {%@, %@}", 1, "a"), "id IN {1, 'a'}"),
            (.where("id == %@", StoredValue.integer(7)), "id == 7"),
        ]
        for (predicate, text) in cases {
            #expect(throws: Never.self) { try predicate.checked() }
            #expect(predicate.description == text)
            #expect(try RowPredicate(parsing: text) == predicate)
        }
    }

    @Test("An invalid predicate throws when it is checked")
    func throwsWhenChecked() throws {
        let wrong: [RowPredicate] = [
            "age ==", .where("age == %@"), .where("age == 1", 2), .where("%K == 1", 5), .where("a == %@", Double.nan),
            .where("a == %@", Decimal.nan), .where("a == %@", Date(timeIntervalSince1970: 1e12)),
            .where("a IN {%@}", [1]), .where("a CONTAINS 'x'") && .where("%K == 1", ""),
            !(.where("a BETWEEN %@", 5)), .where("a MATCHES '('"), .where("a MATCHES 'a)(b'"),
            .where("%K == 1", "tags.@max"),
            .where("a == %@", PredicateValue.list([.list([])])), .where("%K == 1", "a..b"),
        ]
        for predicate in wrong {
            let error = try #require(throws: SyncError.self, "\(predicate)") { try predicate.checked() }
            #expect(error.code == .invalidPredicate)
        }
        #expect(wrong[0].description == "age ==")
    }

    @Test("Predicates can be combined with operators")
    func combines() throws {
        let cases: [(RowPredicate, String)] = [
            (.where("age >= 18") && .where("company.name == 'Apple'"), "age >= 18 AND company.name == 'Apple'"),
            ((.where("a < 1") || .where("b <= 2")) && .where("c > 3"), "(a < 1 OR b <= 2) AND c > 3"),
            (!(.where("a != nil")), "NOT a != nil"),
            (.where("a == %@", StoredValue.json(["b": [1], "a": 2])), "a == '{\"a\":2,\"b\":[1]}'"),
            (.all, "TRUEPREDICATE"),
        ]
        for (predicate, text) in cases {
            #expect(throws: Never.self) { try predicate.checked() }
            #expect(predicate.description == text)
            #expect(try RowPredicate(parsing: text) == predicate)
        }
    }

    @Test("A predicate that is nested too deep is an error, not a crash")
    func limitsNesting() throws {
        var predicate = RowPredicate.where("a == 1")
        for _ in 0..<100 { predicate = !predicate }
        #expect(try RowPredicate(parsing: predicate.description) == predicate)
        for _ in 0..<100_000 { predicate = !predicate }
        let error = try #require(throws: SyncError.self) { try predicate.checked() }
        #expect(error.message.contains("nested more than"))
    }

    @Test("A predicate of many alternatives is one level deep")
    func manyAlternativesAreOneLevel() throws {
        let text = (0..<10_000).map { "a == \($0)" }.joined(separator: " OR ")
        let predicate = try RowPredicate(parsing: text)
        #expect(predicate.node.nesting == 1)
        #expect(predicate.description == text)
    }
}
