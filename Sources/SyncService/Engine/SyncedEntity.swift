package import Foundation
public import SyncCore
import SyncStore

/// An entity that an engine syncs, with its conflict policies.
public struct SyncedEntity: Sendable, Hashable, ExpressibleByStringLiteral {
    /// Who deletes the rows that a delete rule cascades to.
    public enum Cascades: String, Sendable, Hashable, CaseIterable, Codable {
        /// The service. The engine does not send the deletions that a remote deletion causes here.
        case server
        /// The engine. It sends the deletions that a remote deletion causes here.
        case client
    }

    /// The name of the entity in the model.
    public var name: String
    /// The policy if both sides changed a field; nil for that of the engine's settings.
    package var conflictPolicy: ConflictPolicy?
    /// The policy if one side deleted a row that the other edited; nil for that of the engine's settings.
    package var deleteConflictPolicy: DeleteConflictPolicy?
    /// Whether a row is merged as a whole instead of field by field. With `clientWins` the last device that syncs then wins the whole
    /// row, as in older tools.
    package var mergesWholeRow: Bool
    /// Groups of attributes and to-one relationships that are merged as one field, such as the parts of an address.
    package var fieldGroups: [[String]]
    /// The natural key: two new rows with equal values of these attributes are one row.
    package var naturalKey: [String]
    /// Who deletes the rows that a delete rule cascades to; nil for the default of the service.
    package var cascades: Cascades?

    /// Creates an entity.
    public init(
        _ name: String, conflictPolicy: ConflictPolicy? = nil, deleteConflictPolicy: DeleteConflictPolicy? = nil,
        mergesWholeRow: Bool = false, fieldGroups: [[String]] = [], naturalKey: [String] = [], cascades: Cascades? = nil
    ) {
        self.name = name
        self.conflictPolicy = conflictPolicy
        self.deleteConflictPolicy = deleteConflictPolicy
        self.mergesWholeRow = mergesWholeRow
        self.fieldGroups = fieldGroups
        self.naturalKey = naturalKey
        self.cascades = cascades
    }

    /// Creates an entity with the policies of the engine's settings.
    public init(stringLiteral name: String) { self.init(name) }

    /// Returns an entity whose rows are merged as a whole: the last device that syncs wins.
    public static func mergingWholeRow(_ name: String) -> SyncedEntity {
        SyncedEntity(name, conflictPolicy: .clientWins, mergesWholeRow: true)
    }
}

/// The configuration of an engine: conflict policies, retries, intervals.
public struct EngineSettings: Sendable {
    /// The policy if both sides changed a field. ``SyncedEntity/conflictPolicy`` overrides it.
    public var conflictPolicy = ConflictPolicy.clientWins
    /// The policy if one side deleted a row that the other edited. ``SyncedEntity/deleteConflictPolicy`` overrides it.
    public var deleteConflictPolicy = DeleteConflictPolicy.deleteWins
    /// A function that resolves conflicts, such as one that adds up counters. It is called before the policy applies, inside a
    /// transaction, and must not use the database.
    public var conflictResolver: (@Sendable (SyncConflict) -> SyncConflict.Resolution)?
    /// The deletion limit of a listing that omits rows.
    public var deletionLimit: DeletionLimit? = .half
    /// The user of the service. A database is synced with one user.
    public var userID = ""
    /// The identity of the service in the database; nil for ``SyncService/identity``, which is mostly its address. If the service has
    /// moved, set its former identity, so that the database continues with it.
    public var serviceIdentity: String?
    /// Whether the service and the user are known. If not, the engine does not check whose database it is, and sends no
    /// request.
    package var isScopeKnown = true
    /// Whether the engine only imports pages and sends nothing.
    package var isImport = false
    /// The number of attempts for a request that fails with a transient error.
    public var maxAttempts = 4
    /// The total time that a run waits for a service that fails or asks for a delay, before the run throws.
    public var retryTimeout = Duration.seconds(30)
    /// Which delays of earlier runs a run observes.
    public var earlierWaits = EarlierWaits.all
    /// How long a service may still apply an in-doubt request.
    public var inDoubtTimeout = Duration.seconds(30)
    /// The interval of reconciliations, for a service that reports deletions in no other way.
    public var reconciliationInterval = Duration.seconds(3600)
    /// The store of the files of rows; nil for none.
    public var fileStore: FileStore?
    /// The clock of the engine. Tests replace it.
    package var clock = EngineClock()

    /// Creates settings with default values.
    public init() {}
}

/// Which delays of earlier runs a run observes before its first request.
public enum EarlierWaits: Sendable, Hashable, CaseIterable {
    /// All: those that the service asked for, and those after failures. The latter keep an app from asking a failing
    /// service again and again.
    case all
    /// Those that the service asked for (`Retry-After`, `Backoff`). Use it for a run that a person waits for.
    case asked
    /// None.
    case none
}

extension EarlierWaits {
    /// - Parameter isAsked: Whether the service asked for the delay.
    func includes(isAsked: Bool) -> Bool {
        switch self {
        case .all: true
        case .asked: isAsked
        case .none: false
        }
    }
}

/// The time, delays and random numbers that an engine uses. Tests replace them.
package struct EngineClock: Sendable {
    package var now: @Sendable () -> Date = { Date() }
    package var sleep: @Sendable (Duration) async throws -> Void = { try await Task.sleep(for: $0) }
    /// Waits until the next renewal of the lease. A lease lasts for several renewals, so that one may fail.
    package var beat: @Sendable () async throws -> Void = { try await Task.sleep(for: .seconds(30)) }
    /// Returns a random number from 0 to 1.
    package var random: @Sendable () -> Double = { Double.random(in: 0...1) }

    package init() {}
}

// MARK: - Registration of entities

extension EngineRegistration {
    /// - Throws: ``SyncError`` `invalidOption`.
    init(_ entities: [SyncedEntity], _ service: any SyncService, _ settings: EngineSettings) throws {
        let capabilities = service.capabilities
        guard !entities.isEmpty else { throw SyncError(.invalidOption, "an engine requires at least one entity") }
        var seen: Set<String> = []
        for entity in entities {
            guard seen.insert(entity.name).inserted else {
                throw SyncError(.invalidOption, "the entity is registered twice", entity: entity.name)
            }
            if (entity.conflictPolicy ?? settings.conflictPolicy) == .lastWriterWins,
                !capabilities.providesModificationTimes
            {
                throw SyncError(
                    .invalidOption,
                    "lastWriterWins requires the time of every record: set 'version' to the member with the "
                        + "time of a change",
                    entity: entity.name)
            }
        }
        self.init(
            entities: entities.map { entity in
                Entity(
                    name: entity.name, policy: entity.conflictPolicy ?? settings.conflictPolicy,
                    deletions: entity.deleteConflictPolicy ?? settings.deleteConflictPolicy,
                    mergesWholeRow: entity.mergesWholeRow,
                    groups: entity.fieldGroups, naturalKey: entity.naturalKey,
                    sendsCascades: entity.cascades.map { $0 == .client } ?? capabilities.requiresClientCascades)
            },
            service: settings.serviceIdentity ?? service.identity, user: settings.userID,
            isScopeKnown: settings.isScopeKnown,
            isImport: settings.isImport, makesIDs: capabilities.idAssignment == .client,
            supportsCompositeIDs: capabilities.supportsCompositeIDs, idLength: capabilities.generatedIDLength,
            sendsWholeRows: capabilities.requiresCompleteRecords, ordersVersions: capabilities.hasOrderedVersions,
            markerField: capabilities.markerField,
            filters: Dictionary(entities.map { ($0.name, service.filter(of: $0.name)) }) { first, _ in first },
            resolver: settings.conflictResolver)
    }

    /// Returns the registered entities with these names; all entities for nil.
    ///
    /// - Throws: ``SyncError`` `unknownEntity`.
    func names(_ only: [String]?) throws -> [String] {
        let all = entities.map(\.name)
        guard let only else { return all }
        for name in only where !all.contains(name) {
            throw SyncError(
                .unknownEntity, "unknown entity '\(name)': the engine syncs \(TruncatedList(all).text)",
                entity: name)
        }
        return all.filter(only.contains)
    }
}

extension SyncReport {
    func adding(_ other: SyncReport) -> SyncReport {
        var sum = self
        sum.add(other)
        return sum
    }
}
