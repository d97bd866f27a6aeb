// Written by 'syncdb schema swift'.

import Foundation
import Sync

enum Zoo {
    @Entity(isAbstract: true)
    struct Animal {
        var id: UUID
        var name: String?
        var weight: Decimal?
        @Relationship(inverse: "animals") var keeper: Keeper?
    }

    @Entity(parent: Animal.self)
    struct Bird {
        var id: UUID
        var name: String?
        var weight: Decimal?
        var wingspan: Double?
        var canFly: Bool?
        @Relationship(inverse: "animals") var keeper: Keeper?
    }

    @Entity
    struct Keeper {
        var id: Int
        @RemoteKey("badge-number") var badge: String?
        @Relationship(inverse: "keeper") var animals: [Animal]
        @Relationship(inverse: "deputyOf", optional: false) var deputy: Keeper?
        @Relationship(inverse: "deputy") var deputyOf: Keeper?
    }

    @Entity(parent: Animal.self)
    struct Mammal {
        var id: UUID
        var name: String?
        var weight: Decimal?
        var legs: Int? = 4
        @Relationship(inverse: "animals") var keeper: Keeper?
    }

    @Entity(parent: Bird.self)
    struct Parrot {
        var id: UUID
        var name: String?
        var weight: Decimal?
        var wingspan: Double?
        var canFly: Bool?
        var vocabulary: JSONValue?
        @Relationship(inverse: "animals") var keeper: Keeper?
    }

    /// The model of these types.
    static func syncModel() throws -> SyncModel {
        try SyncModel(
            Animal.self,
            Bird.self,
            Keeper.self,
            Mammal.self,
            Parrot.self)
    }
}
