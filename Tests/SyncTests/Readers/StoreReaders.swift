import Foundation
import GRDB
import Sync

/// Those who read a store's file: the stack itself, and an app's own pool of connections.
struct StoreReaders: Sendable {
    let stack: DataStack
    let pool: DatabasePool

    init(_ stack: DataStack, at url: URL) throws {
        self.stack = stack
        pool = try DatabasePool(path: url.path)
    }

    /// What they see now.
    func seenNow() throws -> Set<VersionedUsers> { Set(try read()) }

    /// What each of them sees.
    func read() throws -> [VersionedUsers] {
        [try stack.read { db in try VersionedUsers(db) }, try pool.read { db in try VersionedUsers(db) }]
    }

    /// What each of them sees, again and again, read in threads of its own: the caller may hold the writer meanwhile.
    func readElsewhere(times: Int) -> Result<Set<VersionedUsers>, any Error> {
        let seen = Seen()
        for _ in 0..<times {
            let done = DispatchSemaphore(value: 0)
            Thread.detachNewThread {
                seen.note(Result { try read() })
                done.signal()
            }
            done.wait()
        }
        return seen.result
    }

    func close() throws {
        try pool.close()
        try stack.close()
    }

    /// `@unchecked Sendable`: `result` is only touched while `lock` is held.
    private final class Seen: @unchecked Sendable {
        private let lock = NSLock()
        private var gathered: Result<Set<VersionedUsers>, any Error> = .success([])
        var result: Result<Set<VersionedUsers>, any Error> { lock.withLock { gathered } }

        func note(_ read: Result<[VersionedUsers], any Error>) {
            lock.withLock {
                gathered = gathered.flatMap { known in read.map { known.union($0) } }
            }
        }
    }
}
