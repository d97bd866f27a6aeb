// Written by 'syncdb schema swift'.

import Foundation
import Sync

enum Household {
    @Entity(isKeyless: true)
    struct Box {
        var label: String?
        @Relationship(inverse: "boxes") var user: User?
        @Relationship(inverse: "box") var things: [Thing]
    }

    @Entity(isKeyless: true)
    struct Home {
        var street: String?
        @Relationship(inverse: "home") var residents: [User]
    }

    @Entity(isKeyless: true)
    struct Tag {
        var name: String?
        @Relationship(inverse: "tags") var users: [User]
    }

    @Entity(isKeyless: true)
    struct Thing {
        var size: Int?
        @Relationship(inverse: "things") var box: Box?
    }

    @Entity
    struct User {
        var id: Int
        @Relationship(inverse: "residents") var home: Home?
        @Relationship(inverse: "users") var tags: [Tag]
        @Relationship(inverse: "user") var boxes: [Box]
    }

    /// The model of these types.
    static func syncModel() throws -> SyncModel {
        try SyncModel(
            Box.self,
            Home.self,
            Tag.self,
            Thing.self,
            User.self)
    }
}
