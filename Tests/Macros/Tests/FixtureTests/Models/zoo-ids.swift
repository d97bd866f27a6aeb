// Written by 'syncdb schema swift'.

import Foundation
import Sync

enum Zooids {
    @Entity
    struct Ant {
        var id: Int
        var size: Int?
        @Relationship var subs: [Sub]
    }

    @Entity
    struct Hill {
        var id: Int
        @Relationship var ants: [Ant]
        @Relationship var other: Other?
        @Relationship(inverse: "hills") var sub: Sub?
        @Relationship(inverse: "hill") var parts: [Part]
    }

    @Entity(parent: Ant.self)
    struct Other {
        var id: Int
        var size: Int?
        @Relationship var subs: [Sub]
    }

    @Entity
    struct Part {
        var id: Int
        @Relationship(inverse: "parts", deleteRule: .deny) var hill: Hill?
    }

    @Entity(parent: Ant.self)
    struct Sub {
        var id: Int
        var size: Int?
        @Relationship var subs: [Sub]
        @Relationship(inverse: "sub") var hills: [Hill]
    }

    /// The model of these types.
    static func syncModel() throws -> SyncModel {
        try SyncModel(
            Ant.self,
            Hill.self,
            Other.self,
            Part.self,
            Sub.self)
    }
}
