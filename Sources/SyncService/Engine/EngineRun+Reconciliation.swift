import SyncCore
import SyncStore

// If a full listing lacks a row, the engine fetches the row by ID before it deletes the row.
extension EngineRun {
    private static let fetchSize = 50

    func reconcile() async throws {
        send(.phase(.reconciling))
        for entity in entities {
            if !wasListed(entity) {
                guard service.capabilities.deletionDetection == .listing, isDue(entity) else { continue }
                try await list(entity)
            }
            let missing = try await store.missing(from: entity, lease)
            var gone: [JSONValue] = []
            // A pull of all entities is consistent, so the rows that it lacks need no confirmation.
            let asked = service.capabilities.hasSharedCursor ? [] : missing
            if asked.isEmpty { gone = missing }
            var isConfirmed = true
            for ids in asked.parts(of: Self.fetchSize) {
                let rows = try await asking { [service] in try await service.fetch(ids, of: entity) }
                for (id, row) in zip(ids, rows) {
                    switch try checked(row, id, entity) {
                    case .notFound?: gone.append(id)
                    case .found(let row)?: try await apply([row], entity)
                    // The row may exist, because the service hides it from the user.
                    case .forbidden?: break
                    // The response has another row, so the next run asks again.
                    case nil: isConfirmed = false
                    }
                }
            }
            try await store.finishListing(of: entity, missing: gone, lease)
            if isConfirmed { reconciledEntities.withLock { $0.insert(entity) } }
        }
    }

    /// Returns whether a pull has listed all rows of an entity: in this run, or in an earlier run that was interrupted
    /// after the pull. If the service needs separate listings, an interrupted listing is repeated instead.
    private func wasListed(_ entity: String) -> Bool {
        listed.value.contains(entity)
            || service.capabilities.deletionDetection == .tombstones
                && start.cursors[entity]?.hasUnprocessedListing == true
    }

    /// Deletes the rows that the service deleted or lacks.
    ///
    /// - Throws: ``SyncError`` `deletionLimitExceeded` if the deletions exceed the deletion limit.
    func delete() async throws {
        if let refusal = try await deleteWithinLimit() { throw refusal }
    }

    /// Deletes the rows that the service deleted, and the rows that it lacks. If deleting the missing rows would exceed
    /// the deletion limit, they stay, and the engine sends no references to them.
    ///
    /// - Returns: The error of the deletion limit, to throw at the end of the run; nil if the limit was not exceeded.
    func deleteWithinLimit() async throws -> SyncError? {
        let (outcome, refusal) = try await store.applyDeletions(
            limit: configuration.deletionLimit, listed: entities.filter(reconciledEntities.value.contains), lease)
        record(outcome)
        return refusal
    }

    private func isDue(_ entity: String) -> Bool {
        guard let last = start.cursors[entity]?.lastListing else { return true }
        let now = configuration.clock.now().clampedMilliseconds
        return now.clampedSubtracting(last) >= Int64(configuration.reconciliationInterval.seconds * 1000) || now < last
    }

    /// Lists all IDs of an entity. If a row is not stored in the listed version, the engine takes the record from the
    /// listing, or fetches it.
    private func list(_ entity: String) async throws {
        try await store.beginListing(of: entity, lease)
        var trail = PageLoopDetector("IDs of \(entity)")
        var comparesVersions = true
        while true {
            let response = try await asking { [service, page = trail.page] in
                try await service.list(of: entity, page: page)
            }
            let news = try await store.insertListed(
                response.ids.map { ListedRecord(id: $0, version: comparesVersions ? response.versions[$0] : nil) },
                of: entity, lease)
            let wanted = Set(news.unknown + news.outdated)
            let given = response.records.filter { wanted.contains($0.id) }
            try await apply(given, entity)
            let rest = wanted.subtracting(given.map(\.id))
            for ids in news.unknown.filter(rest.contains).parts(of: Self.fetchSize) {
                try await apply(try await found(ids, entity), entity)
            }
            for ids in news.outdated.filter(rest.contains).parts(of: Self.fetchSize) where comparesVersions {
                let rows = try await found(ids, entity)
                try await apply(rows, entity)
                // If no fetched record has its listed version, listings and records have different version formats.
                // Comparing the versions would then fetch all rows in each reconciliation.
                comparesVersions = rows.isEmpty || rows.contains { isListed($0, response) }
            }
            guard try trail.hasNext(response.nextPage, after: response.ids) else { return }
        }
    }

    /// Returns whether a fetched record has the version that the listing reported.
    private func isListed(_ row: RemoteRecord, _ page: ListPage) -> Bool {
        guard let version = row.version, let listed = page.versions[row.id] else { return false }
        return RowVersion(version).isSame(as: RowVersion(listed))
    }

    /// Fetches rows. Leaves out responses with another row, and rows that the service does not return.
    private func found(_ ids: [JSONValue], _ entity: String) async throws -> [RemoteRecord] {
        let rows = try await asking { [service] in try await service.fetch(ids, of: entity) }
        return try zip(ids, rows).compactMap { id, row in
            guard case .found(let row)? = try checked(row, id, entity) else { return nil }
            return row
        }
    }

    /// Applies records outside a pull.
    func apply(_ rows: [RemoteRecord], _ entity: String, keepsVersions: Bool = false) async throws {
        guard !rows.isEmpty else { return }
        record(try await store.apply(PulledPage(rows, of: entity, keepsVersions: keepsVersions), lease))
    }
}

extension Array {
    /// Returns the elements in groups of at most `size`.
    func parts(of size: Int) -> [[Element]] {
        let size = Swift.max(1, Swift.min(size, count))
        return stride(from: 0, to: count, by: size).map { Array(self[$0..<Swift.min($0 + size, count)]) }
    }
}
