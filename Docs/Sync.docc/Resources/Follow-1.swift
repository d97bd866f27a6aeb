import Sync

/// Prints the todos, and prints them again after each change.
func show(_ stack: DataStack) async throws {
    for try await todos in stack.observe("Todo") {
        print(todos.map(line).joined(separator: "\n"), terminator: "\n\n")
    }
}
