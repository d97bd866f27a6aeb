import Foundation
import GRDB

/// Renews a held lease on a separate thread, so that it does not expire on a slow machine.
final class LeaseKeeper: Sendable {
    private let isStopped = Flag()

    init(_ database: URL) throws {
        var configuration = Configuration()
        configuration.busyMode = .timeout(60)
        let queue = try DatabaseQueue(path: database.path, configuration: configuration)
        try Self.renew(queue)
        let isStopped = isStopped
        Thread.detachNewThread {
            while isStopped.ifLowered({ try? Self.renew(queue) }) { Thread.sleep(forTimeInterval: 0.5) }
        }
    }

    /// Stops the renewal. The lease is not renewed after this returns.
    func stop() { isStopped.raise() }

    private static func renew(_ queue: DatabaseQueue) throws {
        let until = Int64(Date().timeIntervalSince1970 * 1000) + 110_000
        try queue.write { db in
            try db.execute(sql: "UPDATE sync_lease SET until = ? WHERE holder <> ''", arguments: [until])
        }
    }

    private final class Flag: @unchecked Sendable {
        private let lock = NSLock()
        private var isRaised = false

        func raise() { lock.withLock { isRaised = true } }

        /// - Returns: Whether the flag was lowered, and the body ran.
        func ifLowered(_ body: () -> Void) -> Bool {
            lock.withLock {
                if !isRaised { body() }
                return !isRaised
            }
        }
    }
}
