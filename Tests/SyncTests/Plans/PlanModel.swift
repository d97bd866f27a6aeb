import Sync

/// A model with a link of every kind and trees of every kind, all its keys of one type, and the JSON of its rows.
struct PlanModel: Sendable, CustomStringConvertible {
    /// The types of keys.
    static let all = AttributeType.allCases.filter(\.canBeKey).map(PlanModel.init)

    let type: AttributeType

    var description: String { "\(type.rawValue) keys" }

    /// The key that a number stands for.
    func key(_ number: Int) -> JSONValue {
        let digits = String(number)
        let padded = String(repeating: "0", count: 12 - digits.count) + digits
        return switch type {
        case .string: .string("key \(number)")
        case .uuid: .string("6F9619FF-8B86-D011-B42D-\(padded)")
        case .date: JSONValue(1_500_000_000 + number)
        case .decimal, .double: .number("\(number).5")
        default: JSONValue(number)
        }
    }

    func keys(_ numbers: ClosedRange<Int>) -> JSONValue { .array(numbers.map(key)) }

    /// `{"id": …}` and more.
    func record(_ number: Int, _ members: KeyValuePairs<String, JSONValue> = [:]) -> JSONValue {
        .object([.init("id", key(number))] + members.map { .init($0.key, $0.value) })
    }

    func records(_ numbers: ClosedRange<Int>, _ members: KeyValuePairs<String, JSONValue> = [:]) -> JSONValue {
        .array(numbers.map { record($0, members) })
    }

    private var id: Attribute { Attribute("id", type, isPrimaryKey: true) }
    private let name = Attribute("name", .string)

    init(_ type: AttributeType) { self.type = type }

    func model() throws -> Model {
        try Model(entities: [person] + around + animals + media)
    }

    private var person: Entity {
        Entity(
            "Person", attributes: [id, name, Attribute("age", .integer)],
            relationships: [
                Relationship("team", to: "Team", inverse: "members"),
                Relationship("notes", to: "Note", many: true, inverse: "person", deleteRule: .cascade),
                Relationship("tags", to: "Tag", many: true, ordered: true, inverse: "people"),
                Relationship("likes", to: "Tag", many: true),
                Relationship("friends", to: "Person", many: true, inverse: "friends"),
                Relationship("manager", to: "Person", inverse: "reports"),
                Relationship("reports", to: "Person", many: true, inverse: "manager"),
                Relationship("passport", to: "Passport", inverse: "person", deleteRule: .cascade),
                Relationship("address", to: "Address", deleteRule: .cascade),
                Relationship("phones", to: "Phone", many: true, inverse: "person", deleteRule: .cascade),
                Relationship("accounts", to: "Account", many: true, inverse: "person", deleteRule: .deny),
                Relationship("animals", to: "Animal", many: true, inverse: "owner"),
                Relationship("media", to: "Media", many: true, inverse: "fan"),
            ])
    }

    private var around: [Entity] {
        [
            Entity(
                "Team", attributes: [id, name],
                relationships: [Relationship("members", to: "Person", many: true, ordered: true, inverse: "team")]),
            Entity(
                "Note", attributes: [id, name], relationships: [Relationship("person", to: "Person", inverse: "notes")]),
            Entity(
                "Tag", attributes: [id, name],
                relationships: [Relationship("people", to: "Person", many: true, ordered: true, inverse: "tags")]),
            Entity(
                "Passport", attributes: [id, name],
                relationships: [Relationship("person", to: "Person", inverse: "passport")]),
            Entity("Address", attributes: [name]),
            Entity(
                "Phone", attributes: [name], relationships: [Relationship("person", to: "Person", inverse: "phones")]),
            Entity(
                "Account", attributes: [id, name],
                relationships: [Relationship("person", to: "Person", inverse: "accounts")]),
        ]
    }

    /// A tree with a common key.
    private var animals: [Entity] {
        [
            Entity(
                "Animal", attributes: [id, name],
                relationships: [Relationship("owner", to: "Person", inverse: "animals")]),
            Entity("Dog", parent: "Animal", attributes: [Attribute("tricks", .integer)]),
            Entity("Cat", parent: "Animal", attributes: [Attribute("lives", .integer)]),
        ]
    }

    /// A tree whose rows have hidden keys: two families with keys of their own, and one within.
    private var media: [Entity] {
        [
            Entity(
                "Media", isAbstract: true, attributes: [name],
                relationships: [Relationship("fan", to: "Person", inverse: "media")]),
            Entity("Book", parent: "Media", attributes: [Attribute("isbn", type, remoteKey: "id", isPrimaryKey: true)]),
            Entity("Film", parent: "Media", attributes: [Attribute("code", type, remoteKey: "id", isPrimaryKey: true)]),
            Entity("Short", parent: "Film", attributes: [Attribute("minutes", .integer)]),
            Entity("Clip", parent: "Film", attributes: [Attribute("path", .string, isPrimaryKey: true)]),
        ]
    }
}
