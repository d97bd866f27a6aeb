import Foundation
package import SyncCore
package import SyncStore

/// The records of a service, and where their import continues.
package actor MemoryPullStore: PullStore {
    private struct Entity {
        var records: [JSONValue: RemoteRecord] = [:]
        var cursor: String?
        var nextPage: String?
        /// The IDs in a listing whose missing rows are not deleted yet; nil if there is none.
        var listing: Set<JSONValue>?
        var lastListing: Int64?
        /// The rows that the service reported as deleted.
        var reported: Set<JSONValue> = []
        /// The rows that a listing lacks.
        var missing: Set<JSONValue> = []

        /// Deletes rows, and returns their number.
        mutating func delete(_ ids: Set<JSONValue>) -> Int { ids.count { records.removeValue(forKey: $0) != nil } }
    }

    private var entities: [String: Entity] = [:]
    private var lease = EngineLease(token: 0)
    private var isHeld = false
    private var delay: (notBefore: Int64?, attempts: Int) = (nil, 0)

    package init() {}

    package func records(of entity: String) -> [JSONValue: JSONValue] {
        (entities[entity]?.records ?? [:]).compactMapValues(\.record)
    }

    package func deleteCursors() {
        for entity in entities.keys { entities[entity]?.cursor = nil }
    }

    private func check(_ lease: EngineLease) throws {
        guard isHeld, lease.token == self.lease.token else { throw SyncError(.engineBusy, "another import runs") }
    }

    // MARK: PullStore

    package func begin(holder: String) throws -> RunState {
        guard !isHeld else { throw SyncError(.engineBusy, "another import runs") }
        isHeld = true
        lease = EngineLease(token: lease.token + 1)
        return RunState(lease: lease, cursors: cursors(), notBefore: delay.notBefore, attempts: delay.attempts)
    }

    package func renew(_ lease: EngineLease) throws { try check(lease) }

    package func cursors() -> [String: PullState] {
        entities.mapValues { entity in
            PullState(
                cursor: entity.cursor, next: entity.nextPage, lastListing: entity.lastListing,
                hasUnprocessedListing: entity.cursor != nil && entity.nextPage == nil && entity.listing != nil)
        }
    }

    package func apply(_ pages: [PulledPage], _ lease: EngineLease) throws -> SyncReport {
        try check(lease)
        var report = SyncReport()
        for page in pages {
            var entity = entities[page.entity] ?? Entity()
            for row in page.rows {
                guard row.record != nil else {
                    entity.reported.insert(row.id)
                    continue
                }
                entity.reported.remove(row.id)
                if page.pull?.isFullListing == true { entity.listing?.insert(row.id) }
                let known = entity.records.updateValue(row, forKey: row.id)
                if known == nil {
                    report[page.entity].pulledInserts += 1
                } else if known?.record != row.record {
                    report[page.entity].pulledUpdates += 1
                }
            }
            if let pull = page.pull {
                if pull.nextPage == nil { entity.cursor = pull.cursor }
                entity.nextPage = pull.nextPage
            }
            entities[page.entity] = entity
        }
        return report
    }

    package func clearNextPage(of entity: String, _ lease: EngineLease) throws {
        try check(lease)
        entities[entity]?.nextPage = nil
    }

    package func beginListing(of entity: String, _ lease: EngineLease) throws {
        try check(lease)
        entities[entity, default: Entity()].listing = []
        entities[entity]?.missing = []
    }

    package func insertListed(_ listed: [ListedRecord], of entity: String, _ lease: EngineLease) throws
        -> ListingDifference
    {
        try check(lease)
        var difference = ListingDifference()
        for row in listed {
            entities[entity]?.listing?.insert(row.id)
            guard let known = entities[entity]?.records[row.id] else {
                difference.unknown.append(row.id)
                continue
            }
            if let version = row.version, version != known.version { difference.outdated.append(row.id) }
        }
        return difference
    }

    package func missing(from entity: String, _ lease: EngineLease) throws -> [JSONValue] {
        try check(lease)
        guard let state = entities[entity], let listing = state.listing else { return [] }
        return state.records.keys.filter { !listing.contains($0) }
    }

    package func finishListing(of entity: String, missing ids: [JSONValue], _ lease: EngineLease) throws {
        try check(lease)
        entities[entity]?.missing = Set(ids)
    }

    package func applyDeletions(
        limit: DeletionLimit?, listed: [String], _ lease: EngineLease
    ) throws -> (outcome: SyncReport, refusal: SyncError?) {
        try check(lease)
        var report = SyncReport()
        for name in entities.keys {
            guard var entity = entities[name] else { continue }
            report[name].pulledDeletes += entity.delete(entity.reported)
            entity.reported = []
            entities[name] = entity
        }
        for (name, entity) in entities {
            guard let limit, entity.missing.count > limit.allowed(of: entity.records.count) else { continue }
            return (report, SyncError(.deletionLimitExceeded, "too many rows are missing", entity: name))
        }
        for name in listed {
            guard var entity = entities[name] else { continue }
            report[name].pulledDeletes += entity.delete(entity.missing)
            (entity.missing, entity.listing, entity.lastListing) = ([], nil, Date().clampedMilliseconds)
            entities[name] = entity
        }
        return (report, nil)
    }

    package func finish(_ entities: [String], notBefore: Int64?, attempts: Int, _ lease: EngineLease) throws {
        try check(lease)
        isHeld = false
        delay = (notBefore, attempts)
    }

    package nonisolated func areSame(_ id: JSONValue, _ other: JSONValue, of entity: String) -> Bool { id == other }
}
