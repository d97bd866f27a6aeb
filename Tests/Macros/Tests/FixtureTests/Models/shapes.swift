// Written by 'syncdb schema swift'.

import Foundation
import Sync

enum Shapes {
    @Entity(parent: Vehicle.self)
    struct Bike {
        var id: Int
        var name: String?
        var gears: Int?
        @Relationship(inverse: "vehicles") var owner: Keeper?
    }

    @Entity(parent: Vehicle.self)
    struct Car {
        var id: Int
        var name: String?
        var doors: Int?
        @Relationship(inverse: "vehicles") var owner: Keeper?
    }

    @Entity
    struct City {
        var id: Int
        var name: String?
        @Relationship(inverse: "cities") var country: Country?
    }

    @Entity(primaryKey: "iso")
    struct Country {
        var iso: String
        var name: String?
        @Relationship(inverse: "country", keyedBy: .attribute("language")) var names: [CountryName]
        @Relationship(inverse: "country", deleteRule: .cascade, keyedBy: .primaryKey) var cities: [City]
        @Relationship(ordered: true, keyedBy: .primaryKey) var unions: [Union]
    }

    @Entity(isKeyless: true)
    struct CountryName {
        var language: String?
        var text: String?
        @Relationship(inverse: "names") var country: Country?
    }

    @Entity
    struct Keeper {
        var id: Int
        var name: String?
        @Relationship(inverse: "owner") var vehicles: [Vehicle]
        @Relationship var subject: Subject?
    }

    @Entity(parent: Subject.self)
    struct Photo {
        var id: Int
        var place: String?
    }

    @Entity(parent: Subject.self)
    struct Post {
        var id: Int
        var title: String?
    }

    @Entity(
        isAbstract: true, isKeyless: true, discriminator: .init("kind", values: ["post": "Post", "photo": "Photo"]))
    struct Subject {
    }

    @Entity(resourceType: "alliances")
    struct Union {
        var id: String
        var title: String?
    }

    @Entity(parent: Car.self)
    struct Van {
        var id: Int
        var name: String?
        var doors: Int?
        var volume: Double?
        @Relationship(inverse: "vehicles") var owner: Keeper?
    }

    @Entity(isAbstract: true, discriminator: .init("kind", values: ["car": "Car", "van": "Van", "bike": "Bike"]))
    struct Vehicle {
        var id: Int
        var name: String?
        @Relationship(inverse: "vehicles") var owner: Keeper?
    }

    /// The model of these types.
    static func syncModel() throws -> SyncModel {
        try SyncModel(
            Bike.self,
            Car.self,
            City.self,
            Country.self,
            CountryName.self,
            Keeper.self,
            Photo.self,
            Post.self,
            Subject.self,
            Union.self,
            Van.self,
            Vehicle.self)
    }
}
