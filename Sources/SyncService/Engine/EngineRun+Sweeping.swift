import SyncCore
import SyncStore

// T7 and T8: what a complete listing lacks is asked for by itself before it goes.
extension EngineRun {
    private static let fetchSize = 50

    func sweep() async throws {
        tell(.phase(.sweeping))
        for entity in entities {
            if !wasListed(entity) {
                guard service.capabilities.deletions == .sweep, isDue(entity) else { continue }
                try await list(entity)
            }
            let missing = try await store.missing(from: entity, lease)
            var gone: [JSONValue] = []
            // What one answer of one moment lacks is not there.
            let asked = service.capabilities.pullsTogether ? [] : missing
            if asked.isEmpty { gone = missing }
            for ids in asked.parts(of: Self.fetchSize) {
                let rows = try await asking { [service] in try await service.fetch(ids, of: entity) }
                for (id, row) in zip(ids, rows) {
                    switch row {
                    case .absent: gone.append(id)
                    case .found(let row): try await apply([row], entity)
                    // That the user may not see it is no word about whether it is there.
                    case .forbidden: break
                    }
                }
            }
            try await store.finishListing(of: entity, missing: gone, lease)
            swept.withLock { $0.insert(entity) }
        }
    }

    /// Whether all of an entity was pulled, by this run or by one that was interrupted then. Where listings are made by themselves an
    /// interrupted one is made again.
    private func wasListed(_ entity: String) -> Bool {
        listed.value.contains(entity)
            || service.capabilities.deletions == .tombstones && start.cursors[entity]?.isListed == true
    }

    /// Deletes what the service deleted and what it lacks, when all else it says is written.
    ///
    /// - Throws: ``SyncError`` `deletionGuard`.
    func delete() async throws {
        if let refusal = try await deleteWithinGuard() { throw refusal }
    }

    /// The same, but that the run goes on where the guard refuses: what points to rows that stay for that is not sent.
    ///
    /// - Returns: The guard's error, for the end of the run.
    func deleteWithinGuard() async throws -> SyncError? {
        let (outcome, refusal) = try await store.applyDeletions(
            guardedBy: settings.deletionGuard, swept: entities.filter(swept.value.contains), lease)
        record(outcome)
        return refusal
    }

    private func isDue(_ entity: String) -> Bool {
        guard let last = start.cursors[entity]?.lastSweep else { return true }
        let now = settings.clock.now().milliseconds
        return now.clampedSubtracting(last) >= Int64(settings.sweepInterval.seconds * 1000) || now < last
    }

    /// Lists all ids; what is not stored here as it is there is taken from the listing, or fetched.
    private func list(_ entity: String) async throws {
        try await store.beginListing(of: entity, lease)
        var trail = PageLoopDetector("ids of \(entity)")
        var comparesVersions = true
        while true {
            let request = SweepRequest(entity: entity, page: trail.page)
            let answer = try await asking { [service] in try await service.ids(request) }
            let news = try await store.insertListed(
                answer.ids.map { ListedRecord(id: $0, version: comparesVersions ? answer.versions[$0] : nil) },
                of: entity, lease)
            let wanted = Set(news.unknown + news.outdated)
            let given = answer.rows.filter { wanted.contains($0.id) }
            try await apply(given, entity)
            let rest = wanted.subtracting(given.map(\.id))
            for ids in news.unknown.filter(rest.contains).parts(of: Self.fetchSize) {
                try await apply(try await found(ids, entity), entity)
            }
            for ids in news.outdated.filter(rest.contains).parts(of: Self.fetchSize) where comparesVersions {
                let rows = try await found(ids, entity)
                try await apply(rows, entity)
                // Where a listing says versions in other words, all rows would be fetched by each.
                comparesVersions = rows.isEmpty || rows.contains { isListed($0, answer) }
            }
            guard try trail.goes(on: answer.next, after: answer.ids) else { return }
        }
    }

    /// Whether a row that was fetched is in the version that a listing had.
    private func isListed(_ row: RemoteRecord, _ page: IDPage) -> Bool {
        guard let version = row.version, let listed = page.versions[row.id] else { return false }
        return RowVersion(version).isSame(as: RowVersion(listed))
    }

    private func found(_ ids: [JSONValue], _ entity: String) async throws -> [RemoteRecord] {
        try await asking { [service] in try await service.fetch(ids, of: entity) }.compactMap { row in
            guard case .found(let row) = row else { return nil }
            return row
        }
    }

    func apply(_ rows: [RemoteRecord], _ entity: String) async throws {
        guard !rows.isEmpty else { return }
        let page = PulledPage(
            entity: entity, rows: rows.map(PulledPage.Record.init), end: .none, isListing: false, serverTime: nil)
        record(try await store.apply(page, lease))
    }
}

extension Array {
    /// In parts of so many elements at most.
    func parts(of size: Int) -> [[Element]] {
        stride(from: 0, to: count, by: Swift.max(1, size)).map {
            Array(self[$0..<Swift.min($0 + Swift.max(1, size), count)])
        }
    }
}
