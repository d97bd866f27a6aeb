// Written by 'syncdb schema swift'.

import Foundation
import Sync

enum Village {
    @Entity(parent: Entry.self, primaryKey: "articleID")
    struct Article {
        var title: String?
        var articleID: Int
    }

    @Entity(parent: Pet.self)
    struct Cat {
        var id: Int
        var name: String?
        @Relationship(inverse: "pets") var person: Person?
    }

    @Entity
    struct Circle {
        var id: Int
        @Relationship(inverse: "circles", ordered: true) var members: [Person]
    }

    @Entity(parent: Pet.self)
    struct Dog {
        var id: Int
        var name: String?
        @Relationship(inverse: "pets") var person: Person?
    }

    @Entity(isAbstract: true, isKeyless: true)
    struct Entry {
        var title: String?
    }

    @Entity
    struct Firm {
        var id: Int
        var name: String?
        @Relationship(inverse: "firm") var people: [Person]
    }

    @Entity
    struct Letter {
        var id: String
        var text: String?
        @Relationship(inverse: "letters") var person: Person?
    }

    @Entity
    struct Locker {
        var id: Int
        @Relationship(inverse: "locker") var person: Person?
    }

    @Entity(parent: Entry.self, primaryKey: "pageID")
    struct Page {
        var title: String?
        var pageID: String
    }

    @Entity
    struct Permit {
        var id: UUID
        var name: String?
    }

    @Entity
    struct Person {
        var id: Int
        var name: String?
        @Relationship(inverse: "spouse") var spouse: Person?
        @Relationship(inverse: "person") var locker: Locker?
        @Relationship var home: Place?
        @Relationship(inverse: "people") var firm: Firm?
        @Relationship var favourite: Letter?
        @Relationship(inverse: "person", deleteRule: .cascade) var letters: [Letter]
        @Relationship var skills: [Skill]
        @Relationship(inverse: "members", ordered: true) var circles: [Circle]
        @Relationship(inverse: "person") var pets: [Pet]
        @Relationship var cat: Cat?
    }

    @Entity(isAbstract: true)
    struct Pet {
        var id: Int
        var name: String?
        @Relationship(inverse: "pets") var person: Person?
    }

    @Entity(isKeyless: true)
    struct Place {
        var street: String?
        @Relationship var town: Town?
        @Relationship var annex: Place?
    }

    @Entity(isKeyless: true)
    struct Skill {
        var name: String?
    }

    @Entity
    struct Town {
        var id: Int
    }

    /// The model of these types.
    static func syncModel() throws -> SyncModel {
        try SyncModel(
            Article.self,
            Cat.self,
            Circle.self,
            Dog.self,
            Entry.self,
            Firm.self,
            Letter.self,
            Locker.self,
            Page.self,
            Permit.self,
            Person.self,
            Pet.self,
            Place.self,
            Skill.self,
            Town.self)
    }
}
