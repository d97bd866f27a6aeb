import Foundation
import GRDB
import SyncCore
import Testing

@testable import SyncSQLite

@Suite("Results of conditions")
struct PredicateSQLTests {
    private let store: PredicateStore

    init() throws { store = try PredicateStore() }

    private func check(_ text: String, _ refs: String, of entity: String, all: String) throws {
        let predicate = try RowPredicate(parsing: text)
        #expect(try store.refs(predicate, entity) == refs)
        let others = String(all.filter { !refs.contains($0) })
        #expect(try store.refs(!predicate, entity) == others, "NOT is not the complement")
        #expect(try store.refs(!(!predicate), entity) == refs)
        #expect(try store.refs(predicate && .all, entity) == refs)
        #expect(try store.refs(predicate || !predicate, entity) == all)
        #expect(try store.refs(predicate && !predicate, entity) == "")
        #expect(try store.refs(try RowPredicate(parsing: predicate.description), entity) == refs)
    }

    /// Conditions on users a to e, and the users for which they hold.
    static let attributes: [(String, String)] = [
        ("TRUEPREDICATE", "abcde"), ("FALSEPREDICATE", ""),
        ("id == 1", "a"), ("id == 1.0", "a"), ("id == '1'", "a"), ("id == 99", ""), ("id != 1", "bcde"),
        ("id == nil", "e"), ("id != nil", "abcd"), ("id < 3", "ab"), ("id <= 3", "abc"), ("id > 3", "d"),
        ("id >= -9223372036854775808", "abcd"), ("id == -9223372036854775807", "e"),
        ("id != -9223372036854775807", "abcd"), ("id IN {1, 2, 99}", "ab"), ("id IN {nil, 1}", "ae"),
        ("id IN {-9223372036854775807}", "e"), ("id IN {-9223372036854775808, 1}", "a"), ("id IN {}", ""),
        ("id BETWEEN {2, 3}", "bc"),
        ("age == 17", "be"), ("age != 17", "acd"), ("age == nil", "d"), ("age != nil", "abce"),
        ("age < 17", "c"), ("age >= 17", "abe"), ("age <= 17", "bce"), ("age > 16.5", "abe"), ("age < 16.5", "c"),
        ("age > -0.5", "abce"), ("age < -0.5", ""), ("age >= 17.5", "a"), ("age <= 17.5", "bce"),
        ("age < 1e30", "abce"), ("age > 1e30", ""), ("age > -1e30", "abce"), ("age < -1e30", ""),
        ("age < nil", ""), ("age >= nil", ""), ("age IN {17, nil}", "bde"), ("age BETWEEN {0, 17}", "bce"),
        ("age BETWEEN {nil, 17}", ""), ("age == true", ""), ("age == false", "c"),
        ("NOT (age > 3)", "cd"), ("age > 3 OR age <= 3", "abce"),
        ("name == 'Ann'", "a"), ("name == 'ann'", ""), ("name ==[c] 'aNN'", "a"), ("name !=[c] 'aNN'", "bcde"),
        ("name == ''", "e"), ("name ==[c] ''", "e"), ("name != ''", "abcd"), ("name == 5", ""), ("name == nil", "d"),
        ("name < 'a'", "ace"), ("name <[c] 'b'", "ae"), ("name > 'S'", "bc"), ("name IN {'Ann', 'bob'}", "ab"),
        ("name IN[c] {'ANN', 'BOB', nil}", "abd"),
        ("name CONTAINS 'o'", "b"), ("name CONTAINS 'O'", ""), ("name CONTAINS[c] 'O'", "b"),
        ("name CONTAINS ''", "abce"), ("name CONTAINS '%'", ""), ("name CONTAINS 'x'", "c"),
        ("name CONTAINS[c] 'SS'", "c"), ("name CONTAINS '\\u0000'", "c"),
        ("name BEGINSWITH 'A'", "a"), ("name BEGINSWITH[c] 'STRASSE'", "c"), ("name BEGINSWITH 'Straß'", "c"),
        ("name BEGINSWITH 'Annn'", ""), ("name BEGINSWITH ''", "abce"),
        ("name ENDSWITH 'b'", "b"), ("name ENDSWITH[c] 'N'", "a"), ("name ENDSWITH 'x'", "c"),
        ("name ENDSWITH 'bbob'", ""),
        ("name ENDSWITH ''", "abce"),
        ("name LIKE 'A*'", "a"), ("name LIKE '?o?'", "b"), ("name LIKE '?'", ""), ("name LIKE '*'", "abce"),
        ("name LIKE ''", "e"), ("name LIKE[c] 'BO?'", "b"), ("name LIKE '*ß*x'", "c"), ("name LIKE 'Ann[ab]'", ""),
        ("name == 'Straße\\u0000x'", "c"), ("name == 'Straße'", ""), ("name ==[c] 'strasse\\u0000X'", "c"),
        ("name IN {'Straße\\u0000x'}", "c"),
        ("name MATCHES 'A.n'", "a"), ("name MATCHES 'a.n'", ""), ("name MATCHES[c] 'a.N'", "a"),
        ("name MATCHES 'A'", ""),
        ("name MATCHES 'Ann|bob|b'", "ab"), ("name MATCHES ''", "e"), ("name MATCHES '.*'", "abce"),
        ("name MATCHES '.*\\\\x00x'", "c"), ("name MATCHES[c] 'STRASSE.x'", "c"), ("site MATCHES '.*/[Cd]'", "ab"),
        ("balance == 10.5", "a"), ("balance == 10.50", "a"), ("balance == '10.5'", "a"), ("balance > 9", "ace"),
        ("balance < 10.5", "b"), ("balance <= 1.05e1", "ab"), ("balance >= 9007199254740993.25", "e"),
        ("balance > 9007199254740993.24", "e"), ("balance > 9007199254740993.25", ""), ("balance IN {-2, 1e2}", "bc"),
        ("balance BETWEEN {-2, 10.5}", "ab"), ("balance != 10.5", "bcde"),
        ("score == 1.5", "a"), ("score == 17", "e"), ("score < 0", "b"), ("score >= 0", "ace"),
        ("score IN {0, 17}", "ce"),
        ("active == true", "ae"), ("active == 1", "ae"), ("active == FALSE", "b"), ("active != true", "bcd"),
        ("active == 'yes'", "ae"), ("active == nil", "cd"), ("active > 0", "ae"),
        ("born == '2024-02-29T18:29:59.999Z'", "a"), ("born == '2024-02-29T19:29:59.9999+01:00'", "a"),
        ("born == 1709231400", "e"), ("born == 1709231400000", "e"), ("born < '1970-01-01'", "b"),
        ("born >= '2024-02-29 18:29:59.999'", "ae"), ("born == -1", "b"), ("born == nil", "cd"),
        ("born IN {'2024-02-29T18:30:00Z', '1970-01-01'}", "e"),
        ("token == '0b6ae2f7-5e0b-4a55-8b46-3f8d3b7d0a11'", "a"), ("token != nil", "ab"),
        ("site == 'http://a.b/C'", "a"), ("site CONTAINS[c] '/c'", "a"), ("site ENDSWITH 'd'", "b"),
        ("photo == 'AQID'", "a"), ("photo == ''", "b"), ("photo != nil", "ab"), ("photo IN {'AQID', ''}", "ab"),
        ("meta == '{\"a\":1}'", "a"), ("meta == ' { \"a\" : 1.0 } '", "a"), ("meta == 5", "b"), ("meta == 5.0", "b"),
        ("meta == nil", "d"), ("secret == nil", "bcde"),
        ("secret != nil", "a"),
        ("age == 17 AND name == 'bob' OR id == 1", "ab"), ("age == 17 AND (name == 'bob' OR id == 1)", "b"),
        ("!(age == 17 && name == 'bob') && id > 0", "acd"),
    ]

    @Test("Conditions on attributes hold for the expected rows", arguments: attributes)
    func conditionOnAttribute(text: String, refs: String) throws { try check(text, refs, of: "User", all: "abcde") }

    static let relationships: [(String, String)] = [
        ("company == nil", "cd"), ("company != nil", "abe"), ("company == 1", "a"), ("company != 1", "bcde"),
        ("company IN {1, 2}", "ab"), ("company IN {nil, 1}", "acd"), ("company > 1", "b"),
        ("company == -9223372036854775808", "e"), ("company.id != -9223372036854775808", "abcd"),
        ("company.id IN {nil, -9223372036854775808}", "cde"), ("company.id <= -9223372036854775808", ""),
        ("company.country == 'local-0B6AE2F7-5E0B-4A55-8B46-3F8D3B7D0A11'", "e"),
        ("company.country ==[c] 'local-0B6AE2F7-5E0B-4A55-8B46-3F8D3B7D0A11'", ""),
        ("ANY tags.id == -9223372036854775808", "e"), ("NONE tags.id == -9223372036854775808", "abcd"),
        ("company.id == 1", "a"), ("company.id == nil", "cde"), ("company.id != 1", "bcde"), ("company.id < 5", "ab"),
        ("company.id IN {1, nil}", "acde"), ("company.name == 'Apple'", "a"), ("company.name == nil", "bcd"),
        ("company.name != 'Apple'", "bcde"), ("company.name BEGINSWITH[c] 'a'", "a"), ("company.name <[c] 'b'", "a"),
        ("company.name IN {'Apple', nil}", "abcd"), ("NOT company.name IN {'Apple'}", "bcde"),
        ("company.country == nil", "bcd"), ("company.country == 'US'", "a"), ("company.country.code == 'US'", "a"),
        ("company.country.code == nil", "bcde"), ("company.country.ref == 'l'", "e"), ("company.country > 'A'", "a"),
        ("company.country IN {'US', nil}", "abcd"),
        ("passport == nil", "cde"), ("passport != nil", "ab"), ("passport == 'P1'", "a"),
        ("passport.number == nil", "bcde"),
        ("passport.number != 'P1'", "bcde"), ("passport.ref == 'l'", "b"), ("passport.owner.name == 'Ann'", "a"),
        ("boss == nil", "ad"), ("boss == 1", "bc"), ("boss.boss == 1", "e"), ("boss.boss.name == 'Ann'", "e"),
        ("boss.boss == nil", "abcd"), ("boss.company == 1", "bc"), ("boss.company.name == nil", "ade"),
        ("boss.passport == nil", "ad"), ("boss.passport.ref == 'p'", "bc"),
        ("address == nil", "bcde"), ("address.street == 'A2'", "a"), ("address.street != 'A2'", "bcde"),
        ("tags == nil", "cd"), ("tags != nil", "abe"), ("reports == nil", "cde"), ("friends == nil", "de"),
        ("company.users == nil", "cd"), ("boss.tags != nil", "bce"),
        ("ANY tags == 1", "a"), ("ANY tags.id == 1", "a"), ("ANY tags.id == 2", "ab"),
        ("ANY tags.id IN {1, 2}", "ab"),
        ("ANY tags.id != 1", "abe"), ("ANY tags.id == nil", "e"), ("ANY tags.id IN {nil, 1}", "ae"),
        ("ANY tags.id > 0", "ab"),
        ("ANY tags.title ==[c] 'GREEN'", "ab"), ("ANY tags.title == nil", "e"), ("NOT ANY tags.id == 2", "cde"),
        ("NONE tags.id == 2", "cde"), ("ALL tags.id == 2", "bcd"), ("ALL tags.id > 0", "abcd"),
        ("ALL tags.title != nil", "abcd"),
        ("ANY tags.company == nil", "ab"), ("ANY tags.company == 1", "a"), ("ANY tags.company.name == nil", "abe"),
        ("ALL tags.company.country.code == 'US'", "cd"), ("ANY tags.id BETWEEN {1, 1}", "a"),
        ("ANY reports.age == 17", "ab"), ("ANY reports.name == 'bob'", "a"), ("ANY reports == 3", "a"),
        ("ALL reports.age == 17", "bcde"), ("ANY reports.reports.age == 17", "a"),
        ("ANY reports.tags.title == 'Green'", "a"),
        ("ANY friends == 1", "b"), ("ANY friends.name == 'bob'", "a"), ("ANY friends.id == 3", "c"),
        ("ANY friends.tags.id == 1", "b"), ("ANY company.users.name == 'Ann'", "a"), ("ANY boss.tags.id == 1", "bc"),
        ("tags.@count == 0", "cd"), ("tags.@count > 1", "a"), ("reports.@count >= 1", "ab"),
        ("friends.@count == 1", "abc"),
        ("company.users.@count == 1", "abe"), ("company.users.@count == 0", "cd"),
        ("boss.tags.@count IN {1, 2}", "bce"),
        ("ANY reports.tags.@count == 1", "ab"), ("animals.@count == 2", "a"), ("tags.@count == nil", ""),
        ("animals != nil", "ab"), ("ANY animals.ref == 'c'", "b"), ("ANY animals.owner == 1", "a"),
        ("spouse == nil", "cde"), ("spouse == 1", "b"), ("spouse.name == 'bob'", "a"), ("spouse.spouse.id == 1", "a"),
        ("favourite == 1", "b"), ("favourite.tag == 1", "b"), ("favourite == nil", "acde"),
        ("favourite.ref == 'd'", "b"),
        ("favourite.owner == 1", "b"), ("favourite.owner.name == 'Ann'", "b"),
    ]

    @Test("Conditions on relationships hold for the expected rows", arguments: relationships)
    func conditionOnRelationship(text: String, refs: String) throws { try check(text, refs, of: "User", all: "abcde") }

    /// An entity, its rows, a condition, and the rows for which it holds.
    static let others: [(String, String, String, String)] = [
        ("Country", "hlu", "code == 'local-hero'", "h"), ("Country", "hlu", "code == nil", "l"),
        ("Country", "hlu", "code == 'local-0B6AE2F7-5E0B-4A55-8B46-3F8D3B7D0A11'", "l"),
        ("Country", "hlu", "code < 'm'", "hu"), ("Country", "hlu", "code BEGINSWITH 'local'", "h"),
        ("Country", "hlu", "code ==[c] 'us'", "u"),
        ("Passport", "lpq", "owner == nil", "q"), ("Passport", "lpq", "owner.id == 1", "p"),
        ("Passport", "lpq", "owner.company.country == 'US'", "p"),
        ("Passport", "lpq", "ANY owner.tags.id == 2", "lp"),
        ("Tag", "glrz", "users == nil", "z"), ("Tag", "glrz", "ANY users.name == 'Ann'", "gr"),
        ("Tag", "glrz", "ANY users.company == 1", "gr"), ("Tag", "glrz", "ANY users.id == nil", "l"),
        ("Company", "abl", "ANY users.age == 17", "bl"), ("Company", "abl", "users.@count == 1", "abl"),
        ("Animal", "cde", "owner == 1", "de"), ("Dog", "de", "owner == 1", "de"), ("Cat", "c", "owner == 1", ""),
        ("Dog", "de", "tag == 1", "d"), ("Dog", "de", "tag == nil", "e"), ("Dog", "de", "tag < 5", "d"),
        ("Cat", "c", "chip == '1'", "c"), ("Dog", "de", "fan == 2", "d"), ("Dog", "de", "fan == nil", "e"),
    ]

    @Test(
        "Conditions on other entities, subentities and temporary text keys hold for the expected rows",
        arguments: others)
    func conditionOnOtherEntity(entity: String, all: String, text: String, refs: String) throws {
        try check(text, refs, of: entity, all: all)
    }
}
