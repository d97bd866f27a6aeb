import Foundation
package import SyncCore
package import SyncStore

// One transaction writes a page, its tombstones, its merges and the next cursor.
extension EngineRun {
    func pull() async throws {
        send(.phase(.pulling))
        if service.capabilities.hasSharedCursor { return try await pullTogether() }
        for entity in entities {
            do {
                try await pull(entity, from: start.cursors[entity])
            } catch ServiceError.cursorInvalid {
                try await pull(entity, from: nil)
            }
            pulled.withLock { $0.insert(entity) }
        }
    }

    private func pull(_ entity: String, from known: PullState?) async throws {
        let cursor = known?.cursor
        var trail = PageLoopDetector(entity, from: known?.next)
        // The page at which an earlier run was interrupted, until this run has read it.
        var rest = known?.next
        var (count, versions) = (0, 0)
        while true {
            let (page, request) = (trail.page, PullRequest(entity: entity, cursor: cursor, page: trail.page))
            let response: PullPage
            do {
                response = try await asking { [service] in try await service.pull(request) }
            } catch let failure as ServiceError where rest != nil && failure.isOfPage {
                // The service no longer accepts the token of the page: begin with the first page.
                (trail, rest) = (PageLoopDetector(entity), nil)
                continue
            }
            rest = nil
            let goesOn = try await hasNextPage(after: response, &trail, entity)
            try checkTimes(response.records, of: entity)
            if response.isFullListing, page == nil { try await store.beginListing(of: entity, lease) }
            var outcome = try await store.apply(
                PulledPage(response, of: entity, acceptsOlderVersions: cursor == nil), lease)
            // The run tries quarantined records again before it ends, and counts them then.
            outcome[entity].blockedChanges = 0
            record(outcome)
            recordSkipped(response, of: entity, after: count)
            count += response.records.count + response.invalidRecords.count
            versions += response.records.count { $0.version != nil }
            if count > 0 || response.nextPage != nil { send(.pulled(entity: entity, rows: count, of: response.total)) }
            guard goesOn else {
                if response.isFullListing { listed.withLock { $0.insert(entity) } }
                if cursor == nil, versions == 0 { recordUnversioned(count, of: entity) }
                return
            }
        }
    }

    /// Returns whether there is another page. If the pages form a loop or are too many, throws an error, and the next
    /// run begins with the first page.
    private func hasNextPage(after response: PullPage, _ trail: inout PageLoopDetector, _ entity: String) async throws
        -> Bool
    {
        do {
            return try trail.hasNext(response.nextPage, after: response.records.map(\.id))
        } catch {
            try await store.clearNextPage(of: entity, lease)
            throw error
        }
    }

    /// Checks that each record has a modification time, if the conflict policy of the entity is `lastWriterWins`.
    func checkTimes(_ rows: [RemoteRecord], of entity: String) throws {
        guard registration.entities.contains(where: { $0.name == entity && $0.policy == .lastWriterWins }),
            let row = rows.first(where: { $0.record != nil && $0.time == nil })
        else { return }
        throw SyncError(
            .invalidOption,
            "lastWriterWins requires the modification time of every record, and the service's \(entity) "
                + "\(row.id.description) has none: "
                + (row.version.map { "its version '\($0)' is not a time" } ?? "it has no version"), entity: entity)
    }

    /// Reports the records of a page that have no ID.
    ///
    /// - Parameter count: The number of records in the earlier pages of this pull.
    private func recordSkipped(_ page: PullPage, of entity: String, after count: Int) {
        guard let first = page.invalidRecords.first else { return }
        recordChanges(of: entity) { changes in
            changes.invalidRecords += page.invalidRecords.count
            changes.firstInvalidRecord = changes.firstInvalidRecord ?? count + first
        }
    }

    /// Reports a pull of all records in which no record has a version, although the service should have versions. The
    /// member for the version may be misspelt in the options of the service.
    private func recordUnversioned(_ count: Int, of entity: String) {
        guard count > 0, service.capabilities.hasOrderedVersions else { return }
        recordChanges(of: entity) { $0.unversionedRecords = count }
    }

    func record(_ outcome: SyncReport) {
        report.withLock { $0.add(outcome) }
    }

    /// Returns whether the service has changes that the store does not have.
    static func isAnythingNew(
        _ store: any EngineStore, _ service: any SyncService, _ registration: EngineRegistration
    ) async throws -> Bool {
        let cursors = try await store.cursors()
        let entities = registration.entities.map(\.name)
        do {
            if service.capabilities.hasSharedCursor {
                let cursor = oldest(entities.map { cursors[$0]?.cursor })
                for (entity, page) in try await service.pull(entities, since: cursor) {
                    let pulled = PulledPage(page, of: entity, acceptsOlderVersions: cursor == nil)
                    if try await store.hasChanges(pulled) { return true }
                }
                return false
            }
            for entity in entities {
                let cursor = cursors[entity]?.cursor
                var trail = PageLoopDetector(entity)
                // The first page may have only known records, and a later page may have changes.
                while true {
                    let page = try await service.pull(PullRequest(entity: entity, cursor: cursor, page: trail.page))
                    let pulled = PulledPage(page, of: entity, acceptsOlderVersions: cursor == nil)
                    if try await store.hasChanges(pulled) { return true }
                    guard try trail.hasNext(page.nextPage, after: page.records.map(\.id)) else { break }
                }
            }
            return false
        } catch ServiceError.cursorInvalid {
            return true
        } catch let failure as ServiceError {
            throw service.hidingSecrets(of: failure.error)
        }
    }
}

// MARK: - Pulling with one cursor for all entities

// One transaction writes the pages and cursors of all entities. Therefore rows that changed together at the service are
// also stored together.
extension EngineRun {
    func pullTogether() async throws {
        let cursors = try await store.cursors()
        let since = Self.oldest(entities.map { cursors[$0]?.cursor })
        var isWhole = since == nil
        let pages: [String: PullPage]
        do {
            pages = try await self.pages(since: since)
        } catch ServiceError.cursorInvalid {
            isWhole = true
            pages = try await self.pages(since: nil)
        }
        if let page = pages.values.first(where: { $0.nextPage != nil }) {
            throw ServiceError.invalidResponse(
                "a pull of all entities must return one page, but it names the next page '\(page.nextPage ?? "")'")
        }
        for entity in entities where pages[entity]?.isFullListing == true {
            try await store.beginListing(of: entity, lease)
            listed.withLock { $0.insert(entity) }
        }
        var outcome = try await store.apply(
            entities.compactMap { entity in
                pages[entity].map { PulledPage($0, of: entity, acceptsOlderVersions: isWhole) }
            },
            lease)
        for entity in entities {
            // The run tries quarantined records again before it ends, and counts them then.
            outcome[entity].blockedChanges = 0
            pulled.withLock { $0.insert(entity) }
            if let page = pages[entity], !page.records.isEmpty {
                send(.pulled(entity: entity, rows: page.records.count, of: page.total))
            }
        }
        record(outcome)
        cursor.withLock { $0 = pages.values.first?.cursor }
    }

    private func pages(since cursor: String?) async throws -> [String: PullPage] {
        try await asking { [service, entities] in try await service.pull(entities, since: cursor) }
    }

    /// Returns the oldest cursor. Returns nil to pull everything, if an entity has no cursor, or if the cursors differ
    /// and are not all numbers.
    static func oldest(_ cursors: [String?]) -> String? {
        guard let first = cursors.first, !cursors.contains(nil) else { return nil }
        let known = cursors.compactMap(\.self)
        if Set(known).count == 1 { return first }
        let numbers = known.compactMap { text in Double(text).map { (text, $0) } }
        return numbers.count == known.count ? numbers.min { $0.1 < $1.1 }?.0 : nil
    }
}

// MARK: - Imports of pages

extension SyncService {
    /// Imports all records of an entity into a store, which needs no outbox. See `Sync.importPages`.
    package func importPages(
        of entity: SyncedEntity, into host: any StoreHost, _ configuration: SyncEngine.Configuration,
        _ progress: (@Sendable (_ rows: Int, _ of: Int?) -> Void)?
    ) async throws -> SyncReport {
        let registration = try EngineRegistration([entity], self, configuration)
        let store = try host.pullStore(registration)
        let service = try configured(for: ServiceEntity.all([entity.name], of: host.model))
        let run = try await EngineRun(
            store, service, registration, configuration, [entity.name], holder: UUID().uuidString
        ) { event in
            if case .pulled(_, let rows, let total) = event { progress?(rows, total) }
        }
        do {
            // An engine of the same store may have in-doubt creates, whose rows the pull would insert as other rows.
            if let store = store as? any EngineStore {
                try await OutboxRun(run, store).recover(isBeforePull: true)
            }
            try await run.pull()
            try await run.reconcile()
            try await run.delete()
            return try await run.finish()
        } catch {
            throw await run.fail(error)
        }
    }
}

// MARK: - Reconciliation

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
