import Foundation
import GRDB
import Sync
import TestSize
import Testing

/// Readers see the rows from before a sync, of any size, until it is committed.
@Suite("Readers during a sync")
struct ReaderTests {
    private let old = VersionedUsers(version: 1)
    private let new = VersionedUsers(version: 2)

    /// Runs a test with a store of the old version, and with readers.
    private func withReaders(_ body: (StoreReaders) async throws -> Void) async throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let stack = try DataStack(model: Fixtures.model("company"), at: folder.database)
        try await Sync.changes(old.payload, inEntity: "User", stack: stack)
        let readers = try StoreReaders(stack, at: folder.database)
        try await body(readers)
        try readers.close()
    }

    /// The versions that were read during a sync, by its phase.
    ///
    /// `@unchecked Sendable`: `reads` is only touched while `lock` is held.
    private final class Reads: @unchecked Sendable {
        private let lock = NSLock()
        private var reads: [SyncProgress.Phase: Set<VersionedUsers>] = [:]
        private var failures: [String] = []

        var seen: [SyncProgress.Phase: Set<VersionedUsers>] { lock.withLock { reads } }
        var failed: [String] { lock.withLock { failures } }

        func note(_ result: Result<Set<VersionedUsers>, any Error>, _ phase: SyncProgress.Phase) {
            lock.withLock {
                switch result {
                case .success(let seen): reads[phase, default: []].formUnion(seen)
                case .failure(let error): failures.append("\(phase): \(error)")
                }
            }
        }
    }

    /// Returns options with which a sync waits for reads whenever it reports progress.
    private func pausing(_ reads: Reads, _ readers: StoreReaders, then act: @escaping @Sendable () -> Void = {})
        -> SyncOptions
    {
        var options = SyncOptions()
        options.progress = { point in
            guard point.phase != .mapping else { return }
            reads.note(readers.readElsewhere(times: 3), point.phase)
            if point.phase == .writing { act() }
        }
        return options
    }

    @Test("Readers see the old rows while a sync compares and writes, and the new rows afterwards")
    func readersDuringATransaction() async throws {
        try await withReaders { readers in
            let reads = Reads()
            let options = pausing(reads, readers)
            try await Sync.changes(new.payload, inEntity: "User", stack: readers.stack, options: options)
            #expect(reads.failed == [])
            #expect(reads.seen == [.comparing: [old], .writing: [old]])
            let current = try readers.seenNow()
            #expect(current == [new])
        }
    }

    @Test("Readers see the old rows during a plan and after it")
    func readersDuringAPlan() async throws {
        try await withReaders { readers in
            let reads = Reads()
            let options = pausing(reads, readers)
            let plan = try await Sync.plan(new.payload, inEntity: "User", stack: readers.stack, options: options)
            #expect(plan["User"].insertedCount == 100)
            #expect(reads.failed == [])
            #expect(reads.seen == [.comparing: [old], .writing: [old]])
            let seen = try readers.seenNow()
            #expect(seen == [old])
        }
    }

    @Test("Readers see the old rows when a sync is cancelled during its writes, and the next sync succeeds")
    func readersDuringACancelledSync() async throws {
        try await withReaders { readers in
            let reads = Reads()
            let options = pausing(reads, readers) { withUnsafeCurrentTask { $0?.cancel() } }
            let task = Task {
                try await Sync.changes(new.payload, inEntity: "User", stack: readers.stack, options: options)
            }
            let result = await task.result
            #expect(throws: CancellationError.self) { try result.get() }
            #expect(reads.failed == [])
            #expect(reads.seen == [.comparing: [old], .writing: [old]])
            let seen = try readers.seenNow()
            #expect(seen == [old])
            try await Sync.changes(new.payload, inEntity: "User", stack: readers.stack)
            let current = try readers.seenNow()
            #expect(current == [new])
        }
    }

    @Test("A long read sees the rows from its beginning, and blocks no sync")
    func longReadBlocksNoSync() async throws {
        try await withReaders { readers in
            let hasBegun = AsyncStream<Void>.makeStream()
            let mayEnd = DispatchSemaphore(value: 0)
            let ends = AsyncStream<Result<[VersionedUsers], any Error>>.makeStream()
            Thread.detachNewThread {
                let seen = Result {
                    try readers.stack.read { db in
                        let before = try VersionedUsers(db)
                        hasBegun.continuation.yield()
                        mayEnd.wait()
                        return [before, try VersionedUsers(db)]
                    }
                }
                ends.continuation.yield(seen)
                ends.continuation.finish()
            }
            for await _ in hasBegun.stream { break }
            let result = await Task {
                try await Sync.changes(new.payload, inEntity: "User", stack: readers.stack)
            }.result
            mayEnd.signal()
            let changes = try result.get()
            #expect(changes["User"].updatedCount == 2_600)
            for await seen in ends.stream {
                let versions = try seen.get()
                #expect(versions == [old, old])
            }
            let current = try readers.seenNow()
            #expect(current == [new])
        }
    }

    @Test("Readers that never pause see whole versions only, in order")
    func readersSeeWholeVersions() async throws {
        try await withReaders { readers in
            let last = LongTests.areWanted ? 8 : 3
            try await withThrowingTaskGroup(of: [Int].self) { group in
                for isStack in [true, false] {
                    group.addTask {
                        var versions: [Int] = []
                        while versions.last != last {
                            let read = { @Sendable (db: Database) in try VersionedUsers(db).version }
                            versions.append(
                                try await isStack ? readers.stack.read(read) : readers.pool.read(read))
                        }
                        return versions
                    }
                }
                for version in 2...last {
                    try await Sync.changes(
                        VersionedUsers(version: version).payload, inEntity: "User", stack: readers.stack)
                }
                for try await versions in group {
                    #expect(versions == versions.sorted())
                }
            }
        }
    }
}
