import Foundation
import Sync

enum Priority: String, Sendable { case low, normal, high }

@Entity struct Project {
    var id: Int
    var name: String
    @Relationship(inverse: \Todo.project, deleteRule: .cascade, ordered: true) var todos: [Todo]
}

@Entity struct Todo {
    var id: Int
    var title: String
    var priority: Priority = Priority.normal
    var isDone = false
    @RemoteKey("schedule.due") var dueAt: Date?
    /// Only of this device: no service is sent it.
    @NotExported var note: String?
    @Relationship var project: Project?
}
