// Written by 'syncdb schema swift'.

import Foundation
import Sync

enum Orchard {
    @Entity
    struct Orchard {
        var id: Int
        var name: String?
        @Relationship(inverse: "orchard", deleteRule: .cascade, ordered: true) var rows: [Row]
        @Relationship(inverse: "orchards", ordered: true) var visitors: [Visitor]
    }

    @Entity
    struct Plot {
        var id: Int
        var name: String?
        var isFallow: Bool? = false
        @Relationship(inverse: "subplots") var parent: Plot?
        @Relationship(inverse: "parent") var subplots: [Plot]
    }

    @Entity
    struct Row {
        @PrimaryKey var rowNumber: Int
        var crop: String?
        var length: Double?
        @Relationship(inverse: "rows") var orchard: Orchard?
    }

    @Entity
    struct Visitor {
        var id: UUID
        var name: String?
        @Relationship(inverse: "visitors") var orchards: [Orchard]
    }

    /// The model of these types.
    static func syncModel() throws -> SyncModel {
        try SyncModel(
            Orchard.self,
            Plot.self,
            Row.self,
            Visitor.self)
    }
}
