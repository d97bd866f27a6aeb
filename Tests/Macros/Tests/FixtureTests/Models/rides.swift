// Written by 'syncdb schema swift'.

import Foundation
import Sync

enum Rides {
    @Entity(parent: Vehicle.self)
    struct Car {
        var id: Int
        var doors: Int?
    }

    @Entity(primaryKey: ["vehicle", "number"])
    struct Ride {
        var number: Int
        var distance: Int?
        @Relationship var vehicle: Vehicle?
    }

    @Entity(discriminator: .init("kind", values: ["car": "Car"]))
    struct Vehicle {
        var id: Int
    }

    /// The model of these types.
    static func syncModel() throws -> SyncModel {
        try SyncModel(
            Car.self,
            Ride.self,
            Vehicle.self)
    }
}
