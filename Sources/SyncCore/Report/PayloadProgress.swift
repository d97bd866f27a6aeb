/// How far the sync of one payload is. See ``SyncOptions/progress``.
public struct PayloadProgress: Sendable, Hashable {
    /// What a sync does, in this order.
    public enum Phase: String, Sendable, Hashable, CaseIterable {
        /// Reads the JSON and maps it to rows; counted in bytes, or in records of a payload of values.
        case mapping
        /// Compares with what is stored; counted in rows and links.
        case comparing
        /// Writes the differences, deletions last; counted in rows and links.
        case writing
    }

    /// What the sync is doing.
    public var phase: Phase
    /// How much of it is done.
    public var completed: Int
    /// How much there is to do; nil if that is not known, as of comparing, and of deleting, which comes after the rest
    /// is written.
    public var total: Int?

    /// A point in a sync.
    public init(_ phase: Phase, completed: Int, total: Int? = nil) {
        self.phase = phase
        self.completed = completed
        self.total = total
    }
}
