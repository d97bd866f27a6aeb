// Written by 'syncdb schema swift'.

import Foundation
import Sync

enum Blog {
    @Entity
    struct Company {
        var remoteID: Int
        var name: String = ""
        @Relationship(inverse: "company", deleteRule: .deny) var users: [User]
    }

    @Entity(renamedFrom: "Post")
    struct Note {
        @PrimaryKey var slug: String
        var text: String?
        var isDraft: Bool?
        @Relationship(inverse: "notes") var user: User?
        @Relationship(inverse: "notes", ordered: true) @RemoteKey("labels") var tags: [Tag]
    }

    @Entity
    struct Tag {
        var id: String
        var title: String?
        @Relationship(inverse: "tags") var notes: [Note]
    }

    @Entity(primaryKey: "remoteID")
    struct User {
        var remoteID: Int
        var firstName: String?
        @RemoteKey("contact.email_address") var email: String?
        var userType: String?
        @RenamedFrom("createdAt") var joinedAt: Date?
        @NotExported var passwordHint: String?
        @Relationship(inverse: "users") var company: Company?
        @Relationship(inverse: "user", deleteRule: .cascade) var notes: [Note]
        @Relationship var follows: [User]
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
