/// An entity as the samples show it.
struct InferredEntity {
    var name: String
    /// What all its objects have in common, wherever they stood.
    var object: ObservedObject
    /// The JSON key of its primary key; nil for a keyless entity.
    var key: String?
    var keyType: AttributeType?
    var isRoot: Bool
    /// JSON key → the entity its objects are of.
    var destinations: [String: String]
}
