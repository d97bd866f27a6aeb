/// What was guessed about a part of a model, and on how much evidence.
public struct InferenceRemark: Sendable, Hashable, Codable, CustomStringConvertible {
    /// The entity or its member: `User`, `User.age`.
    public var place: String
    /// The guess and its grounds: `integer: 120 values, 3 null`.
    public var message: String

    /// Whether it is about what the key is, which decides what is one row.
    package private(set) var isAboutKey = false

    /// A guess about a part of the model.
    public init(_ place: String, _ message: String) {
        self.place = place
        self.message = message
    }

    init(key guess: String, of entity: String) {
        self.init(entity, "the key is \(guess)")
        isAboutKey = true
    }

    /// `User.age: integer: 120 values, 3 null`
    public var description: String { "\(place): \(message)" }
}
