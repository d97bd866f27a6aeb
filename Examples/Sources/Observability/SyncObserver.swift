public import Logging
public import Metrics
public import Sync

/// Logs and counts the syncs of a store and the runs of an engine, with swift-log and swift-metrics.
///
/// ```swift
/// let observer = SyncObserver(logger: Logger(label: "sync"))
/// observer.observe(stack)
/// observer.observe(engine)
/// ```
/// Each method returns a task, which ends when the stack is closed, when the engine is released, or when the task is
/// cancelled. The methods see everything that happens after the call.
public struct SyncObserver: Sendable {
    private let logger: Logger
    private let metrics: any MetricsFactory

    /// Creates an observer.
    public init(logger: Logger, metrics: any MetricsFactory = MetricsSystem.factory) {
        self.logger = logger
        self.metrics = metrics
    }

    /// Logs each sync of a store that changes rows, and counts the rows.
    @discardableResult
    public func observe(_ stack: DataStack) -> Task<Void, Never> {
        let results = stack.syncResults
        return Task { for await result in results { record(result) } }
    }

    /// Logs the runs of an engine and their errors, and counts the pulled and pushed rows.
    @discardableResult
    public func observe(_ engine: SyncEngine) -> Task<Void, Never> {
        let events = engine.events
        return Task { for await event in events { record(event) } }
    }

    private func record(_ result: SyncResult) {
        for (entity, changes) in result.entities where !changes.isEmpty {
            count("sync_rows_inserted", changes.insertedCount, of: entity)
            count("sync_rows_updated", changes.updatedCount, of: entity)
            count("sync_rows_deleted", changes.deletedCount, of: entity)
            logger.info("synced", metadata: ["entity": "\(entity)", "changes": "\(changes)"])
        }
        for diagnostic in result.diagnostics {
            logger.warning("\(diagnostic.message)", metadata: ["path": "\(diagnostic.path)"])
        }
    }

    private func record(_ event: SyncEvent) {
        switch event {
        case .phase(let phase): logger.debug("engine phase", metadata: ["phase": "\(phase)"])
        case .pulled(let entity, let rows, let total):
            logger.debug("pulled", metadata: ["entity": "\(entity)", "rows": "\(rows)", "of": "\(total ?? rows)"])
        case .pushed(let rows, let total): logger.debug("pushed", metadata: ["rows": "\(rows)", "of": "\(total)"])
        case .waiting(let duration, let reason):
            logger.notice("waiting for the service", metadata: ["duration": "\(duration)", "reason": "\(reason)"])
        case .finished(let report):
            for (entity, changes) in report.entities where !changes.isEmpty {
                let pulled = changes.pulledInserts + changes.pulledUpdates + changes.pulledDeletes
                let pushed = changes.pushedInserts + changes.pushedUpdates + changes.pushedDeletes
                count("sync_rows_pulled", pulled, of: entity)
                count("sync_rows_pushed", pushed, of: entity)
                count("sync_conflicts", changes.conflicts, of: entity)
                logger.info("run finished", metadata: ["entity": "\(entity)", "changes": "\(changes)"])
            }
        case .failed(let error):
            let isTransient = (error as? SyncError)?.isTransient ?? false
            metrics.makeCounter(label: "sync_failures", dimensions: [("transient", "\(isTransient)")]).increment(by: 1)
            logger.log(level: isTransient ? .warning : .error, "run failed", metadata: ["error": "\(error)"])
        }
    }

    private func count(_ label: String, _ number: Int, of entity: String) {
        guard number > 0 else { return }
        metrics.makeCounter(label: label, dimensions: [("entity", entity)]).increment(by: Int64(number))
    }
}
