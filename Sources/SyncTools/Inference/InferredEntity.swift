import SyncCore

/// An entity as the samples show it.
struct InferredEntity {
    var name: String
    /// What all its objects have in common, wherever they stood.
    var object: ObservedObject
    /// The JSON keys of its primary key; none for a keyless entity.
    var key: [String]
    /// The type of a key of one part.
    var keyType: AttributeType?
    var isRoot: Bool
    /// JSON key → the entity its objects are of.
    var destinations: [String: String]
    /// The keys of objects that hold their records by name.
    var keyed: Set<String> = []
    /// The attribute for the names under which its records stand; nil if they stand under none.
    var nameOfNames: String?
    /// The keys that nothing can be read from.
    var unreadable: Set<String> = []
    /// What JSON:API calls its resources.
    var resourceType: String?
}
