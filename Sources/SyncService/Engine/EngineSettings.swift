package import Foundation
public import SyncCore

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
    public var deletionGuard: DeletionGuard? = .half
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
