import Foundation
import Sync

@Entity struct Company {
    var id: Int
    var name: String
    @Relationship(deleteRule: .cascade) var offices: [Office]
}

@Entity struct Office {
    @PrimaryKey var code: UUID
    var city: String?
    @Relationship(inverse: \Company.offices) var company: Company?
}

enum Role: String, Sendable { case guest, member, admin }

struct Address: Codable, Hashable, Sendable {
    var street: String
    var floor: Int?
}

@Entity(ignoredKeys: ["*_url"])
struct User: Equatable {
    var id: Int
    var name: String
    @RemoteKey("contact.email") var email: String?
    var role: Role = Role.guest
    var age: Int? = 18
    var isActive: Bool = true
    var joinedAt: Date?
    var token: UUID?
    var balance: Decimal?
    var site: URL?
    var picture: Data?
    var address: Address?
    var tags: [String]?
    @NotExported var secret: String?
    @Transformer("trimmed", "emptyAsNull") var bio: String?
    @Transient var isSelected = false
    @Relationship(inverse: \Note.user, deleteRule: .cascade, ordered: true) var notes: [Note]
    @Relationship var manager: User?
    @Relationship var friends: [User]

    var shortName: String { String(name.prefix(3)) }
    static let maximum = 5
}

@Entity struct Note: Equatable {
    var id: Int
    var text: String?
    @Relationship var user: User?
}

@Entity(primaryKey: ["repository", "number"])
struct Issue {
    var number: Int
    var title: String?
    @Relationship var repository: Repository?
}

@Entity struct Repository {
    @PrimaryKey var owner: String
    @PrimaryKey var name: String
    @Relationship(inverse: \Issue.repository) var issues: [Issue]
}

/// Types in a namespace, with escaped names, and with inverses at both ends.
enum Village {
    enum Size: Int, Sendable { case small = 1, large = 2 }

    @Entity("Person") struct Inhabitant {
        @PrimaryKey var `class`: String
        var `e-mail`: String?
        var size: Size?
        @Relationship(inverse: "spouse") var spouse: Inhabitant?
        @Relationship(inverse: "people") var home: House?
    }

    @Entity struct House {
        var id: Int
        var size: Size?
        @Relationship(inverse: "home", ordered: true) var people: [Inhabitant]
    }
}

/// Entities that share a table.
@Entity struct Animal {
    var id: Int
    var name: String?
}

@Entity(parent: Animal.self) struct Dog {
    var id: Int
    var name: String?
    var tricks: Int?
}

@Entity(parent: Dog.self) struct Puppy {
    var id: Int
    var name: String?
    var tricks: Int?
}

struct Stay: Codable, Hashable, Sendable { var from: Date }

@Entity struct Seat {
    var id: Int
    var row: String
    var price: Double = 0
    var soldAt: Date?
    var stay: Stay?
}

/// Rows without keys of their own.
@Entity struct Recipe: Equatable {
    var id: Int?
    var title: String
    @NotExported var note: String?
    @Relationship(inverse: "recipe", deleteRule: .cascade) var steps: [Step]
}

@Entity struct Step: Equatable {
    var id: Int?
    var text: String
    @Relationship var recipe: Recipe?
}

/// A property with an observer, to which the macro cannot add another one.
@Entity struct Observed {
    var id: Int?
    var text: String { didSet { changes += 1 } }
    @Transient var changes = 0
}

/// Dates with formats, as in schema files.
@Entity struct Visit {
    var id: Int
    @Format("dd.MM.yyyy") var day: Date?
    @Format("unix-milliseconds") var at: Date?
}

@Entity struct Misdated {
    var id: Int
    @Format("DD.MM") var day: Date?
}

/// Copies of another entity, as JSON. The properties are not relationships.
@Entity struct Snapshot {
    var id: Int
    @Stored(as: .json) var label: Label?
    @Stored(as: .json) var labels: [Label]
}

@Entity struct Label: Codable, Equatable {
    var id: Int
    var text: String?
}
