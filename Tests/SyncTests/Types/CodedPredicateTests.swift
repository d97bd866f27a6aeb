import Foundation
import GRDB
import Sync
import Testing

/// Compares translated predicates on properties of `Codable` types with Foundation's evaluation of equal values.
@Suite("Predicates on properties of Codable types")
struct CodedPredicateTests {
    enum Kind: String, CaseIterable, Codable, Sendable { case flat, house }

    struct Spot: Codable, Hashable, Sendable {
        var name: String?
        var height: Double
    }

    struct Home: Codable, Hashable, Sendable {
        var street: String
        var city: String?
        var floor: Int?
        let isRented: Bool
        var hasLift: Bool
        var kind: Kind
        var level: UInt8?
        var builtAt: Date?
        var size: Float
        var rooms: [String]
        var spot: Spot
        var garden: Spot?
        var number: String { didSet {} }

        enum CodingKeys: String, CodingKey {
            case street = "street name"
            case city = "floor"
            case floor = "city"
            case isRented, hasLift, kind, level, builtAt, size, rooms, spot, garden, number
        }

        var label: String { street }
    }

    /// Its initializer changes a value.
    struct Trimmed: Codable, Hashable, Sendable {
        var text: String
        var other: String

        init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: CodingKeys.self)
            text = try container.decode(String.self, forKey: .text).trimmingCharacters(in: .whitespaces)
            other = try container.decode(String.self, forKey: .other)
        }
    }

    /// An enumeration without a list of its cases.
    struct Vague: Codable, Hashable, Sendable {
        enum Mood: String, Codable, Sendable { case good }
        var mood: Mood
        var text: String
    }

    struct Person: SyncEntity {
        var id: Int
        var home: Home
        var work: Home?
        var trimmed: Trimmed?
        var vague: Vague?

        static let entityName = "Person"
        static var syncEntity: SyncModel.Entity {
            SyncModel.Entity(
                entityName,
                attributes: [
                    .init("id", Int.self, isKey: true), .init("home", Home.self), .init("work", Home?.self),
                    .init("trimmed", Trimmed?.self), .init("vague", Vague?.self),
                ])
        }
        static var syncProperties: [PartialKeyPath<Person>: SyncProperty] {
            [\.id: "id", \.home: "home", \.work: "work", \.trimmed: "trimmed", \.vague: "vague"]
        }
    }

    private static func predicates() -> [Predicate<Person>] {
        let (main, kind, floors, half) = ("Main", Kind.house, [1, nil] as [Int?], 0.5)
        let none: Int? = nil
        return [
            #Predicate { $0.home.street == "Main" },
            #Predicate { $0.home.street != main },
            #Predicate { $0.home.street < "Main" },
            #Predicate { $0.home.street.contains("a") },
            #Predicate { $0.home.street.starts(with: "M") },
            #Predicate { $0.home.street.isEmpty },
            #Predicate { $0.home.city == "Rome" },
            #Predicate { $0.home.city != "Rome" },
            #Predicate { $0.home.city == nil },
            #Predicate { ($0.home.city ?? "Rome") == "Rome" },
            #Predicate { $0.home.city?.contains("o") == true },
            #Predicate { $0.home.floor == 1 },
            #Predicate { $0.home.floor == none },
            #Predicate { $0.home.floor != nil },
            #Predicate { ($0.home.floor ?? 5) > 1 },
            #Predicate { floors.contains($0.home.floor) },
            #Predicate { $0.home.isRented },
            #Predicate { !$0.home.hasLift },
            #Predicate { $0.home.hasLift == false && $0.home.isRented != false },
            #Predicate { $0.home.kind == kind },
            #Predicate { $0.home.kind.rawValue == "flat" },
            #Predicate { $0.home.level == 200 },
            #Predicate { $0.home.spot.height > half },
            #Predicate { $0.home.spot.height == 0.1 },
            #Predicate { $0.home.spot.height >= 2 },
            #Predicate { $0.home.spot.name == "x" },
            #Predicate { $0.home.garden == nil },
            #Predicate { $0.home.garden?.height == 2 },
            #Predicate { $0.home.garden?.name == nil },
            #Predicate { $0.work == nil },
            #Predicate { $0.work?.street == "Main" },
            #Predicate { $0.work?.city == nil },
            #Predicate { $0.work?.garden?.name == "x" },
            #Predicate { $0.work?.garden?.name != "x" },
            #Predicate { $0.work?.hasLift == true },
            #Predicate { $0.work.flatMap { $0.hasLift } ?? true },
            #Predicate { $0.work.flatMap { $0.street == "Main" && $0.hasLift } ?? false },
            #Predicate { $0.trimmed?.other == "Main" },
        ]
    }

    private static func people() -> [Person] {
        let texts = ["Main", "", "Road", "Straße"]
        func home(_ number: Int) -> Home {
            func pick<Value>(_ values: [Value]) -> Value { values[number % values.count] }
            let spot = Spot(name: pick(["x", nil, "1"]), height: pick([0.1, 2, 1e30, -0.5]))
            return Home(
                street: pick(texts), city: pick(["Rome", nil, "1"]), floor: pick([1, nil, 0, 7, -1]),
                isRented: number % 2 == 0, hasLift: number % 3 == 0, kind: pick([.flat, .house, .house]),
                level: pick([200, nil]), builtAt: Date(timeIntervalSince1970: 0), size: 0.5, rooms: ["a"], spot: spot,
                garden: pick([nil, spot, spot, nil, nil]), number: "1")
        }
        return (1...30).map { id in
            Person(
                id: id, home: home(id), work: id % 3 == 0 ? nil : home(id + 7),
                trimmed: id % 4 == 0
                    ? nil
                    : try? JSONDecoder().decode(
                        Trimmed.self, from: Data(#"{"text": " a", "other": "\#(texts[id % 4])"}"#.utf8)))
        }
    }

    private static func stack(_ people: [Person]) async throws -> DataStack {
        let stack = try DataStack.inMemory(SyncModel(Person.self))
        func json(_ value: some Encodable) throws -> JSONValue {
            let encoder = JSONEncoder()
            encoder.dateEncodingStrategy = .iso8601
            return try JSONValue(parsing: encoder.encode(value))
        }
        let records = try people.map { person -> JSONValue in
            [
                "id": JSONValue(person.id), "home": try json(person.home), "work": try json(person.work),
                "trimmed": try json(person.trimmed),
            ]
        }
        try await Sync.changes(.array(records), inEntity: "Person", stack: stack)
        return stack
    }

    @Test("A predicate on a property of a Codable type matches the rows that Foundation matches")
    func sameRowsAsFoundation() async throws {
        let people = Self.people()
        let stack = try await Self.stack(people)
        #expect(try await stack.count("Person") == people.count)
        for predicate in Self.predicates() {
            let expected = try people.filter { try predicate.evaluate($0) }.map(\.id)
            let condition = try RowPredicate(predicate)
            let found = try await stack.fetch("Person", where: condition).compactMap { $0["id"]?.int.map(Int.init) }
            #expect(found == expected, "\(condition)")
            let inverse = try await stack.fetch("Person", where: !condition)
            #expect(inverse.count == people.count - expected.count, "NOT \(condition)")
            #expect(try RowPredicate(parsing: condition.description).description == condition.description)
        }
    }

    @Test("A property of a Codable type has the JSON key that its CodingKeys give it")
    func codingKeys() throws {
        #expect(try RowPredicate(#Predicate<Person> { $0.home.city == "a" }).description == "home.floor == 'a'")
        #expect(try RowPredicate(#Predicate<Person> { $0.home.floor == 1 }).description == "home.city == 1")
        #expect(
            try RowPredicate(#Predicate<Person> { $0.work?.street == "a" }).description
                == "work.#'street name' == 'a'")
    }

    @Test("A member that is absent, null or of another type equals no value")
    func missingMembers() async throws {
        let stack = try await Self.stack(Array(Self.people().prefix(1)))
        try await stack.write { db in
            for (id, json) in [(2, "{}"), (3, #"{"city": null}"#), (4, #"{"city": "1"}"#), (5, "[1]"), (6, "no JSON")] {
                try db.execute(sql: "INSERT INTO Person (id, home) VALUES (?, ?)", arguments: [id, json])
            }
        }
        func ids(_ condition: RowPredicate) async throws -> [Int64] {
            try await stack.fetch("Person", where: condition).compactMap { $0["id"]?.int }
        }
        #expect(try await ids("home.city == 1") == [])
        #expect(try await ids("home.city == '1'") == [4])
        #expect(try await ids("home.city != '1'") == [1, 2, 3, 5, 6])
        #expect(try await ids("home.city == nil") == [1, 2, 3, 5, 6])
        #expect(try await ids("home.city IN {nil, '1'}") == [1, 2, 3, 4, 5, 6])
        #expect(try await ids("home.city < 5") == [])
    }

    @Test("A property of a Codable type without a translation is an error that names it")
    func untranslatableProperties() throws {
        let (day, size) = (Date(timeIntervalSince1970: 0), Float(1))
        let refusals: [(Predicate<Person>, String)] = [
            (#Predicate { $0.home.builtAt == day }, "'builtAt' of the attribute 'home' is of type Optional<Date>"),
            (#Predicate { $0.home.size == size }, "'size' of the attribute 'home' is of type Float; only strings"),
            (#Predicate { $0.home.rooms.isEmpty }, "this property of the attribute 'home' is not supported"),
            (#Predicate { $0.home.label == "a" }, "this property of the attribute 'home' is not supported; it must"),
            (#Predicate { $0.home.number == "a" }, "this property of the attribute 'home' is not supported; it must"),
            (#Predicate { $0.home.street.count == 1 }, "this property of the attribute 'home.street name'"),
            (#Predicate { ($0.home.floor ?? 0) + 1 == 2 }, "cannot translate the predicate"),
            (#Predicate { $0.home.street == $0.home.number }, "this property of the attribute 'home'"),
            (#Predicate { $0.home.spot.height > $0.home.spot.height }, "'home.spot.height' is a member of JSON"),
            (#Predicate { $0.trimmed?.text == "a" }, "this property of the attribute 'trimmed' is not supported"),
            (#Predicate { $0.vague?.text == "a" }, "type whose enumerations are CaseIterable"),
        ]
        for (predicate, message) in refusals {
            let error = #expect(throws: SyncError.self) { try RowPredicate(predicate) }
            #expect(error?.code == .invalidPredicate)
            #expect(error?.message.contains(message) == true, "\(error?.message ?? "")")
        }
    }
}
