import Foundation
import Sync
import Synchronization

/// Measures parsing and mapping without the rest of a sync, which is cancelled when nearly all of the payload is
/// mapped.
enum Staging {
    /// Returns the seconds per byte.
    static func secondsPerByte(_ json: Data, inEntity entity: String, stack: DataStack) async throws -> Double {
        let clock = ContinuousClock()
        let start = clock.now
        let mapped = Mutex((units: 0, time: start))
        let options = options { units in mapped.withLock { $0 = (units, clock.now) } }
        let sync = Task { try await Sync.plan(json, inEntity: entity, stack: stack, options: options) }
        try await end(of: sync)
        return mapped.withLock { start.duration(to: $0.time).seconds / Double($0.units) }
    }

    /// Returns the seconds per record that `JSONSerialization` has parsed.
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

    /// Returns options that cancel the current task when nine tenths of the payload are mapped.
    private static func options(_ note: @escaping @Sendable (Int) -> Void) -> SyncOptions {
        var options = SyncOptions(payloadKind: .delta)
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
