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
