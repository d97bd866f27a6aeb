// Thirteen properties are wrong. '.ci/check-macros' compiles this file and compares the errors with Relationships.txt: one for
// each wrong property.
import Foundation
import Sync

@Entity struct Company {
    var id: Int
    @Relationship var owner: Person?
    var people: [Person]
}

@Entity struct Person {
    var id: Int
    var address: Address?
    var roles: [Role] = []
    var role: Role? = .member
    var company: Company?
    var notes: [Note] = []
    @Stored(as: .json) var copies: [Note]?
    var color: Color
    var past: [Color]?
    @Transient var shade: Color?
}

@Entity struct Note: Codable, Hashable {
    var id: Int
    var tag: Tag
    @Relationship var tags: [Tag]
}

@Entity struct Tag: Codable, Hashable {
    var id: Int
    @Relationship var name: String
    @Relationship var counts: [Int]
    @Relationship var since: Date?
    @Relationship var notes: Set<Note>
    @Relationship var note: Note
    @Relationship var lines: [Note]?
    var words: Set<String>?
}

enum Role: String, Codable { case guest, member }

struct Color {
    var red: Int
}

struct Address: Codable {
    var city: String
}
