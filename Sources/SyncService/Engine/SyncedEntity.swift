package import Foundation
public import SyncCore
import SyncStore

/// An entity that an engine syncs, with its conflict policies.
public struct SyncedEntity: Sendable, Hashable, ExpressibleByStringLiteral {
    /// The side that deletes the records that a delete rule cascades to.
    public enum Cascades: String, Sendable, Hashable, CaseIterable, Codable {
        /// The service deletes the records. The engine does not send the local deletions that a remote deletion causes.
        case server
        /// The engine sends the local deletions that a remote deletion causes.
        case client
    }

    /// The name of the entity in the model.
    public var name: String
    /// The policy for a field that both sides changed; nil for the policy of the engine.
    package var conflictPolicy: ConflictPolicy?
    /// The policy for a row that one side deleted and the other side edited; nil for the policy of the engine.
    package var deleteConflictPolicy: DeleteConflictPolicy?
    /// Whether all attributes and to-one relationships of a row are merged as one field. A conflict in one of them is
    /// resolved for all.
    package var mergesWholeRow: Bool
    /// Groups of attributes and to-one relationships that are merged as one field, such as the parts of an address.
    package var fieldGroups: [[String]]
    /// The attributes of the natural key. A new local row and a pulled record with equal values of them are one row.
    package var naturalKey: [String]
    /// The side that deletes the records that a delete rule cascades to; nil for the default of the service.
    package var cascades: Cascades?

    /// Creates an entity to sync.
    ///
    /// - Parameters:
    ///   - name: The name of the entity in the model.
    ///   - conflictPolicy: The policy for a field that both sides changed; nil for the policy of the engine.
    ///   - deleteConflictPolicy: The policy for a row that one side deleted and the other side edited; nil for the
    ///     policy of the engine.
    ///   - mergesWholeRow: Whether all attributes and to-one relationships of a row are merged as one field.
    ///   - fieldGroups: Groups of attributes and to-one relationships that are merged as one field.
    ///   - naturalKey: The attributes of the natural key. A new local row and a pulled record with equal values of them
    ///     are one row.
    ///   - cascades: The side that deletes the records that a delete rule cascades to; nil for the default of the
    ///     service.
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

    /// Creates an entity to sync from a Swift type. The other parameters are those of
    /// ``init(_:conflictPolicy:deleteConflictPolicy:mergesWholeRow:fieldGroups:naturalKey:cascades:)-(String,_,_,_,_,_,_)``.
    ///
    /// ```swift
    /// SyncedEntity(Todo.self, conflictPolicy: .serverWins, naturalKey: [\.title])
    /// ```
    /// A key path that is no attribute or to-one relationship causes the error `unknownAttribute` when the engine is
    /// created.
    public init<Value: SyncEntity>(
        _ type: Value.Type, conflictPolicy: ConflictPolicy? = nil, deleteConflictPolicy: DeleteConflictPolicy? = nil,
        mergesWholeRow: Bool = false, fieldGroups: [[PartialKeyPath<Value>]] = [],
        naturalKey: [PartialKeyPath<Value>] = [], cascades: Cascades? = nil
    ) {
        func name(_ path: PartialKeyPath<Value>) -> String { Value.syncProperties[path]?.name ?? "\(path)" }
        self.init(
            Value.entityName, conflictPolicy: conflictPolicy, deleteConflictPolicy: deleteConflictPolicy,
            mergesWholeRow: mergesWholeRow, fieldGroups: fieldGroups.map { $0.map(name) },
            naturalKey: naturalKey.map(name), cascades: cascades)
    }

    /// Creates an entity to sync with the policies of the engine.
    public init(stringLiteral name: String) { self.init(name) }
}

// MARK: - SyncEngine+Configuration

extension SyncEngine {
    /// The configuration of an engine: conflict policies, retries, intervals.
    public struct Configuration: Sendable {
        /// The policy for a field that both sides changed. A ``SyncedEntity`` may have another policy.
        public var conflictPolicy = ConflictPolicy.clientWins
        /// The policy for a row that one side deleted and the other side edited. A ``SyncedEntity`` may have another
        /// policy.
        public var deleteConflictPolicy = DeleteConflictPolicy.deleteWins
        /// A function that resolves conflicts, for example by adding up counters. The engine calls it before it applies
        /// the policy, inside a transaction. The function must not use the database.
        public var conflictResolver: (@Sendable (SyncConflict) -> SyncConflict.Resolution)?
        /// The limit for deleting rows that the service lacks without a tombstone; nil for no limit.
        public var deletionLimit: DeletionLimit? = .half
        /// A text that identifies the user of the service. The engine rejects a database that was synced with another
        /// user.
        public var userID = ""
        /// The identity of the service in the database; nil for ``SyncService/identity``, which usually is the address.
        /// If the address has changed, set the former identity, so that the database continues with the service.
        public var serviceIdentity: String?
        /// Whether the service and the user are known. If false, the engine does not check them against the database,
        /// and the caller must not start a run.
        package var isScopeKnown = true
        /// Whether the engine only imports pages. Such an engine does not capture local changes.
        package var isImport = false
        /// The largest number of attempts for a request that fails with a transient error.
        public var maxAttempts = 4
        /// The total time that a run may wait because the service fails or asks for a delay. A run that would wait
        /// longer throws an error.
        public var retryTimeout = Duration.seconds(30)
        /// The stored delays of earlier runs that a run waits for before its first request.
        public var backoffPolicy = BackoffPolicy.all
        /// The time during which a service may still apply an in-doubt request.
        public var inDoubtTimeout = Duration.seconds(30)
        /// The shortest time between two listings of an entity's IDs. A service without tombstones needs them, unless
        /// each pull lists all records.
        public var reconciliationInterval = Duration.seconds(3600)
        /// The store of the files of rows; nil for none.
        public var fileStore: FileStore?
        /// The clock of the engine. Tests replace it.
        package var clock = EngineClock()

        /// Creates a configuration with default values.
        public init() {}
    }
}

/// The stored delays of earlier runs that a run waits for before its first request.
public enum BackoffPolicy: Sendable, Hashable, CaseIterable {
    /// A run waits for delays that the service asked for, and for delays after failures. Delays after failures prevent
    /// an app from overloading a failing service.
    case all
    /// A run waits only for delays that the service asked for (`Retry-After`, `Backoff`). Use this case for a run that
    /// a person has started.
    case requested
    /// A run does not wait.
    case none
}

extension BackoffPolicy {
    /// Returns whether a run waits for a stored delay.
    ///
    /// - Parameter isRequestedByService: Whether the service asked for the delay.
    func includes(isRequestedByService: Bool) -> Bool {
        switch self {
        case .all: true
        case .requested: isRequestedByService
        case .none: false
        }
    }
}

/// The time, delays and random numbers that an engine uses. Tests replace them.
package struct EngineClock: Sendable {
    package var now: @Sendable () -> Date = { Date() }
    package var sleep: @Sendable (Duration) async throws -> Void = { try await Task.sleep(for: $0) }
    /// A function that waits until the next renewal of the lease. A lease lasts for several renewals, so that one may
    /// fail.
    package var beat: @Sendable () async throws -> Void = { try await Task.sleep(for: .seconds(30)) }
    /// A function that returns a random number from 0 to 1.
    package var random: @Sendable () -> Double = { Double.random(in: 0...1) }

    package init() {}
}

// MARK: - Registration of entities

extension EngineRegistration {
    /// Creates the registration of an engine.
    ///
    /// - Throws: ``SyncError`` `invalidOption` if there are no entities, if an entity occurs twice, or if a policy
    ///   requires times that the service lacks.
    init(_ entities: [SyncedEntity], _ service: any SyncService, _ configuration: SyncEngine.Configuration) throws {
        let capabilities = service.capabilities
        try configuration.deletionLimit?.validate()
        guard !entities.isEmpty else { throw SyncError(.invalidOption, "an engine requires at least one entity") }
        var seen: Set<String> = []
        for entity in entities {
            guard seen.insert(entity.name).inserted else {
                throw SyncError(.invalidOption, "the entity is registered twice", entity: entity.name)
            }
            if (entity.conflictPolicy ?? configuration.conflictPolicy) == .lastWriterWins,
                !capabilities.providesModificationTimes
            {
                throw SyncError(
                    .invalidOption,
                    "lastWriterWins requires the modification time of every record: set 'versionField' "
                        + "('version' in a configuration file) to the field with the modification time",
                    entity: entity.name)
            }
        }
        self.init(
            entities: entities.map { entity in
                Entity(
                    name: entity.name, policy: entity.conflictPolicy ?? configuration.conflictPolicy,
                    deletions: entity.deleteConflictPolicy ?? configuration.deleteConflictPolicy,
                    mergesWholeRow: entity.mergesWholeRow,
                    groups: entity.fieldGroups, naturalKey: entity.naturalKey,
                    sendsCascades: entity.cascades.map { $0 == .client } ?? capabilities.requiresClientCascades)
            },
            service: configuration.serviceIdentity ?? service.identity, user: configuration.userID,
            isScopeKnown: configuration.isScopeKnown,
            isImport: configuration.isImport, clientAssignsIDs: capabilities.idAssignment == .client,
            supportsCompositeIDs: capabilities.supportsCompositeIDs, idLength: capabilities.generatedIDLength,
            sendsWholeRows: capabilities.requiresCompleteRecords, ordersVersions: capabilities.hasOrderedVersions,
            markerField: capabilities.markerField,
            filters: Dictionary(entities.map { ($0.name, service.filter(of: $0.name)) }) { first, _ in first },
            resolver: configuration.conflictResolver)
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
