/// How exported keys are spelled.
public enum KeyCase: String, Sendable, Hashable, CaseIterable, Codable {
    /// `first_name`
    case snake
    /// `firstName`
    case camel
}
