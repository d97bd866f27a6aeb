import Foundation
import GRDB
import Sync

/// The readers of a store's file: the stack, and a connection pool of the app.
struct StoreReaders: Sendable {
    let stack: DataStack
    let pool: DatabasePool

    init(_ stack: DataStack, at url: URL) throws {
        self.stack = stack
        pool = try DatabasePool(path: url.path)
    }

    /// Returns the versions that the readers see now.
    func seenNow() throws -> Set<VersionedUsers> { Set(try read()) }

    /// Reads the version with each reader.
    func read() throws -> [VersionedUsers] {
        [try stack.read { db in try VersionedUsers(db) }, try pool.read { db in try VersionedUsers(db) }]
    }

    /// Reads repeatedly on separate threads, so that the caller may hold the writer meanwhile.
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

    /// `@unchecked Sendable`: `gathered` is only touched while `lock` is held.
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
