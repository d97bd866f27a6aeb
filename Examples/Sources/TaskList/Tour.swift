import Foundation
import Sync

func tour(_ json: Data, _ more: Data) async throws {
    let stack = try DataStack.inMemory(SyncModel(Project.self, Task.self))
    let result = try await Sync.changes(json, as: Project.self, stack: stack)
    print(result[Project.self].inserted)  // [Int]
    guard let garden = try await stack.fetch(Project.self, id: 1, including: \.tasks) else { return }
    print(garden.tasks.map(\.title))
    try await Sync.changes(more, as: Task.self, stack: stack, parent: SyncParent(garden, \.tasks))
    var tasks = try await stack.fetch(Task.self, where: "isDone == false", orderedBy: "dueAt")
    tasks[0].isDone = true
    try await Sync.changes(tasks, stack: stack, operations: [.update])  // values are payloads, too
    for try await open in try stack.observe(Task.self, where: "isDone == false") { print(open.count) }
}
