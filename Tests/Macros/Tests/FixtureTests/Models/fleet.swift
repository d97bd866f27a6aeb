// Written by 'syncdb schema swift'.

import Foundation
import Sync

enum Fleet {
    @Entity(isKeyless: true)
    struct Bag {
        var colour: String?
        @Relationship(inverse: "bags") var owner: Person?
        @Relationship(inverse: "bag", ordered: true) var labels: [Label]
        @Relationship var lock: Lock?
    }

    @Entity
    struct Cabin {
        @PrimaryKey var number: Int
        var name: String?
        @Relationship(inverse: "cabins") var ship: Ship?
        @Relationship(inverse: "cabin") var guest: Person?
    }

    @Entity(isKeyless: true)
    struct Label {
        var text: String?
        @Relationship(inverse: "labels") var bag: Bag?
    }

    @Entity(isKeyless: true)
    struct Lock {
        var code: String?
    }

    @Entity
    struct Person {
        var id: Int
        var name: String?
        @Relationship(inverse: "captain") var commands: [Ship]
        @Relationship(inverse: "mechanic", deleteRule: .cascade) var repairs: [Ship]
        @Relationship(inverse: "likedBy") var likes: [Ship]
        @Relationship(inverse: "dislikedBy", ordered: true) var dislikes: [Ship]
        @Relationship(inverse: "followers", ordered: true) var follows: [Person]
        @Relationship(inverse: "follows") var followers: [Person]
        @Relationship(inverse: "guest") var cabin: Cabin?
        @Relationship(inverse: "owner", ordered: true) var bags: [Bag]
    }

    @Entity
    struct Ship {
        var id: String
        var name: String?
        @Relationship(inverse: "commands") var captain: Person?
        @Relationship(inverse: "repairs") var mechanic: Person?
        @Relationship(inverse: "likes") var likedBy: [Person]
        @Relationship(inverse: "dislikes") var dislikedBy: [Person]
        @Relationship(inverse: "ship", deleteRule: .cascade, ordered: true) var cabins: [Cabin]
    }

    /// The model of these types.
    static func syncModel() throws -> SyncModel {
        try SyncModel(
            Bag.self,
            Cabin.self,
            Label.self,
            Lock.self,
            Person.self,
            Ship.self)
    }
}
