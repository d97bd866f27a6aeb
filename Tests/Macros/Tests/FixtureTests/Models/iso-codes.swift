// Written by 'syncdb schema swift'.

import Foundation
import Sync

enum Isocodes {
    @Entity(primaryKey: "alpha2")
    struct Country {
        var alpha2: String
        var alpha3: String?
        var numeric: String?
        var name: String?
        var officialName: String?
        var commonName: String?
        var flag: String?
        @Relationship(inverse: "country", deleteRule: .cascade) var subdivisions: [Subdivision]
    }

    @Entity(primaryKey: "alpha3")
    struct Currency {
        var alpha3: String
        var name: String?
        var numeric: String?
    }

    @Entity(primaryKey: "alpha3")
    struct Language {
        var alpha3: String
        var alpha2: String?
        var bibliographic: String?
        var name: String?
        var commonName: String?
        var invertedName: String?
        var scope: String?
        var type: String?
    }

    @Entity(primaryKey: "code")
    struct Subdivision {
        var code: String
        var name: String?
        var type: String?
        @Relationship(inverse: "subdivisions") var country: Country?
        @Relationship(inverse: "parts") var parent: Subdivision?
        @Relationship(inverse: "parent") var parts: [Subdivision]
    }

    /// The model of these types.
    static func syncModel() throws -> SyncModel {
        try SyncModel(
            Country.self,
            Currency.self,
            Language.self,
            Subdivision.self)
    }
}
