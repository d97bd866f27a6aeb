// Written by 'syncdb schema swift'.

import Foundation
import Sync

enum Forgeflat {
    @Entity(primaryKey: ["repository", "number"])
    struct Issue {
        var number: Int
        var title: String?
        @Relationship(inverse: "issues") var repository: Repository?
    }

    @Entity(primaryKey: "name")
    struct Repository {
        var owner: String?
        var name: String
        var stars: Int?
        @Relationship(inverse: "repository", ordered: true) var issues: [Issue]
    }

    /// The model of these types.
    static func syncModel() throws -> SyncModel {
        try SyncModel(
            Issue.self,
            Repository.self)
    }
}
