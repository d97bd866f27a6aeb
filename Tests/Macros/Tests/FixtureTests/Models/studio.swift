// Written by 'syncdb schema swift'.

import Foundation
import Sync

enum Studio {
    @Entity
    struct Painter {
        var id: Int
        var name: String?
        var born: Int?
        @Relationship(inverse: "painter", ordered: true) var pictures: [Picture]
    }

    @Entity
    struct Picture {
        var id: Int
        var title: String?
        @Relationship(inverse: "pictures") var painter: Painter?
    }

    /// The model of these types.
    static func syncModel() throws -> SyncModel {
        try SyncModel(
            Painter.self,
            Picture.self)
    }
}
