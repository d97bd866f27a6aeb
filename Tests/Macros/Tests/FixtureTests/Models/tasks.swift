// Written by 'syncdb schema swift'.

import Foundation
import Sync

enum Tasks {
    @Entity
    struct Project {
        var id: Int
        @Relationship(inverse: "project", ordered: true) var tasks: [Task]
    }

    @Entity
    struct Task {
        var id: Int
        var name: String?
        @Relationship(inverse: "tasks") var project: Project?
        @Relationship var after: Task?
        @Relationship(inverse: "steps") var whole: Task?
        @Relationship(inverse: "whole", deleteRule: .cascade) var steps: [Task]
        @Relationship var related: [Task]
    }

    /// The model of these types.
    static func syncModel() throws -> SyncModel {
        try SyncModel(
            Project.self,
            Task.self)
    }
}
