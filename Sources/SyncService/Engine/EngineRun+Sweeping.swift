import SyncCore
import SyncStore

// T7 and T8: what a complete listing lacks is asked for by itself before it goes.
extension EngineRun {
    private static let fetchSize = 50

    func sweep() async throws {
        tell(.phase(.sweeping))
        for entity in entities {
            if !listed.contains(entity) {
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
            try await store.endSweep(of: entity, missing: gone, lease)
            swept.insert(entity)
        }
    }

    /// Deletes what the service deleted and what it lacks, when all else it says is written.
    func delete() async throws {
        let outcome = try await store.applyDeletions(
            guardedBy: settings.deletionGuard, swept: entities.filter(swept.contains), lease)
        note(outcome)
    }

    /// The same, but that the run goes on where the guard refuses: what points to rows that stay for that is not sent.
    ///
    /// - Returns: The guard's error, for the end of the run.
    func deleteWithinGuard() async throws -> SyncError? {
        do {
            try await delete()
            return nil
        } catch let error as SyncError where error.code == .deletionGuard {
            return error
        }
    }

    private func isDue(_ entity: String) -> Bool {
        guard let last = start.cursors[entity]?.lastSweep else { return true }
        let now = settings.clock.now().milliseconds
        return now - last >= Int64(settings.sweepInterval.seconds * 1000) || now < last
    }

    /// Lists all ids; what is not stored here is fetched.
    private func list(_ entity: String) async throws {
        try await store.beginSweep(of: entity, lease)
        var trail = PageTrail("ids of \(entity)")
        while true {
            let request = SweepRequest(entity: entity, page: trail.page)
            let answer = try await asking { [service] in try await service.ids(request) }
            let unknown = try await store.note(answer.ids, of: entity, lease)
            for ids in unknown.parts(of: Self.fetchSize) {
                let rows = try await asking { [service] in try await service.fetch(ids, of: entity) }
                try await apply(
                    rows.compactMap { row in
                        guard case .found(let row) = row else { return nil }
                        return row
                    }, entity)
            }
            guard try trail.goes(on: answer.next) else { return }
        }
    }

    func apply(_ rows: [RemoteRow], _ entity: String) async throws {
        guard !rows.isEmpty else { return }
        let page = PulledPage(
            entity: entity, rows: rows.map(PulledPage.Row.init), end: .none, isListing: false, serverTime: nil)
        note(try await store.apply(page, lease))
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
