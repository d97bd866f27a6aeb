public import Foundation
public import SyncCore
import SyncStore

// How things stand, and what somebody decides.
extension SyncEngine {
    /// How each entity stands.
    ///
    /// - Throws: ``SyncError`` `unknownEntity`.
    public func status(only entities: [String]? = nil) async throws -> [EntityStatus] {
        let names = try registration.names(entities)
        return try await store.status().filter { names.contains($0.entity) }
    }

    /// The rows that the service refused, or that a constraint here did, and why.
    ///
    /// - Throws: ``SyncError`` `unknownEntity`.
    public func parkedRows(only entities: [String]? = nil) async throws -> [ParkedRow] {
        let names = try registration.names(entities)
        return try await store.parkedRows().filter { names.contains($0.entity) }
    }

    /// The log of conflicts, open ones first.
    ///
    /// - Throws: ``SyncError`` `unknownEntity`.
    public func conflicts(only entities: [String]? = nil) async throws -> [LoggedConflict] {
        let names = try registration.names(entities)
        return try await store.conflicts().filter { names.contains($0.entity) }
    }

    /// Whether the service has anything new; nothing is written. One request for each entity, or for all where the service has one
    /// cursor for them; more where what it says first is known already and goes on.
    ///
    /// What a service does not tell is not noticed: without tombstones a deletion shows in the listing of the next run. One that says
    /// no versions is taken to have news if it has any row to tell of.
    public func changed() async throws -> Bool {
        try await EngineRun.isAnythingNew(store, service, registration)
    }

    /// How many rows have changes that the service does not have, those left out that it refused.
    public func pendingChanges() async throws -> Int { try await status().reduce(0) { $0 + $1.pending } }

    /// When all entities were in step; nil if one never was.
    public var lastSyncDate: Date? {
        get async throws {
            let dates = try await status().map(\.lastSync)
            return dates.contains(nil) ? nil : dates.compactMap(\.self).min()
        }
    }

    /// Whether all there was of every entity has been pulled once.
    public var isInitialSyncComplete: Bool {
        get async throws { try await status().allSatisfy(\.isInitialSyncComplete) }
    }

    // MARK: Deciding

    /// Decides an open conflict: the value here is sent, or that of the service taken.
    ///
    /// - Parameter domain: An attribute or to-one; nil for all that are open of the row.
    public func resolve(_ entity: String, key: JSONValue, domain: String? = nil, takingRemote: Bool) async throws {
        try await store.resolve(entity, key: key, domain: domain, takingRemote: takingRemote)
    }

    /// Makes a row anew that a deletion of the service's took away though it was edited or made here, as the log has it; the
    /// next run sends it.
    ///
    /// - Throws: ``SyncError`` `rowNotFound` if the log has no such row.
    public func restore(_ entity: String, key: JSONValue) async throws { try await store.restore(entity, key: key) }

    /// Forgets. See ``EngineReset``.
    ///
    /// - Parameter only: The entities that it is of; nil for all. The rows here go of all, since they belong to each other.
    /// - Throws: ``SyncError`` `engineBusy` while another process syncs the database; a run of this engine is waited for.
    ///   `invalidOption` for ``EngineReset/local`` of some; `unknownEntity`.
    public func reset(_ kind: EngineReset, only entities: [String]? = nil) async throws {
        guard kind != .local || entities == nil else {
            throw SyncError(
                .invalidOption, "rows of one entity belong to those of others: only all of them can be reset")
        }
        let names = try registration.names(entities)
        try await alone { [store, name] in try await store.reset(kind, of: names, holder: name) }
    }
}
