import Sync

/// A model with every kind of link and inheritance hierarchy, with keys of one type, and the JSON of its rows.
struct PlanModel: Sendable, CustomStringConvertible {
    /// One model for each type of key.
    static let all = AttributeType.allCases.filter(\.canBeKey).map(PlanModel.init)

    let type: AttributeType

    var description: String { "\(type.rawValue) keys" }

    /// Returns the key for a number.
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

    /// Returns a record with its ID and other members.
    func record(_ number: Int, _ members: KeyValuePairs<String, JSONValue> = [:]) -> JSONValue {
        .object([.init("id", key(number))] + members.map { .init($0.key, $0.value) })
    }

    func records(_ numbers: ClosedRange<Int>, _ members: KeyValuePairs<String, JSONValue> = [:]) -> JSONValue {
        .array(numbers.map { record($0, members) })
    }

    private var id: SyncModel.Attribute { SyncModel.Attribute("id", type, isPrimaryKey: true) }
    private let name = SyncModel.Attribute("name", .string)

    init(_ type: AttributeType) { self.type = type }

    func model() throws -> SyncModel {
        try SyncModel(entities: [person] + around + animals + media)
    }

    private var person: SyncModel.Entity {
        SyncModel.Entity(
            "Person", attributes: [id, name, SyncModel.Attribute("age", .integer)],
            relationships: [
                SyncModel.Relationship("team", to: "Team", inverse: "members"),
                SyncModel.Relationship("notes", to: "Note", many: true, inverse: "person", deleteRule: .cascade),
                SyncModel.Relationship("tags", to: "Tag", many: true, ordered: true, inverse: "people"),
                SyncModel.Relationship("likes", to: "Tag", many: true),
                SyncModel.Relationship("friends", to: "Person", many: true, inverse: "friends"),
                SyncModel.Relationship("manager", to: "Person", inverse: "reports"),
                SyncModel.Relationship("reports", to: "Person", many: true, inverse: "manager"),
                SyncModel.Relationship("passport", to: "Passport", inverse: "person", deleteRule: .cascade),
                SyncModel.Relationship("address", to: "Address", deleteRule: .cascade),
                SyncModel.Relationship("phones", to: "Phone", many: true, inverse: "person", deleteRule: .cascade),
                SyncModel.Relationship("accounts", to: "Account", many: true, inverse: "person", deleteRule: .deny),
                SyncModel.Relationship("animals", to: "Animal", many: true, inverse: "owner"),
                SyncModel.Relationship("media", to: "Media", many: true, inverse: "fan"),
            ])
    }

    private var around: [SyncModel.Entity] {
        [
            SyncModel.Entity(
                "Team", attributes: [id, name],
                relationships: [
                    SyncModel.Relationship("members", to: "Person", many: true, ordered: true, inverse: "team")
                ]),
            SyncModel.Entity(
                "Note", attributes: [id, name],
                relationships: [SyncModel.Relationship("person", to: "Person", inverse: "notes")]),
            SyncModel.Entity(
                "Tag", attributes: [id, name],
                relationships: [
                    SyncModel.Relationship("people", to: "Person", many: true, ordered: true, inverse: "tags")
                ]),
            SyncModel.Entity(
                "Passport", attributes: [id, name],
                relationships: [SyncModel.Relationship("person", to: "Person", inverse: "passport")]),
            SyncModel.Entity("Address", attributes: [name]),
            SyncModel.Entity(
                "Phone", attributes: [name],
                relationships: [SyncModel.Relationship("person", to: "Person", inverse: "phones")]),
            SyncModel.Entity(
                "Account", attributes: [id, name],
                relationships: [SyncModel.Relationship("person", to: "Person", inverse: "accounts")]),
        ]
    }

    /// A hierarchy with a common key.
    private var animals: [SyncModel.Entity] {
        [
            SyncModel.Entity(
                "Animal", attributes: [id, name],
                relationships: [SyncModel.Relationship("owner", to: "Person", inverse: "animals")]),
            SyncModel.Entity("Dog", parent: "Animal", attributes: [SyncModel.Attribute("tricks", .integer)]),
            SyncModel.Entity("Cat", parent: "Animal", attributes: [SyncModel.Attribute("lives", .integer)]),
        ]
    }

    /// A hierarchy whose rows have surrogate keys: two branches with different keys, and a third key inside one of
    /// them.
    private var media: [SyncModel.Entity] {
        [
            SyncModel.Entity(
                "Media", isAbstract: true, attributes: [name],
                relationships: [SyncModel.Relationship("fan", to: "Person", inverse: "media")]),
            SyncModel.Entity(
                "Book", parent: "Media",
                attributes: [SyncModel.Attribute("isbn", type, remoteKey: "id", isPrimaryKey: true)]),
            SyncModel.Entity(
                "Film", parent: "Media",
                attributes: [SyncModel.Attribute("code", type, remoteKey: "id", isPrimaryKey: true)]),
            SyncModel.Entity("Short", parent: "Film", attributes: [SyncModel.Attribute("minutes", .integer)]),
            SyncModel.Entity(
                "Clip", parent: "Film", attributes: [SyncModel.Attribute("path", .string, isPrimaryKey: true)]),
        ]
    }
}
