// Written by 'syncdb schema swift'.

import Foundation
import Sync

enum Studiorenamed {
    @Entity(renamedFrom: "Painter")
    struct Artist {
        var id: String
        @RenamedFrom("name") var fullName: String?
        var born: String?
        var country: String = "unknown"
        @Relationship(inverse: "artists", ordered: true) @RenamedFrom("pictures") var works: [Picture]
    }

    @Entity
    struct Picture {
        var id: Int
        var title: String?
        var price: Decimal?
        @Relationship(inverse: "works") @RenamedFrom("painter") var artists: [Artist]
    }

    /// The model of these types.
    static func syncModel() throws -> SyncModel {
        try SyncModel(
            Artist.self,
            Picture.self)
    }
}
