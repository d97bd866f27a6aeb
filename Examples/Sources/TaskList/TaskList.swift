import Foundation
import Sync

/// A terminal app: its model is its types, a screen follows the store, and each sync says what it changed.
@main
struct TaskList {
    static func main() async throws {
        let stack = try DataStack.inMemory(SyncModel(Project.self, Todo.self))

        // The screen: open tasks first. It shows what there is, and then every change, whoever makes it.
        let order: RowOrder = ["isDone", "title"]
        var screen = try stack.observe(Todo.self, orderedBy: order).makeAsyncIterator()
        var changes = try stack.observeChanges(Todo.self, orderedBy: order).makeAsyncIterator()
        show(try await screen.next() ?? [])
        _ = try await changes.next()

        print("Monday")
        print(try await Sync.changes(Payloads.monday, as: Project.self, stack: stack))
        show(try await screen.next() ?? [])
        _ = try await changes.next()

        print("An edit, with GRDB")
        try await stack.writer.write { db in
            guard var fence = try Todo.fetchOne(db, key: 12) else { return }
            fence.note = "ask the neighbour"
            fence.isDone = true
            try fence.update(db)
        }
        show(try await screen.next() ?? [])
        if let change = try await changes.next() { print("  moved:", change.moved.map { "\($0.old) → \($0.new)" }) }

        print("Tuesday")
        let result = try await Sync.changes(Payloads.tuesday, as: Project.self, stack: stack)
        print(result)
        print("  new projects:", result[Project.self].inserted, "  todos gone:", result[Todo.self].deleted)
        show(try await screen.next() ?? [])
        if let change = try await changes.next() {
            print("  removed: \(change.removed)  inserted: \(change.inserted)  updated: \(change.updated.map(\.new))")
        }

        print("Tuesday again")
        print(try await Sync.changes(Payloads.tuesday, as: Project.self, stack: stack))

        if let garden = try await stack.fetch(Project.self, id: 1, including: \.todos) {
            print("\(garden.name):", garden.todos.map(\.title).joined(separator: ", then "))
        }
    }

    private static func show(_ todos: [Todo]) {
        print("  " + todos.map { "\($0.isDone ? "✓" : "·") \($0.title)" }.joined(separator: ", "))
    }
}
