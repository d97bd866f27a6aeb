/// What a service is able to do. The engine asks for no more.
public struct ServiceCapabilities: Sendable, Hashable {
    /// Who gives a new row its id.
    public enum IDs: String, Sendable, Hashable, CaseIterable, Codable {
        /// The service.
        case server
        /// Whoever makes the row.
        case client
    }

    /// How a store learns of deletions.
    public enum Deletions: String, Sendable, Hashable, CaseIterable {
        /// A pull has them.
        case tombstones
        /// By listing all ids, or by a pull that has all rows.
        case sweep
    }

    /// What keeps a row that is created twice from being two.
    public enum CreateIdempotency: Sendable, Hashable {
        /// The id that it has from its maker.
        case clientID
        /// A key in a header, which the service remembers.
        case key
        /// A member of the record that carries the key.
        case marker(String)
        /// Nothing: after an answer that got lost, a row that looks the same is taken for it.
        case probe
    }

    /// Who gives a new row its id.
    public var ids: IDs
    /// How a store learns of deletions.
    public var deletions: Deletions
    /// What keeps a row that is created twice from being two.
    public var createIdempotency: CreateIdempotency
    /// Whether rows can be told apart by several values, of which an id is then a list.
    public var takesIDsOfParts: Bool
    /// Whether a change can be made to depend on the version that it was made on.
    public var hasPreconditions: Bool
    /// Whether records say when they were changed.
    public var givesTimes: Bool
    /// How many operations one request has at most.
    public var batchSize: Int
    /// Whether what a deletion takes along by the model's delete rules is deleted by this side.
    public var sendsCascades: Bool
    /// Whether the answer to a change has the whole record.
    public var answersRecords: Bool
    /// How many characters the id of a row has that is made here, of a to z and 0 to 9; nil for a UUID.
    public var idLength: Int?
    /// Whether one request has what changed of all entities, of one moment, with one cursor for all.
    public var pullsTogether: Bool
    /// Whether a push is done whole or not at all, is refused where something changed since the last pull, and does no harm when
    /// it is done once more.
    public var pushesTogether: Bool
    /// Whether a change is sent with the values of its row that stay as they are.
    public var sendsWholeRows: Bool
    /// Whether versions are ordered, as numbers that grow or as times: an older one than is known is of a replica that is behind.
    public var ordersVersions: Bool

    /// What a service is able to do.
    public init(
        ids: IDs, deletions: Deletions, createIdempotency: CreateIdempotency, hasPreconditions: Bool, givesTimes: Bool,
        batchSize: Int = 1, sendsCascades: Bool = false, answersRecords: Bool = true, takesIDsOfParts: Bool = false,
        idLength: Int? = nil, pullsTogether: Bool = false, pushesTogether: Bool = false, sendsWholeRows: Bool = false,
        ordersVersions: Bool = false
    ) {
        self.ids = ids
        self.deletions = deletions
        self.createIdempotency = createIdempotency
        self.hasPreconditions = hasPreconditions
        self.givesTimes = givesTimes
        self.batchSize = batchSize
        self.sendsCascades = sendsCascades
        self.answersRecords = answersRecords
        self.takesIDsOfParts = takesIDsOfParts
        self.idLength = idLength
        self.pullsTogether = pullsTogether
        self.pushesTogether = pushesTogether
        self.sendsWholeRows = sendsWholeRows
        self.ordersVersions = ordersVersions
    }
}

extension ServiceCapabilities {
    /// The member that carries the key of a new row; nil for a service that has another way, or none.
    var marker: String? { if case .marker(let name) = createIdempotency { name } else { nil } }
}
