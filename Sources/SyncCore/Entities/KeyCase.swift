/// How the keys of JSON are spelled: what a service makes of the words of a name.
///
/// In a model it is the rule by which attributes and relationships are read and exported (`"keys": "kebab-case"`), in
/// ``ExportOptions`` it overrides that.
public enum KeyCase: String, Sendable, Hashable, CaseIterable, Codable {
    /// `first_name`, `user_id`: what is exported where nobody says otherwise.
    case snake
    /// `firstName`; capitals inside a name stay: `userID` and `userId` are exported as they are.
    case camel
    /// `FirstName`, `Id`, `UserId`.
    case pascal
    /// `first-name`, `user-id`.
    case kebab
    /// Each key is the name itself; no other spelling is read.
    case exact

    /// What a schema file calls it: `snake_case`, `camelCase`, `PascalCase`, `kebab-case` or `exact`.
    public var word: String {
        switch self {
        case .snake: "snake_case"
        case .camel: "camelCase"
        case .pascal: "PascalCase"
        case .kebab: "kebab-case"
        case .exact: "exact"
        }
    }

    /// What is wrong with a word that is none of these.
    package static func problem(with word: String) -> String {
        "unknown spelling '\(word)'; known are \(allCases.map(\.word).joined(separator: ", "))"
    }

    /// The spelling that a schema file calls so.
    public init?(word: String) {
        guard let found = Self.allCases.first(where: { $0.word == word }) else { return nil }
        self = found
    }
}

/// What a model says about the keys of all its entities.
package struct KeyRules: Sendable, Hashable {
    /// How they are spelled; nil for names as they come, and snake_case in exports.
    package var keys: KeyCase?
    /// Patterns of those that nothing is wanted of.
    package var ignore: [String]

    package init(keys: KeyCase? = nil, ignore: [String] = []) {
        self.keys = keys
        self.ignore = ignore
    }
}
