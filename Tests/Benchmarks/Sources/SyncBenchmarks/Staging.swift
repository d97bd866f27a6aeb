import Foundation
import Sync
import Synchronization

/// Reading and mapping alone: how long a sync takes until nearly all of its payload is mapped. The rest is cancelled.
enum Staging {
    /// Seconds for each byte.
    static func secondsPerByte(_ json: Data, inEntity entity: String, stack: DataStack) async throws -> Double {
        let clock = ContinuousClock()
        let start = clock.now
        let mapped = Mutex((units: 0, time: start))
        let options = options { units in mapped.withLock { $0 = (units, clock.now) } }
        let sync = Task { try await Sync.plan(json, inEntity: entity, stack: stack, options: options) }
        try await end(of: sync)
        return mapped.withLock { start.duration(to: $0.time).seconds / Double($0.units) }
    }

    /// Seconds for each record that `JSONSerialization` reads in this JSON.
    static func secondsPerNativeRecord(
        _ json: Data, inEntity entity: String, stack: DataStack
    ) async throws -> Double {
        let clock = ContinuousClock()
        let mapped = Mutex((units: 0, start: clock.now, time: clock.now))
        let options = options { units in
            mapped.withLock {
                $0.units = units
                $0.time = clock.now
            }
        }
        let sync = Task {
            let records = try NativeRecords.read(json)
            mapped.withLock { $0.start = clock.now }
            return try await Sync.plan(records, inEntity: entity, stack: stack, options: options)
        }
        try await end(of: sync)
        return mapped.withLock { $0.start.duration(to: $0.time).seconds / Double($0.units) }
    }

    /// Cancels the task it is called in when nine tenths are mapped.
    private static func options(_ note: @escaping @Sendable (Int) -> Void) -> SyncOptions {
        var options = SyncOptions(payload: .delta)
        options.progress = { progress in
            guard progress.phase == .mapping else { return }
            note(progress.completed)
            if let total = progress.total, progress.completed * 10 >= total * 9 {
                withUnsafeCurrentTask { $0?.cancel() }
            }
        }
        return options
    }

    private static func end(of sync: Task<SyncResult, any Error>) async throws {
        do { _ = try await sync.value } catch is CancellationError {}
    }
}

enum NativeRecords {
    struct NotRecords: Error {}

    static func read(_ json: Data) throws -> [[String: Any]] {
        guard let records = try JSONSerialization.jsonObject(with: json) as? [[String: Any]] else {
            throw NotRecords()
        }
        return records
    }
}
