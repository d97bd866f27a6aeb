// Written by 'syncdb schema swift'.

import Foundation
import Sync

enum Depotparcels {
    @Entity(parent: Parcel.self)
    struct BaggedParcel {
        @RemoteKey("label.number") var code: Int
        var weight: Int?
        @Relationship(inverse: "twins") var twins: [Parcel]
        @Relationship(inverse: "mate") var mate: Parcel?
        @Relationship(inverse: "parcels") var van: Van?
    }

    @Entity(parent: Parcel.self)
    struct BoxedParcel {
        @RemoteKey("label.number") var code: Int
        var weight: Int?
        var sides: Int?
        @Relationship(inverse: "twins") var twins: [Parcel]
        @Relationship(inverse: "mate") var mate: Parcel?
        @Relationship(inverse: "parcels") var van: Van?
    }

    @Entity(primaryKey: "code", discriminator: .init("kind", values: ["box": "BoxedParcel", "bag": "BaggedParcel"]))
    struct Parcel {
        @RemoteKey("label.number") var code: Int
        var weight: Int?
        @Relationship(inverse: "twins") var twins: [Parcel]
        @Relationship(inverse: "mate") var mate: Parcel?
        @Relationship(inverse: "parcels") var van: Van?
    }

    @Entity
    struct Van {
        var id: Int
        @Relationship(inverse: "van") var parcels: [Parcel]
    }

    /// The model of these types.
    static func syncModel() throws -> SyncModel {
        try SyncModel(
            BaggedParcel.self,
            BoxedParcel.self,
            Parcel.self,
            Van.self)
    }
}
