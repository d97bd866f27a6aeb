// Written by 'syncdb schema swift'.

import Foundation
import Sync

enum Forge {
    @Entity(primaryKey: ["issue", "writtenAt"])
    struct Comment {
        var writtenAt: Date
        var text: String?
        @Relationship(inverse: "comments") var issue: Issue?
    }

    @Entity(primaryKey: ["repository", "number"])
    struct Issue {
        var number: Int
        var title: String?
        @Relationship(inverse: "issues") var repository: Repository?
        @Relationship(inverse: "issues") var labels: [Label]
        @Relationship var duplicateOf: Issue?
        @Relationship(inverse: "issue", deleteRule: .cascade) var comments: [Comment]
    }

    @Entity
    struct Label {
        var id: Int
        var name: String?
        @Relationship(inverse: "labels") var issues: [Issue]
    }

    @Entity(primaryKey: ["major", "minor"])
    struct Release {
        var major: Int
        @RemoteKey("version.minor") var minor: Int
        var notes: String?
        @Relationship var main: Issue?
    }

    @Entity(primaryKey: ["owner", "name"])
    struct Repository {
        var owner: String
        var name: String
        var stars: Int?
        @Relationship(inverse: "repository", ordered: true) var issues: [Issue]
        @Relationship(inverse: "forks") var forkedFrom: Repository?
        @Relationship(inverse: "forkedFrom") var forks: [Repository]
    }

    @Entity(primaryKey: "repository")
    struct Settings {
        var theme: String?
        @Relationship var repository: Repository?
    }

    /// The model of these types.
    static func syncModel() throws -> SyncModel {
        try SyncModel(
            Comment.self,
            Issue.self,
            Label.self,
            Release.self,
            Repository.self,
            Settings.self)
    }
}
