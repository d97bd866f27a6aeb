// Written by 'syncdb schema swift'.

import Foundation
import Sync

enum Garage {
    @Entity(parent: User.self)
    struct Admin {
        var id: Int
        var power: String?
        var level: Int? = 1
        @Relationship var mentor: User?
        @Relationship(inverse: "driver") var car: Car?
    }

    @Entity
    struct Car {
        var id: Int
        @Relationship(inverse: "car") var driver: User?
    }

    @Entity
    struct User {
        var id: Int
        @Relationship var mentor: User?
        @Relationship(inverse: "driver") var car: Car?
    }

    /// The model of these types.
    static func syncModel() throws -> SyncModel {
        try SyncModel(
            Admin.self,
            Car.self,
            User.self)
    }
}
