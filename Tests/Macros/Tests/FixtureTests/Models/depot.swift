// Written by 'syncdb schema swift'.

import Foundation
import Sync

enum Depot {
    @Entity
    struct Depot {
        var id: Int
        var name: String?
        @Relationship(inverse: "depot", deleteRule: .cascade) var vehicles: [Vehicle]
        @Relationship(inverse: "base", ordered: true) var trucks: [Truck]
        @Relationship var flagship: Vehicle?
        @Relationship var vans: [Van]
    }

    @Entity
    struct Driver {
        var id: Int
        var name: String?
        @Relationship(inverse: "drivers") var vehicles: [Vehicle]
    }

    @Entity
    struct Part {
        var id: String
        var name: String?
        @Relationship(inverse: "parts") var vehicle: Vehicle?
        @Relationship(inverse: "spares") var spareFor: Truck?
    }

    @Entity(parent: Truck.self)
    struct Tanker {
        var id: Int
        var name: String?
        var load: Double?
        var litres: Int?
        @Relationship(inverse: "vehicles") var depot: Depot?
        @Relationship(inverse: "vehicle", deleteRule: .cascade) var parts: [Part]
        @Relationship(inverse: "vehicles") var drivers: [Driver]
        @Relationship(inverse: "trucks") var base: Depot?
        @Relationship(inverse: "truck") var trailer: Trailer?
        @Relationship(inverse: "spareFor") var spares: [Part]
    }

    @Entity
    struct Trailer {
        var id: Int
        @Relationship(inverse: "trailer") var truck: Truck?
    }

    @Entity(parent: Vehicle.self)
    struct Truck {
        var id: Int
        var name: String?
        var load: Double?
        @Relationship(inverse: "vehicles") var depot: Depot?
        @Relationship(inverse: "vehicle", deleteRule: .cascade) var parts: [Part]
        @Relationship(inverse: "vehicles") var drivers: [Driver]
        @Relationship(inverse: "trucks") var base: Depot?
        @Relationship(inverse: "truck") var trailer: Trailer?
        @Relationship(inverse: "spareFor") var spares: [Part]
    }

    @Entity(parent: Vehicle.self)
    struct Van {
        var id: Int
        var name: String?
        var seats: Int? = 3
        @Relationship(inverse: "vehicles") var depot: Depot?
        @Relationship(inverse: "vehicle", deleteRule: .cascade) var parts: [Part]
        @Relationship(inverse: "vehicles") var drivers: [Driver]
    }

    @Entity(isAbstract: true)
    struct Vehicle {
        var id: Int
        var name: String?
        @Relationship(inverse: "vehicles") var depot: Depot?
        @Relationship(inverse: "vehicle", deleteRule: .cascade) var parts: [Part]
        @Relationship(inverse: "vehicles") var drivers: [Driver]
    }

    /// The model of these types.
    static func syncModel() throws -> SyncModel {
        try SyncModel(
            Depot.self,
            Driver.self,
            Part.self,
            Tanker.self,
            Trailer.self,
            Truck.self,
            Van.self,
            Vehicle.self)
    }
}
