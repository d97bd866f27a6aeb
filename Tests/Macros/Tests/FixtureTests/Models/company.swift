// Written by 'syncdb schema swift'.

import Foundation
import Sync

enum Company {
    @Entity
    struct Company {
        var id: Int
        var name: String?
        var city: String?
        @Relationship(inverse: "company") var users: [User]
    }

    @Entity
    struct Note {
        var id: Int
        var text: String?
        var createdAt: Date?
        @Relationship(inverse: "notes") var user: User?
    }

    @Entity
    struct Tag {
        var id: Int
        var name: String?
        @Relationship(inverse: "tags") var users: [User]
    }

    @Entity
    struct User {
        var id: Int
        var firstName: String?
        var lastName: String?
        @RemoteKey("contact.email") var email: String?
        var age: Int?
        var joinedAt: Date?
        @Relationship(inverse: "users") var company: Company?
        @Relationship(inverse: "user", deleteRule: .cascade) var notes: [Note]
        @Relationship(inverse: "users") var tags: [Tag]
    }

    /// The model of these types.
    static func syncModel() throws -> SyncModel {
        try SyncModel(
            Company.self,
            Note.self,
            Tag.self,
            User.self)
    }
}
