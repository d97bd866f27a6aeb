import Foundation
import GRDB
import Sync

/// The open stores of the tenants.
actor StoreCache {
    private final class Entry {
        let stack: Task<DataStack, any Error>
        var leases = 0
        var lastUse = ContinuousClock.now

        init(_ stack: Task<DataStack, any Error>) { self.stack = stack }
    }

    /// The maximum number of open stores, which the file descriptors of the process limit.
    private let maximum: Int
    private let open: @Sendable (_ tenant: String) throws -> DataStack
    private var entries: [String: Entry] = [:]
    private var waiters: [CheckedContinuation<Void, Never>] = []
    /// The number of stores that are being closed.
    private var closing = 0
    private var isShutDown = false

    init(maximum: Int, open: @escaping @Sendable (_ tenant: String) throws -> DataStack) {
        (self.maximum, self.open) = (maximum, open)
    }

    /// Leases the store of a tenant. The cache closes no leased store. If the maximum is reached, closes the store
    /// that was not used for the longest time, or waits until a store has no lease.
    func withStore<Value: Sendable>(
        of tenant: String, _ body: @Sendable (DataStack) async throws -> Value
    ) async throws -> Value {
        while entries[tenant] == nil, entries.count + closing >= maximum {
            guard let oldest = entries.filter({ $0.value.leases == 0 }).min(by: { $0.value.lastUse < $1.value.lastUse })
            else {
                await wait()
                try Task.checkCancellation()
                continue
            }
            try await close(oldest.key, oldest.value)
        }
        if isShutDown { throw CancellationError() }
        let entry = entries[tenant] ?? Entry(Task { [open] in try await blocking { try open(tenant) } })
        entries[tenant] = entry
        entry.leases += 1
        defer { release(entry) }
        let stack: DataStack
        do { stack = try await entry.stack.value } catch {
            if entries[tenant] === entry { entries[tenant] = nil }
            throw error
        }
        do { return try await body(stack) } catch let error as SyncError where error.code == .modelMismatch {
            // Another process migrated the store. The next request opens it again.
            if entries[tenant] === entry { entries[tenant] = nil }
            throw error
        }
    }

    private func release(_ entry: Entry) {
        entry.leases -= 1
        entry.lastUse = .now
        resumeWaiters()
    }

    /// Waits until a store has no lease, or until the task is cancelled.
    private func wait() async {
        await withTaskCancellationHandler {
            if Task.isCancelled { return }
            await withCheckedContinuation { waiters.append($0) }
        } onCancel: {
            Task { await resumeWaiters() }
        }
    }

    private func resumeWaiters() {
        for waiter in waiters { waiter.resume() }
        waiters = []
    }

    private func close(_ tenant: String, _ entry: Entry) async throws {
        entries[tenant] = nil
        closing += 1
        defer {
            closing -= 1
            resumeWaiters()
        }
        let stack = try await entry.stack.value
        try await blocking { try closeStore(stack) }
    }

    /// Closes the stores without a lease that were not used for a time. If some cannot be closed, throws the first
    /// error after the others are closed.
    func close(unusedFor time: Duration) async throws {
        var failure: (any Error)?
        for (tenant, entry) in entries
        where entry.leases == 0 && entries[tenant] === entry && entry.lastUse.duration(to: .now) >= time {
            do { try await close(tenant, entry) } catch { failure = failure ?? error }
        }
        if let failure { throw failure }
    }

    /// Waits for all leases, and closes all stores.
    func shutDown() async throws {
        isShutDown = true
        while closing > 0 || entries.values.contains(where: { $0.leases > 0 }) {
            await withCheckedContinuation { waiters.append($0) }
        }
        try await close(unusedFor: .zero)
    }
}

// MARK: - Stores

/// Opens the store of a tenant in a pool with few connections.
func openStore(_ file: URL, _ model: SyncModel, migration: MigrationPolicy = .never) throws -> DataStack {
    var configuration = Configuration()
    configuration.maximumReaderCount = 2
    configuration.busyMode = .timeout(10)
    let pool = try DatabasePool(path: file.path, configuration: configuration)
    return try DataStack(model: model, in: pool, migration: migration)
}

/// Closes a store and its pool, so that only the `.sqlite` file remains. Throws if the disk is full: then the newest
/// rows stay in the `-wal` file.
func closeStore(_ stack: DataStack) throws {
    try stack.close()
    (stack.writer as? DatabasePool)?.invalidateReadOnlyConnections()
    let checkpoint = Result { try stack.writer.writeWithoutTransaction { db in _ = try db.checkpoint(.passive) } }
    try stack.writer.close()
    try checkpoint.get()
}

/// Waits for the running syncs, cancels them after a time, and closes all stores.
func shutDown(_ stores: StoreCache, _ syncs: Task<Void, any Error>, grace: Duration) async throws {
    let timer = Task {
        try await Task.sleep(for: grace)
        syncs.cancel()
    }
    _ = await syncs.result
    timer.cancel()
    try await stores.shutDown()
}

/// Limits the syncs that run at the same time.
func limitSyncs(of stack: DataStack) {
    Sync.maxConcurrentSyncs = max(1, ProcessInfo.processInfo.activeProcessorCount - 1)  // of this process
    stack.maxConcurrentSyncs = 2  // of one store
}

/// Runs work that waits, and does not block the threads of tasks.
func blocking<Value: Sendable>(_ work: @escaping @Sendable () throws -> Value) async throws -> Value {
    try await withCheckedThrowingContinuation { continuation in
        DispatchQueue.global().async { continuation.resume(with: Result(catching: work)) }
    }
}
