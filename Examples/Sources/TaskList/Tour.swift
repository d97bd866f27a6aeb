import Foundation
import Sync

func tour(_ json: Data, _ more: Data) async throws {
    let stack = try DataStack.inMemory(SyncModel(Project.self, Todo.self))
    let result = try await Sync.changes(json, as: Project.self, stack: stack)
    print(result[Project.self].inserted)  // [Int]
    guard let garden = try await stack.fetch(Project.self, id: 1, including: \.todos) else { return }
    print(garden.todos.map(\.title))
    try await Sync.changes(more, as: Todo.self, stack: stack, parent: SyncParent(garden, \.todos))
    var todos = try await stack.fetch(Todo.self, where: #Predicate { !$0.isDone }, orderedBy: \.dueAt)
    todos[0].isDone = true
    try await stack.save(todos)
    for try await open in try stack.observe(Todo.self, where: #Predicate { !$0.isDone }) { print(open.count) }
}
