// Written by 'syncdb schema swift'.

import Foundation
import Sync

enum Studiountitled {
    @Entity
    struct Painter {
        var id: Int
        var name: String?
        var born: Int?
        @Relationship(inverse: "painter") @RenamedFrom("pictures") var picture: Picture?
    }

    @Entity
    struct Picture {
        var id: Int
        @Relationship(inverse: "picture") var painter: Painter?
    }

    /// The model of these types.
    static func syncModel() throws -> SyncModel {
        try SyncModel(
            Painter.self,
            Picture.self)
    }
}
