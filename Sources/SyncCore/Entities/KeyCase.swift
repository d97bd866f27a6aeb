/// The spelling of JSON keys.
///
/// In a model, attributes and relationships are read and exported in this spelling (`"keys": "kebab-case"`).
/// ``ExportOptions/keyCase`` overrides it for exports.
public enum KeyCase: String, Sendable, Hashable, CaseIterable, Codable {
    /// `first_name`, `user_id`. The default of exports.
    case snake
    /// `firstName`. Capitals inside a name stay: exports write `userID` and `userId` unchanged.
    case camel
    /// `FirstName`, `Id`, `UserId`.
    case pascal
    /// `first-name`, `user-id`.
    case kebab
    /// Each key is the name itself. No other spelling is read.
    case exact

    /// The name of the spelling in schema files: `snake_case`, `camelCase`, `PascalCase`, `kebab-case` or `exact`.
    package var word: String {
        switch self {
        case .snake: "snake_case"
        case .camel: "camelCase"
        case .pascal: "PascalCase"
        case .kebab: "kebab-case"
        case .exact: "exact"
        }
    }

    /// Returns the message for an unknown spelling in a model.
    package static func problem(with word: String) -> String {
        "unknown key case '\(word)'; use one of \(allCases.map(\.word).joined(separator: ", "))"
    }

    /// Creates the spelling with this name in schema files; nil if there is none.
    package init?(word: String) {
        guard let found = Self.allCases.first(where: { $0.word == word }) else { return nil }
        self = found
    }
}

/// The key rules of a model, which apply to all its entities.
package struct KeyRules: Sendable, Hashable {
    /// The spelling of keys. If it is nil, several spellings are read, and exports write snake_case.
    package var keys: KeyCase?
    /// The patterns of ignored keys.
    package var ignore: [String]

    package init(keys: KeyCase? = nil, ignore: [String] = []) {
        self.keys = keys
        self.ignore = ignore
    }
}
