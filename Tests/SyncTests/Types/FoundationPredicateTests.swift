import Foundation
import Sync
import Testing

/// Compares translated predicates with Foundation's evaluation of equal values.
@Suite("Foundation predicates")
struct FoundationPredicateTests {
    enum Role: String, CaseIterable, Codable, Sendable, Comparable {
        case guest, member, admin
        static func < (left: Role, right: Role) -> Bool { left == .guest && right != .guest }
    }

    struct Book: SyncEntity {
        var id: Int
        var title: String?
        var stars: Int
        var isDraft: Bool

        static let entityName = "Book"
        static var syncEntity: SyncModel.Entity {
            SyncModel.Entity(
                entityName,
                attributes: [
                    .init("id", Int.self, isKey: true), .init("title", String?.self), .init("stars", Int.self),
                    .init("isDraft", Bool.self),
                ])
        }
        static var syncProperties: [PartialKeyPath<Book>: SyncProperty] {
            [\.id: "id", \.title: "title", \.stars: "stars", \.isDraft: "isDraft"]
        }
    }

    struct Mentor: SyncEntity {
        var id: Int
        var name: String?

        static let entityName = "Mentor"
        static var syncEntity: SyncModel.Entity {
            SyncModel.Entity(entityName, attributes: [.init("id", Int.self, isKey: true), .init("name", String?.self)])
        }
        static var syncProperties: [PartialKeyPath<Mentor>: SyncProperty] { [\.id: "id", \.name: "name"] }
    }

    struct Author: SyncEntity {
        var id: Int
        var name: String
        var nick: String?
        var age: Int?
        var size: Int
        var score: Double
        var isActive: Bool
        var isKnown: Bool?
        var born: Date?
        var role: Role
        var books: [Book]
        var mentor: Mentor?
        var mentorID: Int?

        static let entityName = "Author"
        static var syncEntity: SyncModel.Entity {
            SyncModel.Entity(
                entityName,
                attributes: [
                    .init("id", Int.self, isKey: true), .init("name", String.self), .init("nick", String?.self),
                    .init("age", Int?.self), .init("size", Int.self), .init("score", Double.self),
                    .init("isActive", Bool.self), .init("isKnown", Bool?.self), .init("born", Date?.self),
                    .init("role", Role.self),
                ],
                relationships: [
                    .init("books", to: Book.self, many: true), .init("mentor", to: Mentor.self),
                ])
        }
        static var syncProperties: [PartialKeyPath<Author>: SyncProperty] {
            [
                \.id: "id", \.name: "name", \.nick: "nick", \.age: "age", \.size: "size", \.score: "score",
                \.isActive: "isActive", \.isKnown: "isKnown", \.born: "born", \.role: "role",
                \.books: SyncProperty("books", to: Book.self), \.mentor: SyncProperty("mentor", to: Mentor.self),
                \.mentorID: "mentor",
            ]
        }
    }

    // MARK: Predicates

    private static let day = Date(timeIntervalSince1970: 86_400)
    private static let ages: [Int?] = [1, 3, nil]
    private static let names = ["Ann", "Bob"]
    private static let range = 2...4
    private static let member = Role.member

    private static func predicates() -> [Predicate<Author>] {
        let (day, ages, names, range, member, two) = (day, ages, names, range, member, 2)
        let half = 0.5
        let later = day.addingTimeInterval(0.25)
        return [
            #Predicate { $0.size > two },
            #Predicate { 2 < $0.size },
            #Predicate { $0.size == 3 || $0.size != 4 && $0.isActive },
            #Predicate { !$0.isActive },
            #Predicate { $0.isActive == true },
            #Predicate { $0.isActive != false },
            #Predicate { $0.isKnown == true },
            #Predicate { $0.isKnown == false },
            #Predicate { $0.isKnown == nil },
            #Predicate { $0.isKnown ?? false },
            #Predicate { $0.isKnown ?? true },
            #Predicate { !($0.isKnown ?? true) },
            #Predicate { $0.age == nil },
            #Predicate { $0.age != nil },
            #Predicate { $0.age == 3 },
            #Predicate { $0.age != 3 },
            #Predicate { ($0.age ?? 0) > two },
            #Predicate { ($0.age ?? 5) > two },
            #Predicate { ($0.age ?? 0) != 3 },
            #Predicate { ($0.age ?? 0) == 0 },
            #Predicate { !(($0.age ?? 9) <= two) },
            #Predicate { $0.age.flatMap { $0 > 2 } ?? false },
            #Predicate { $0.age.flatMap { $0 > 2 } ?? true },
            #Predicate { $0.age.flatMap { $0 > 2 } == true },
            #Predicate { $0.age.flatMap { $0 > 2 } == false },
            #Predicate { $0.age.flatMap { $0 > 2 } != true },
            #Predicate { $0.name == "Ann" },
            #Predicate { $0.name < "Bob" },
            #Predicate { $0.name >= "Bob" },
            #Predicate { $0.name.contains("n") },
            #Predicate { $0.name.starts(with: "A") },
            #Predicate { $0.name.isEmpty },
            #Predicate { !$0.name.contains("o") },
            #Predicate { names.contains($0.name) },
            #Predicate { !names.contains($0.name) },
            #Predicate { $0.nick?.contains("n") == true },
            #Predicate { $0.nick?.contains("n") != true },
            #Predicate { $0.nick?.starts(with: "B") ?? false },
            #Predicate { $0.nick?.contains("n") == nil },
            #Predicate { $0.nick == "Bob" },
            #Predicate { $0.nick != "Bob" },
            #Predicate { ages.contains($0.age) },
            #Predicate { !ages.contains($0.age) },
            #Predicate { range.contains($0.size) },
            #Predicate { (1..<3).contains($0.size) },
            #Predicate { ($0.size >= 1 ? $0.isActive : $0.name == "Bob") },
            #Predicate { $0.size + 1 > 3 },
            #Predicate { $0.size * 2 - 1 == $0.id },
            #Predicate { $0.size - $0.id > 0 },
            #Predicate { ($0.size + $0.id) * 2 > 9 },
            #Predicate { $0.size * ($0.id - 2) < 3 },
            #Predicate { $0.size / 2 == 1 },
            #Predicate { $0.size % 2 == 0 },
            #Predicate { -$0.size < -2 },
            #Predicate { 2 < $0.size + 1 },
            #Predicate { $0.size == $0.id },
            #Predicate { $0.size != $0.id },
            #Predicate { $0.name == $0.name },
            #Predicate { $0.nick == $0.nick },
            #Predicate { $0.age != $0.age },
            #Predicate { $0.score == $0.score },
            #Predicate { $0.score > half },
            #Predicate { $0.score * 2.0 >= 1.0 },
            #Predicate { $0.score / 4.0 < 0.2 },
            #Predicate { $0.score + 0.25 == 0.75 },
            #Predicate { $0.born == day },
            #Predicate { $0.born != day },
            #Predicate { ($0.born ?? day) >= day },
            #Predicate { ($0.born ?? day) < later },
            #Predicate { $0.age.flatMap { $0 + 1 } == 4 },
            #Predicate { $0.size + 1 - 1 + 2 - 2 + 3 - 3 + 4 - 4 + 5 - 5 == $0.id },
            #Predicate { ($0.size - ($0.id - 1)) % 2 == 0 },
            #Predicate { $0.role == member },
            #Predicate { $0.role.rawValue == "admin" },
            #Predicate { $0.role != member },
            #Predicate { $0.books.isEmpty },
            #Predicate { !$0.books.isEmpty },
            #Predicate { $0.books.count > 1 },
            #Predicate { $0.books.count == $0.size },
            #Predicate { $0.books.contains { $0.stars > 2 } },
            #Predicate { $0.books.contains { $0.stars > 2 && !$0.isDraft } },
            #Predicate { !$0.books.contains { $0.stars > 2 || $0.title == nil } },
            #Predicate { $0.books.allSatisfy { $0.stars > 1 } },
            #Predicate { !$0.books.allSatisfy { $0.stars > 1 && $0.title?.contains("x") == true } },
            #Predicate { $0.books.contains { $0.stars * 2 > 5 && $0.isDraft } && $0.isActive },
            #Predicate { $0.books.filter { $0.isDraft }.isEmpty },
            #Predicate { $0.books.contains { $0.title?.starts(with: "x") ?? true } },
            #Predicate { $0.mentor?.name == "Ann" },
            #Predicate { $0.mentor?.name != "Ann" },
            #Predicate { $0.mentor?.name?.contains("n") ?? false },
            #Predicate { $0.mentor.flatMap { $0.id > 1 } ?? false },
            #Predicate { $0.mentor.flatMap { $0.name != "Ann" } ?? false },
            #Predicate { $0.mentorID == nil },
            #Predicate { $0.mentorID != nil },
            #Predicate { $0.mentorID == two },
            #Predicate { $0.mentorID != 2 },
            #Predicate { ($0.mentorID ?? 0) > 1 },
            #Predicate { ages.contains($0.mentorID) },
            #Predicate { _ in true },
            #Predicate { _ in false },
        ]
    }

    // MARK: Rows

    private static func authors(_ random: inout SplitMix64) -> [Author] {
        func maybe<Value>(_ value: Value) -> Value? { Bool.random(using: &random) ? value : nil }
        func text() -> String { ["Ann", "Bob", "Anna", "", "x", "bn"].randomElement(using: &random) ?? "" }
        var book = 0
        return (1...6).map { id in
            let books = (0..<Int.random(in: 0...3, using: &random)).map { _ in
                book += 1
                return Book(
                    id: book, title: maybe(text()), stars: .random(in: 0...4, using: &random),
                    isDraft: .random(using: &random))
            }
            let mentor = maybe(Mentor(id: .random(in: 1...3, using: &random), name: nil))
            return Author(
                id: id, name: text(), nick: maybe(text()), age: maybe(.random(in: 0...5, using: &random)),
                size: .random(in: 0...5, using: &random),
                score: [0, 0.25, 0.5, 1.5].randomElement(using: &random) ?? 0,
                isActive: .random(using: &random), isKnown: maybe(.random(using: &random)),
                born: maybe([day, day.addingTimeInterval(0.001), .distantPast].randomElement(using: &random) ?? day),
                role: Role.allCases.randomElement(using: &random) ?? .guest, books: books,
                mentor: mentor, mentorID: mentor?.id)
        }
    }

    private static func json(_ author: Author, _ mentors: [Int: String?]) -> JSONValue {
        func value(_ value: some AttributeValue) -> JSONValue {
            switch value.storedValue {
            case .null: nil
            case .integer(let number): JSONValue(number)
            case .double(let number): .number("\(number)")
            case .boolean(let flag): .bool(flag)
            case .string(let text): .string(text)
            case .date(let date): .string(ISO8601DateFormatter.milliseconds(date))
            default: nil
            }
        }
        let books = author.books.map { book -> JSONValue in
            [
                "id": value(book.id), "title": value(book.title), "stars": value(book.stars),
                "is_draft": value(book.isDraft),
            ]
        }
        return [
            "id": value(author.id), "name": value(author.name), "nick": value(author.nick), "age": value(author.age),
            "size": value(author.size), "score": value(author.score), "is_active": value(author.isActive),
            "is_known": value(author.isKnown), "born": value(author.born), "role": .string(author.role.rawValue),
            "books": .array(books),
            "mentor": author.mentor.map { ["id": value($0.id), "name": value($0.name)] } ?? nil,
        ]
    }

    @Test("A translated predicate matches the rows that Foundation matches", arguments: 0..<12 as Range<UInt64>)
    func sameRowsAsFoundation(seed: UInt64) async throws {
        var random = SplitMix64(seed: seed)
        var authors = Self.authors(&random)
        // A mentor is one row, so all of its authors give it the same name.
        authors = authors.map { author in
            var author = author
            let name: String? = author.mentor?.id == 1 ? "Ann" : author.mentor?.id == 2 ? "Bob" : nil
            author.mentor?.name = name
            return author
        }
        let stack = try DataStack.inMemory(SyncModel(Author.self, Book.self, Mentor.self))
        try await Sync.changes(.array(authors.map { Self.json($0, [:]) }), inEntity: "Author", stack: stack)
        for predicate in Self.predicates() {
            let expected = try authors.filter { try predicate.evaluate($0) }.map(\.id)
            let condition = try RowPredicate(predicate)
            let found = try await stack.fetch("Author", where: condition).compactMap { $0["id"]?.int.map(Int.init) }
            #expect(found == expected, "seed \(seed): \(condition)")
            // The description is parsed as the same condition.
            let again = try RowPredicate(parsing: condition.description)
            #expect(again == condition, "\(condition)")
        }
    }

    @Test("A predicate without a translation is an error that names the part")
    func untranslatablePartIsNamed() throws {
        let other = Author(
            id: 1, name: "", nick: nil, age: nil, size: 0, score: 0, isActive: true, isKnown: nil, born: nil,
            role: .guest,
            books: [], mentor: nil, mentorID: nil)
        let limit = other.size
        let level = Role.member
        let refusals: [(Predicate<Author>, String)] = [
            (#Predicate { $0.name.count > limit }, "this property of the attribute 'name' is not supported"),
            (
                #Predicate { $0.score / $0.score > 1 },
                "cannot translate the predicate: FloatDivision is only supported for a constant divisor"
            ),
            (
                #Predicate { author in author.books.contains { $0.stars > author.size } },
                "'size' belongs to a row of an outer closure; a closure can only use its own row"
            ),
            (
                #Predicate { author in author.books.contains { $0.stars > 2 && author.name.isEmpty } },
                "'name' belongs to a row of an outer closure; a closure can only use its own row"
            ),
            (
                #Predicate { $0.mentor.flatMap { $0.name ?? "x" } == "x" },
                "cannot translate the predicate: OptionalFlatMap"
            ),
            (#Predicate { $0.age.flatMap { _ in 7 } == 7 }, "cannot translate the predicate: OptionalFlatMap"),
            (#Predicate { $0.role < level }, "the order of values of type Role is not supported"),
            (#Predicate { "abc".contains($0.name) }, "cannot translate the predicate: CollectionContainsCollection"),
        ]
        for (predicate, message) in refusals {
            let error = #expect(throws: SyncError.self) { try RowPredicate(predicate) }
            #expect(error?.code == .invalidPredicate)
            #expect(error?.message.contains(message) == true, "\(error?.message ?? "")")
        }
    }
}

extension ISO8601DateFormatter {
    fileprivate static func milliseconds(_ date: Date) -> String {
        let formatter = ISO8601DateFormatter()
        formatter.formatOptions = [.withInternetDateTime, .withFractionalSeconds]
        return formatter.string(from: date)
    }
}

private struct SplitMix64: RandomNumberGenerator {
    private var state: UInt64
    init(seed: UInt64) { state = seed &* 0x9E37_79B9_7F4A_7C15 }
    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var value = state
        value = (value ^ (value >> 30)) &* 0xBF58_476D_1CE4_E5B9
        value = (value ^ (value >> 27)) &* 0x94D0_49BB_1331_11EB
        return value ^ (value >> 31)
    }
}
