public import SyncCore

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
