import Foundation
import Sync

/// Prints the todos, and prints them again after each change.
func show(_ stack: DataStack) async throws {
    for try await todos in stack.observe("Todo") {
        print(todos.map(line).joined(separator: "\n"), terminator: "\n\n")
    }
}

/// Syncs at once, after local changes, and after each interval.
func keepInSync(_ engine: SyncEngine, every interval: Duration) async throws {
    try await withThrowingTaskGroup(of: Void.self) { group in
        group.addTask {
            for try await count in engine.observePendingChangeCount() where count > 0 {
                try await syncOnce(engine)
            }
        }
        group.addTask {
            while true {
                try await syncOnce(engine)
                try await Task.sleep(for: interval)
            }
        }
        _ = try await group.next()
        group.cancelAll()
    }
}

/// Syncs, and prints a transient error, such as that of a service that is not reachable.
func syncOnce(_ engine: SyncEngine) async throws {
    do {
        try await engine.sync()
    } catch let error as SyncError where error.isTransient {
        print(error)
    }
}

/// Shows the todos, keeps them in step with the service, and runs the commands that the user types.
func follow(_ stack: DataStack, _ engine: SyncEngine) async throws {
    try await withThrowingTaskGroup(of: Void.self) { group in
        group.addTask { try await show(stack) }
        group.addTask { try await keepInSync(engine, every: .seconds(2)) }
        group.addTask {
            for await command in typedLines() {
                try await edit(command.split(separator: " ").map(String.init), in: stack)
            }
        }
        _ = try await group.next()
        group.cancelAll()
    }
}

/// Returns the lines of standard input. A thread reads them, because `readLine` blocks its thread.
func typedLines() -> AsyncStream<String> {
    AsyncStream { lines in
        Thread.detachNewThread {
            while let line = readLine() { lines.yield(line) }
            lines.finish()
        }
    }
}
