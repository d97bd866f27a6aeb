package import Foundation
public import SyncCore
import SyncStore

/// An entity that an engine keeps in step, and how conflicts in it end.
public struct SyncedEntity: Sendable, Hashable, ExpressibleByStringLiteral {
    /// Who deletes what a deletion takes along by the delete rules of the model.
    public enum Cascades: String, Sendable, Hashable, CaseIterable, Codable {
        /// The service: what a remote deletion takes along here is not sent.
        case server
        /// This side: it is sent.
        case client
    }

    /// Its name in the model.
    public var name: String
    /// Who wins where both sides changed a value; nil for what the engine's settings say.
    public var policy: ConflictPolicy?
    /// Who wins where one side deleted a row that the other edited.
    public var deleteConflicts: DeleteConflictPolicy?
    /// Whether all that a row has is one, so that of two edits the one takes all: as older tools did. `clientWins` then means
    /// that whoever syncs last has everything.
    public var isOneDomain: Bool
    /// Attributes and to-ones that are one domain together, as the parts of an address: of two edits the one takes all of a group.
    public var groups: [[String]]
    /// The attributes that make two new rows the same.
    public var naturalKey: [String]
    /// Who deletes what a deletion takes along; nil for what the service is known to do.
    public var cascades: Cascades?

    /// An entity.
    public init(
        _ name: String, policy: ConflictPolicy? = nil, deleteConflicts: DeleteConflictPolicy? = nil,
        isOneDomain: Bool = false, groups: [[String]] = [], naturalKey: [String] = [], cascades: Cascades? = nil
    ) {
        self.name = name
        self.policy = policy
        self.deleteConflicts = deleteConflicts
        self.isOneDomain = isOneDomain
        self.groups = groups
        self.naturalKey = naturalKey
        self.cascades = cascades
    }

    /// An entity, as the engine's settings say.
    public init(stringLiteral name: String) { self.init(name) }

    /// An entity of which whoever syncs last has everything of a row.
    public static func lastIn(allAttributes name: String) -> SyncedEntity {
        SyncedEntity(name, policy: .clientWins, isOneDomain: true)
    }
}

/// How an engine goes about it.
public struct EngineSettings: Sendable {
    /// Who wins where both sides changed a value, unless an entity says otherwise.
    public var policy = ConflictPolicy.clientWins
    /// Who wins where one side deleted a row that the other edited, unless an entity says otherwise.
    public var deleteConflicts = DeleteConflictPolicy.deleteWins
    /// An app's own rule for values that both sides changed, such as adding up counters. It is asked before the policy, inside
    /// a transaction: it must not touch the database.
    public var resolver: (@Sendable (DomainConflict) -> DomainConflict.Resolution)?
    /// How much a listing that lacks rows may delete.
    public var deletionGuard: DeletionLimit? = .half
    /// Whose rows they are: a database is in step with one user of a service.
    public var user = ""
    /// What the service is called in the database; nil for what it calls itself (``SyncService/identity``), mostly its address.
    /// Where a service has moved, its former name: the database then stays in step with it.
    public var identity: String?
    /// Whether the service and the user are known: else the database is not asked whose it is, and nothing is asked of a service.
    package var isScopeKnown = true
    /// Whether pages are imported, and nothing is sent.
    package var isImport = false
    /// How often a request is tried that failed for a reason that passes.
    public var attempts = 4
    /// How long a run waits altogether for a service that fails or asks to be left alone, before it ends with an error.
    public var patience = Duration.seconds(30)
    /// Which waiting times of earlier runs a run keeps to.
    public var earlierWaits = EarlierWaits.all
    /// How long a request whose answer was lost may still be carried out.
    public var settleTime = Duration.seconds(30)
    /// How often all ids are listed, of a service that tells of deletions in no other way.
    public var sweepInterval = Duration.seconds(3600)
    /// Where files of rows are kept; nil where none are.
    public var files: FileStore?
    /// What the time is, and how to wait: for tests.
    package var clock = EngineClock()

    /// The usual.
    public init() {}
}

/// Which waiting times of earlier runs a run keeps to, before its first request.
public enum EarlierWaits: Sendable, Hashable, CaseIterable {
    /// All: those that the service asked for, and those after failures, which keep an app from asking a service that is away again and
    /// again.
    case all
    /// Those that the service asked for (`Retry-After`, `Backoff`): the run is one that a person waits for.
    case asked
    /// None.
    case none
}

extension EarlierWaits {
    /// - Parameter isAsked: Whether the service asked for it.
    func keeps(isAsked: Bool) -> Bool {
        switch self {
        case .all: true
        case .asked: isAsked
        case .none: false
        }
    }
}

/// What the time is, and how to wait.
package struct EngineClock: Sendable {
    package var now: @Sendable () -> Date = { Date() }
    package var sleep: @Sendable (Duration) async throws -> Void = { try await Task.sleep(for: $0) }
    /// Waits until a run says again that it goes on: some times within the time for which it may be silent.
    package var beat: @Sendable () async throws -> Void = { try await Task.sleep(for: .seconds(30)) }
    /// A number from 0 to 1.
    package var random: @Sendable () -> Double = { Double.random(in: 0...1) }

    package init() {}
}

// MARK: - EngineRegistration+Entities

extension EngineRegistration {
    /// - Throws: ``SyncError`` `invalidOption`.
    init(_ entities: [SyncedEntity], _ service: any SyncService, _ settings: EngineSettings) throws {
        let capabilities = service.capabilities
        guard !entities.isEmpty else { throw SyncError(.invalidOption, "an engine needs an entity to keep in step") }
        var seen: Set<String> = []
        for entity in entities {
            guard seen.insert(entity.name).inserted else {
                throw SyncError(.invalidOption, "the entity is registered twice", entity: entity.name)
            }
            if (entity.policy ?? settings.policy) == .lastWriterWins, !capabilities.givesTimes {
                throw SyncError(
                    .invalidOption,
                    "lastWriterWins needs a service that says when records were changed: name its 'version'",
                    entity: entity.name)
            }
        }
        self.init(
            entities: entities.map { entity in
                Entity(
                    name: entity.name, policy: entity.policy ?? settings.policy,
                    deletions: entity.deleteConflicts ?? settings.deleteConflicts, isOneDomain: entity.isOneDomain,
                    groups: entity.groups, naturalKey: entity.naturalKey,
                    sendsCascades: entity.cascades.map { $0 == .client } ?? capabilities.sendsCascades)
            },
            service: settings.identity ?? service.identity, user: settings.user, isScopeKnown: settings.isScopeKnown,
            isImport: settings.isImport, makesIDs: capabilities.ids == .client,
            takesParts: capabilities.takesIDsOfParts, idLength: capabilities.idLength,
            sendsWholeRows: capabilities.sendsWholeRows, ordersVersions: capabilities.ordersVersions,
            marker: capabilities.marker,
            filters: Dictionary(entities.map { ($0.name, service.filter(of: $0.name)) }) { first, _ in first },
            resolver: settings.resolver)
    }

    /// The registered entities among some, or all.
    ///
    /// - Throws: ``SyncError`` `unknownEntity`.
    func names(_ only: [String]?) throws -> [String] {
        let all = entities.map(\.name)
        guard let only else { return all }
        for name in only where !all.contains(name) {
            throw SyncError(
                .unknownEntity, "the engine does not keep '\(name)' in step; it does \(TruncatedList(all).text)",
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
