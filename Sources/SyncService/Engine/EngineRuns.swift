/// The runs of an engine, one after the other.
actor EngineRuns {
    typealias Phases = @Sendable (EngineRun) async throws -> Void

    /// What a run is for.
    enum Kind {
        case sync
        case pull
        case push
        /// One answer or one change, which is nobody else's.
        case single
    }

    private struct Current {
        let kind: Kind
        let entities: [String]
        let task: Task<SyncReport, any Error>
        var isAwaitedAgain = false
    }

    private var current: Current?

    var isAnyOnItsWay: Bool { current != nil }

    /// The report of a run; of one of the same kind that is on its way already, which is then done once more, because what
    /// came meanwhile may have come too late for it.
    func join(
        _ kind: Kind, _ entities: [String], _ run: @escaping @Sendable () async throws -> SyncReport
    ) async throws -> SyncReport {
        while let other = current {
            if kind != .single, other.kind == kind, other.entities == entities {
                current?.isAwaitedAgain = true
                // That somebody cancelled theirs is no reason not to do this one.
                do { return try await other.task.value } catch is CancellationError {
                    try Task.checkCancellation()
                    continue
                }
            }
            _ = await other.task.result
            try Task.checkCancellation()
        }
        let task = Task {
            defer { current = nil }
            var report = try await run()
            while current?.isAwaitedAgain == true {
                current?.isAwaitedAgain = false
                report = report.adding(try await run())
            }
            return report
        }
        current = Current(kind: kind, entities: entities, task: task)
        return try await withTaskCancellationHandler {
            try await task.value
        } onCancel: {
            task.cancel()
        }
    }
}
