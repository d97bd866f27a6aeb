// Written by 'syncdb schema swift'.

import Foundation
import Sync

enum Archive {
    @Entity
    struct Author {
        var id: Int
        var name: String?
        @Relationship(inverse: "author") var papers: [Paper]
        @Relationship(inverse: "pupil", deleteRule: .deny) var mentor: Author?
        @Relationship(inverse: "mentor") var pupil: Author?
    }

    @Entity
    struct Paper {
        var id: Int
        var title: String?
        @Relationship(inverse: "papers") var shelf: Shelf?
        @Relationship(inverse: "papers", deleteRule: .deny) var author: Author?
        @Relationship(inverse: "papers", ordered: true) var topics: [Topic]
    }

    @Entity
    struct Shelf {
        var id: Int
        var room: String?
        @Relationship(inverse: "shelf", ordered: true) var papers: [Paper]
        @Relationship var keeper: Author?
    }

    @Entity
    struct Topic {
        var id: Int
        var name: String?
        @Relationship(inverse: "topics") var papers: [Paper]
    }

    /// The model of these types.
    static func syncModel() throws -> SyncModel {
        try SyncModel(
            Author.self,
            Paper.self,
            Shelf.self,
            Topic.self)
    }
}
