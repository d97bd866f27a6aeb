import Foundation
import Testing

@testable import SyncCore

@Suite("Parsing of conditions")
struct PredicateParserTests {
    /// A condition and its written form.
    static let texts: [(String, String)] = [
        ("age == 5", "age == 5"),
        ("age = 5", "age == 5"),
        ("age<>5", "age != 5"),
        ("  age\n\t>=\r\n18  ", "age >= 18"),
        ("a < -1.5e3 and b <= 0.0", "a < -1.5e3 AND b <= 0.0"),
        ("balance == 0.1", "balance == 0.1"),
        ("name == 'x'", "name == 'x'"),
        ("name == \"it's\"", "name == 'it\\'s'"),
        ("name == 'a\\\\b\\n\\t\\u00e9\\ud83d\\ude00'", "name == 'a\\\\b\\n\\té😀'"),
        ("user == nil", "user == nil"),
        ("user != NULL", "user != nil"),
        ("user IS NULL", "user == nil"),
        ("user is not null AND user.name is nil", "user != nil AND user.name == nil"),
        ("NOT (a IS NOT NULL)", "NOT a != nil"),
        ("is IS NULL AND #is == 1", "is == nil AND is == 1"),
        ("ok == true OR ok == No", "ok == TRUE OR ok == FALSE"),
        ("a == 1 AND b == 2 && c == 3", "a == 1 AND b == 2 AND c == 3"),
        ("a == 1 || b == 2 AND c == 3", "a == 1 OR b == 2 AND c == 3"),
        ("(a == 1 OR b == 2) AND c == 3", "(a == 1 OR b == 2) AND c == 3"),
        ("a == 1 AND (b == 2 AND (c == 3))", "a == 1 AND b == 2 AND c == 3"),
        ("NOT (age > 3)", "NOT age > 3"),
        ("!(a == 1 OR b == 2)", "NOT (a == 1 OR b == 2)"),
        ("not not a == 1", "NOT NOT a == 1"),
        ("NOT a == 1 AND b == 2", "NOT a == 1 AND b == 2"),
        ("TRUEPREDICATE", "TRUEPREDICATE"),
        ("falsepredicate OR a == 1", "FALSEPREDICATE OR a == 1"),
        ("id IN {1, 2,3}", "id IN {1, 2, 3}"),
        ("id in {}", "id IN {}"),
        ("id IN { 'a', nil }", "id IN {'a', nil}"),
        ("age BETWEEN {1, 10}", "age BETWEEN {1, 10}"),
        ("superUser.remoteID == 6", "superUser.remoteID == 6"),
        ("ANY tags.remoteID == 1", "ANY tags.remoteID == 1"),
        ("some tags.id == 1", "ANY tags.id == 1"),
        ("ALL tags.id == 1 AND NONE tags.id == 2", "ALL tags.id == 1 AND NONE tags.id == 2"),
        ("tags.@count > 2", "tags.@count > 2"),
        ("name CONTAINS 'x'", "name CONTAINS 'x'"),
        ("name beginswith[c] 'x'", "name BEGINSWITH[c] 'x'"),
        ("name ENDSWITH [c] 'x'", "name ENDSWITH[c] 'x'"),
        ("name like 'x*'", "name LIKE 'x*'"),
        ("name ==[c] 'x'", "name ==[c] 'x'"),
        ("#any == 1 AND #name == 2", "#any == 1 AND name == 2"),
        ("#'first name' == 1", "#'first name' == 1"),
        ("größe > 1", "größe > 1"),
        ("user.any.in == 1", "user.any.in == 1"),
    ]

    @Test("A condition is parsed, and its written form parses as the same condition", arguments: texts)
    func roundTrips(text: String, written: String) throws {
        let predicate = try RowPredicate(parsing: text)
        #expect(predicate.description == written)
        #expect(try RowPredicate(parsing: written) == predicate)
    }

    /// A condition, the column of its error, and a part of the message.
    static let mistakes: [(String, Int, String)] = [
        ("", 1, "expected an attribute or relationship, found the end"),
        ("age ==", 7, "expected a value after '==', found the end"),
        ("age", 4, "expected an operator after 'age', found the end"),
        ("age ~ 5", 5, "unexpected '~'"),
        ("age == name", 8, "expected a value after '==' (quote a string), found 'name'"),
        ("5 == age", 1, "expected an attribute or relationship, found the number 5"),
        ("age == 5 5", 10, "expected AND, OR or the end, found the number 5"),
        ("age == 5 AND", 13, "expected an attribute or relationship, found the end"),
        ("(age == 5", 10, "expected AND, OR or ')', found the end"),
        ("age == 5)", 9, "expected AND, OR or the end, found ')'"),
        ("age === 5", 7, "expected a value after '==', found '='"),
        ("name == 'abc", 9, "expected a closing '"),
        ("name == 'a\\q'", 11, "unknown escape"),
        ("name == 'a\\u12'", 11, "four hexadecimal digits"),
        ("id IN 5", 7, "IN requires a list such as {1, 2}, not the number 5"),
        ("id IN (1, 2)", 7, "expected a list in braces"),
        ("id IN {1, 2", 12, "expected ',' or '}', found the end"),
        ("id IN {1,}", 10, "expected a value in the list, found '}'"),
        ("id == {1}", 7, "requires a single value, not a list"),
        ("age BETWEEN {1}", 13, "BETWEEN requires a list of two values"),
        ("age BETWEEN 1 AND 2", 13, "BETWEEN requires a list of two values"),
        ("name CONTAINS 5", 15, "CONTAINS requires a string, not the number 5"),
        ("name MATCHES 'x['", 14, "'x[' is not a regular expression"),
        ("name ==[d] 'x'", 9, "expected the option 'c'"),
        ("name NOT IN {1}", 6, "write NOT before the path"),
        ("name IS 'x'", 9, "expected NULL or NOT NULL after 'IS', found a string"),
        ("name IS NOT 5", 13, "expected NULL after 'IS NOT', found the number 5"),
        ("name IS", 8, "expected NULL or NOT NULL after 'IS', found the end"),
        ("name IS[c] NULL", 8, "expected NULL or NOT NULL after 'IS', found '['"),
        ("tags.@max.id == 1", 6, "expected @count, the only collection operator, found '@max'"),
        ("@count == 1", 1, "expected an attribute or relationship, found '@count'"),
        ("a. == 1", 4, "expected a name after '.', found '=='"),
        ("AND == 1", 1, "write #AND"),
        ("age == 5x", 8, "a name cannot begin with a digit"),
        ("age > %@", 7, "no argument for this '%@'"),
        ("age > %d", 7, "expected '%@' for a value or '%K' for a path"),
    ]

    @Test("An invalid condition is rejected with its column", arguments: mistakes)
    func rejectsInvalidConditions(text: String, column: Int, message: String) throws {
        let error = try #require(throws: SyncError.self) { try RowPredicate(parsing: text) }
        #expect(error.code == .invalidPredicate)
        #expect(error.line == 1)
        #expect(error.column == column)
        #expect(error.message.contains(message), "\(error.message)")
    }

    @Test("An error has its line, and its column in bytes")
    func errorHasLineAndColumn() throws {
        let error = try #require(throws: SyncError.self) { try RowPredicate(parsing: "name == 'é\n'\n AND é ?") }
        #expect(error.line == 3)
        #expect(error.column == 9)
    }

    @Test("Conditions may be nested 100 levels deep and no deeper")
    func limitsNesting() throws {
        func nested(_ levels: Int, _ open: String, _ close: String) -> String {
            String(repeating: open, count: levels) + "a == 1" + String(repeating: close, count: levels)
        }
        #expect(try RowPredicate(parsing: nested(100, "(", ")")).description == "a == 1")
        #expect(throws: SyncError.self) { try RowPredicate(parsing: nested(101, "(", ")")) }
        #expect(throws: SyncError.self) { try RowPredicate(parsing: nested(50_000, "(", ")")) }
        #expect(throws: SyncError.self) { try RowPredicate(parsing: nested(50_000, "NOT ", "")) }
    }
}
