package import Foundation
public import SyncCore
import SyncStore

/// An entity that an engine syncs, with the conflict policies of the entity.
public struct SyncedEntity: Sendable, Hashable, ExpressibleByStringLiteral {
    /// The side that applies cascading delete rules to the records of the service.
    public enum Cascades: String, Sendable, Hashable, CaseIterable, Codable {
        /// The service applies the delete rules. If a remote deletion causes local deletions, the engine does not send
        /// the local deletions.
        case server
        /// The engine applies the delete rules. If a remote deletion causes local deletions, the engine sends the local
        /// deletions.
        case client
    }

    /// The name of the entity in the model.
    public var name: String
    /// The policy for a field that both sides changed; nil for the policy of the engine.
    package var conflictPolicy: ConflictPolicy?
    /// The policy for a row that one side deleted and the other side edited; nil for the policy of the engine.
    package var deleteConflictPolicy: DeleteConflictPolicy?
    /// Whether all attributes and to-one relationships of a row are merged as one field. If true, and if both sides
    /// changed any of these values, all values that differ are in conflict.
    package var mergesWholeRow: Bool
    /// Groups of attributes and to-one relationships, such as the parts of an address. Each group is merged as one
    /// field.
    package var fieldGroups: [[String]]
    /// The names of the attributes of the natural key. The engine treats a new local row and a pulled record as one row
    /// if these attributes have equal values.
    package var naturalKey: [String]
    /// The side that applies cascading delete rules to the records of the service; nil for the default of the service.
    package var cascades: Cascades?

    /// Creates a synced entity.
    ///
    /// - Parameters:
    ///   - name: The name of the entity in the model.
    ///   - conflictPolicy: The policy for a field that both sides changed; nil for the policy of the engine.
    ///   - deleteConflictPolicy: The policy for a row that one side deleted and the other side edited; nil for the
    ///     policy of the engine.
    ///   - mergesWholeRow: Whether all attributes and to-one relationships of a row are merged as one field. If true,
    ///     and if both sides changed any attributes or to-one relationships, all values that differ are in conflict.
    ///   - fieldGroups: The names of attributes and to-one relationships, in groups. Each group is merged as one field.
    ///   - naturalKey: The names of the attributes of the natural key. The engine treats a new local row and a pulled
    ///     record as one row if these attributes have equal values.
    ///   - cascades: The side that applies cascading delete rules to the records of the service; nil for the default of
    ///     the service.
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

    /// Creates a synced entity that uses the conflict policies of the engine.
    public init(stringLiteral name: String) { self.init(name) }
}

// MARK: - SyncEngine+Configuration

extension SyncEngine {
    /// The configuration of an engine: conflict policies, retries and intervals.
    public struct Configuration: Sendable {
        /// The policy for a field that both sides changed. A ``SyncedEntity`` may have another policy.
        public var conflictPolicy = ConflictPolicy.clientWins
        /// The policy for a row that one side deleted and the other side edited. A ``SyncedEntity`` may have another
        /// policy.
        public var deleteConflictPolicy = DeleteConflictPolicy.deleteWins
        /// A function that resolves conflicts of fields, for example by adding counters; nil to use only the policies.
        /// The engine calls the function inside a transaction, before the policy applies. The function must not access
        /// the database.
        public var conflictResolver: (@Sendable (SyncConflict) -> SyncConflict.Resolution)?
        /// The limit for deleting rows whose records the service no longer has; nil for no limit. Deletions that the
        /// service reports with a tombstone do not count. The limit applies to each entity separately.
        public var deletionLimit: DeletionLimit? = .half
        /// A string that identifies the user of the service. The engine rejects a database that was synced for another
        /// user.
        public var userID = ""
        /// The identity that the database stores for the service; nil for ``SyncService/identity``, which is usually
        /// the URL. If the URL has changed, set the former identity. The engine then accepts the existing database.
        public var serviceIdentity: String?
        /// Whether the service and the user are known. If false, the engine does not compare the service and the user
        /// with those of the database. The caller must then not start a run.
        package var isScopeKnown = true
        /// The largest number of attempts for a request that fails with a transient error, such as status 503.
        public var maxAttempts = 4
        /// The total time that a run may wait after failures, for delays that the service requests, and for in-doubt
        /// requests.
        /// A run that would wait longer ends with an error.
        public var retryTimeout = Duration.seconds(30)
        /// The kinds of stored delays that apply before the first request of a run. Earlier runs stored these delays.
        public var backoffPolicy = BackoffPolicy.all
        /// The time during which a service may still apply an in-doubt request. The engine may wait until the end of
        /// this time before repeating a create.
        public var inDoubtTimeout = Duration.seconds(30)
        /// The shortest time between two listings of an entity's IDs. The engine lists IDs if the service has no
        /// tombstones, unless each pull returns all records.
        public var reconciliationInterval = Duration.seconds(3600)
        /// The file store of the engine; nil for an engine without files.
        public var fileStore: FileStore?
        /// See ``EngineRegistration/handlesRowsTogether``.
        package var handlesRowsTogether = true
        /// The clock of the engine. Tests replace the clock.
        package var clock = EngineClock()

        /// Creates a configuration with default values.
        public init() {}
    }
}

/// The kinds of stored delays that apply before the first request of a run. Earlier runs stored these delays.
public enum BackoffPolicy: Sendable, Hashable, CaseIterable {
    /// All stored delays apply: delays that the service asked for, and delays after failures. Delays after failures
    /// prevent an app from overloading a failing service.
    case all
    /// Only delays that the service asked for (`Retry-After`, `Backoff`) apply. Use this policy for a run that a person
    /// has started.
    case requested
    /// No stored delay applies.
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

/// The time, the delays, the random numbers and the order of requests that an engine uses. Tests replace these
/// functions.
package struct EngineClock: Sendable {
    package var now: @Sendable () -> Date = { Date() }
    package var sleep: @Sendable (Duration) async throws -> Void = { try await Task.sleep(for: $0) }
    /// A function that waits until the next renewal of the lease. A lease lasts for several renewals, so one renewal
    /// may fail.
    package var beat: @Sendable () async throws -> Void = { try await Task.sleep(for: .seconds(30)) }
    /// A function that returns a random number from 0 to 1.
    package var random: @Sendable () -> Double = { Double.random(in: 0...1) }
    /// A function that returns an order of a number of elements, for a result that repeats. The engine then sends
    /// requests one after the other in such an order, and handles their responses in another one. If nil, the engine
    /// sends the requests at the same time.
    package var order: (@Sendable (_ count: Int) -> [Int])?

    package init() {}
}

// MARK: - Registration of entities

extension EngineRegistration {
    /// Creates the registration of an engine.
    ///
    /// - Throws: ``SyncError`` `invalidOption` if there are no entities, if an entity occurs twice, or if a policy
    ///   or a precondition requires times or versions that the service lacks.
    init(_ entities: [SyncedEntity], _ service: any SyncService, _ configuration: SyncEngine.Configuration) throws {
        let capabilities = service.capabilities
        try configuration.deletionLimit?.validate()
        guard !entities.isEmpty else { throw SyncError(.invalidOption, "an engine requires at least one entity") }
        if let service = service as? RESTService, service.options.isPreconditionUnused {
            throw SyncError(
                .invalidOption,
                "preconditions require the version of every record: set 'versionField' ('version' in a configuration "
                    + "file) to the field with the version, or remove 'preconditionHeader' ('preconditions')")
        }
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
            isScopeKnown: configuration.isScopeKnown, clientAssignsIDs: capabilities.idAssignment == .client,
            supportsCompositeIDs: capabilities.supportsCompositeIDs, idLength: capabilities.generatedIDLength,
            sendsWholeRows: capabilities.requiresCompleteRecords, ordersVersions: capabilities.hasOrderedVersions,
            markerField: capabilities.markerField, mayRepeatCreates: capabilities.mayRepeatCreates,
            filters: Dictionary(entities.map { ($0.name, service.filter(of: $0.name)) }) { first, _ in first },
            resolver: configuration.conflictResolver, handlesRowsTogether: configuration.handlesRowsTogether)
    }

    /// Returns the registered entities with these names; all entities for nil.
    ///
    /// - Throws: ``SyncError`` `unknownEntity`.
    func names(_ only: [String]?) throws -> [String] { try SyncedEntity.names(only, among: entities.map(\.name)) }
}

extension SyncedEntity {
    /// Returns the entities with these names, in the order of `all`; all entities for nil.
    ///
    /// - Throws: ``SyncError`` `unknownEntity`.
    package static func names(_ only: [String]?, among all: [String]) throws -> [String] {
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

// MARK: - Swift types

// Calls that take Swift types and key paths instead of names.
extension SyncEngine {
    /// Pulls remote changes of the entities of the given types, resolves conflicts and pushes local changes. See
    /// ``sync(only:)-([String]?)``.
    @discardableResult
    public func sync(only types: [any SyncEntity.Type]) async throws -> SyncReport {
        try await sync(only: types.map { $0.entityName })
    }

    /// Pulls remote changes of the entities of the given types. See ``pull(only:)-([String]?)``.
    @discardableResult
    public func pull(only types: [any SyncEntity.Type]) async throws -> SyncReport {
        try await pull(only: types.map { $0.entityName })
    }

    /// Pushes local changes of the entities of the given types. See ``push(only:)-([String]?)``.
    @discardableResult
    public func push(only types: [any SyncEntity.Type]) async throws -> SyncReport {
        try await push(only: types.map { $0.entityName })
    }

    /// Returns the sync status of the entities of the given types. See ``status(only:)-([String]?)``.
    public func status(only types: [any SyncEntity.Type]) async throws -> [EntityStatus] {
        try await status(only: types.map { $0.entityName })
    }

    /// Returns the blocked changes of the entities of the given types. See ``blockedChanges(only:)-([String]?)``.
    public func blockedChanges(only types: [any SyncEntity.Type]) async throws -> [BlockedChange] {
        try await blockedChanges(only: types.map { $0.entityName })
    }

    /// Returns the conflicts of the entities of the given types. See ``conflicts(only:)-([String]?)``.
    public func conflicts(only types: [any SyncEntity.Type]) async throws -> [SyncConflict] {
        try await conflicts(only: types.map { $0.entityName })
    }

    /// Resolves an open conflict of a row. See ``resolve(_:key:field:keeping:)-(String,_,_,_)``.
    ///
    /// ```swift
    /// try await engine.resolve(Todo.self, key: 4, field: \.title, keeping: .remote)
    /// ```
    public nonisolated(nonsending) func resolve<Value: SyncEntity>(
        _ type: Value.Type, key: some AttributeValue, field: PartialKeyPath<Value>? = nil,
        keeping side: SyncConflict.Side
    ) async throws {
        try await resolve(
            Value.entityName, key: key.storedValue.jsonForm, field: field.map(Value.modelPath), keeping: side)
    }

    /// Discards the pending change of a row. See ``discardChange(of:key:)-(String,_)``.
    public nonisolated(nonsending) func discardChange<Value: SyncEntity>(
        of type: Value.Type, key: some AttributeValue
    ) async throws {
        try await discardChange(of: Value.entityName, key: key.storedValue.jsonForm)
    }
}

// MARK: - SyncedEntity+Types

extension SyncedEntity {
    /// Creates a synced entity from a Swift type.
    ///
    /// ```swift
    /// SyncedEntity(Todo.self, conflictPolicy: .serverWins, naturalKey: [\.title])
    /// ```
    /// For the parameters, see
    /// ``init(_:conflictPolicy:deleteConflictPolicy:mergesWholeRow:fieldGroups:naturalKey:cascades:)-(String,_,_,_,_,_,_)``.
    /// If a key path is not valid for its parameter, the initializer of ``SyncEngine`` throws `unknownAttribute`.
    public init<Value: SyncEntity>(
        _ type: Value.Type, conflictPolicy: ConflictPolicy? = nil, deleteConflictPolicy: DeleteConflictPolicy? = nil,
        mergesWholeRow: Bool = false, fieldGroups: [[PartialKeyPath<Value>]] = [],
        naturalKey: [PartialKeyPath<Value>] = [], cascades: Cascades? = nil
    ) {
        self.init(
            Value.entityName, conflictPolicy: conflictPolicy, deleteConflictPolicy: deleteConflictPolicy,
            mergesWholeRow: mergesWholeRow, fieldGroups: fieldGroups.map { $0.map(Value.modelPath) },
            naturalKey: naturalKey.map(Value.modelPath), cascades: cascades)
    }
}
