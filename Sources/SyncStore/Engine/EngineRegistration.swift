package import SyncCore

/// What an engine keeps in step: entities, whose they are, and how conflicts in them end.
package struct EngineRegistration: Sendable {
    package struct Entity: Sendable {
        package let name: String
        package let policy: ConflictPolicy
        package let deletions: DeleteConflictPolicy
        /// Whether all attributes and links of a row are one domain, of which the side that edited keeps all.
        package let isOneDomain: Bool
        /// Attributes and to-ones of which the side that edited one keeps all of a group.
        package let groups: [[String]]
        /// The attributes that make two new rows the same.
        package let naturalKey: [String]
        /// Whether what a deletion on the server takes along here is deleted there by this side.
        package let sendsCascades: Bool

        package init(
            name: String, policy: ConflictPolicy, deletions: DeleteConflictPolicy, isOneDomain: Bool,
            groups: [[String]] = [], naturalKey: [String], sendsCascades: Bool
        ) {
            self.name = name
            self.policy = policy
            self.deletions = deletions
            self.isOneDomain = isOneDomain
            self.groups = groups
            self.naturalKey = naturalKey
            self.sendsCascades = sendsCascades
        }
    }

    package let entities: [Entity]
    /// What the service is, and the user there: a database is in step with one.
    package let service: String
    package let user: String
    /// Whether that is known: else nothing is asked of a service, and the database is not asked whose it is.
    package let isScopeKnown: Bool
    /// Whether pages are imported and nothing is sent: edits are not noticed, unless another engine does.
    package let isImport: Bool
    /// Whether a row made here has its key from here.
    package let makesIDs: Bool
    /// Whether the service takes ids of several parts.
    package let takesParts: Bool
    /// How many characters such a key has, of a to z and 0 to 9; nil for a UUID.
    package let idLength: Int?
    /// Whether a change is sent with all values of its row.
    package let sendsWholeRows: Bool
    /// Whether a version tells which of two is older.
    package let ordersVersions: Bool
    /// The member in which the service keeps the name that a new row had here; nil for none.
    package let marker: String?
    /// Says of each entity what its rows are asked for with; with another the next pull is a whole one.
    package let filters: [String: String]
    /// The app's own rule for conflicts.
    package let resolver: (@Sendable (DomainConflict) -> DomainConflict.Resolution)?

    package init(
        entities: [Entity], service: String, user: String, isScopeKnown: Bool = true, isImport: Bool = false,
        makesIDs: Bool,
        takesParts: Bool = false, idLength: Int? = nil, sendsWholeRows: Bool = false, ordersVersions: Bool = false,
        marker: String? = nil, filters: [String: String],
        resolver: (@Sendable (DomainConflict) -> DomainConflict.Resolution)? = nil
    ) {
        self.entities = entities
        self.service = service
        self.user = user
        self.isScopeKnown = isScopeKnown
        self.isImport = isImport
        self.makesIDs = makesIDs
        self.takesParts = takesParts
        self.idLength = idLength
        self.sendsWholeRows = sendsWholeRows
        self.ordersVersions = ordersVersions
        self.marker = marker
        self.filters = filters
        self.resolver = resolver
    }
}
