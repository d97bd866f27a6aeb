// Written by 'syncdb schema swift'.

import Foundation
import Sync

enum Press {
    @Entity(isKeyless: true)
    struct Address {
        var street: String?
        @Relationship(inverse: "address") var author: Author?
        @Relationship(inverse: "addresses") var city: City?
    }

    @Entity(isAbstract: true)
    struct Animal {
        var id: Int
        var name: String?
        @Relationship(inverse: "animals") var zoo: Zoo?
    }

    @Entity
    struct Author {
        var id: Int
        var name: String?
        @Relationship(inverse: "author", deleteRule: .cascade) var book: Book?
        @Relationship(inverse: "author") var address: Address?
        @Relationship(inverse: "author", ordered: true) var phones: [Phone]
        @Relationship(inverse: "friends") var friends: [Author]
        @Relationship(inverse: "spouse") var spouse: Author?
        @Relationship var mentor: Author?
        @Relationship(inverse: "members", ordered: true) var groups: [Group]
        @Relationship var marks: [Mark]
    }

    @Entity
    struct Book {
        var id: Int
        var title: String?
        @Relationship(inverse: "book") var author: Author?
    }

    @Entity(parent: Animal.self)
    struct Cat {
        var id: Int
        var name: String?
        var lives: Int?
        @Relationship(inverse: "animals") var zoo: Zoo?
    }

    @Entity
    struct City {
        var id: String
        var name: String?
        @Relationship(inverse: "city") var addresses: [Address]
    }

    @Entity(parent: Animal.self)
    struct Dog {
        var id: Int
        var name: String?
        var tricks: Int?
        @Relationship(inverse: "animals") var zoo: Zoo?
        @Relationship var bestFriend: Cat?
    }

    @Entity
    struct Group {
        var id: Int
        var name: String?
        @Relationship(inverse: "groups", ordered: true) var members: [Author]
        @Relationship(inverse: "group", deleteRule: .cascade, ordered: true) var posts: [Post]
    }

    @Entity(isKeyless: true)
    struct Mark {
        var label: String?
    }

    @Entity(isKeyless: true)
    struct Phone {
        var number: String?
        @Relationship(inverse: "phones") var author: Author?
    }

    @Entity
    struct Post {
        @PrimaryKey var uid: UUID
        var title: String?
        @Relationship(inverse: "posts") var group: Group?
    }

    @Entity
    struct Zoo {
        var id: Int
        @Relationship(inverse: "zoo") var animals: [Animal]
    }

    /// The model of these types.
    static func syncModel() throws -> SyncModel {
        try SyncModel(
            Address.self,
            Animal.self,
            Author.self,
            Book.self,
            Cat.self,
            City.self,
            Dog.self,
            Group.self,
            Mark.self,
            Phone.self,
            Post.self,
            Zoo.self)
    }
}
