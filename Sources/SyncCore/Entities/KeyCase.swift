/// The spelling of JSON keys.
///
/// The spelling that a model or entity sets applies to syncs and exports. For one export, a spelling in
/// ``ExportOptions`` overrides the spellings of the model and the entities. A spelling does not change remote keys.
public enum KeyCase: String, Sendable, Hashable, CaseIterable, Codable {
    /// `first_name`, `user_id`. This is the default of exports.
    case snake
    /// `firstName`. Capitals inside a name stay: exports write `userID` and `userId` unchanged.
    case camel
    /// `FirstName`, `Id`, `UserId`.
    case pascal
    /// `first-name`, `user-id`.
    case kebab
    /// The name of the attribute or relationship, unchanged. Syncs accept no other spelling of the name. A key for the
    /// IDs of a relationship can also have a suffix such as `_id`.
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

    /// Creates a spelling from a name in schema files, or returns nil if the name is unknown.
    package init?(word: String) {
        guard let found = Self.allCases.first(where: { $0.word == word }) else { return nil }
        self = found
    }
}

/// The key rules of a model, which apply to all its entities.
package struct KeyRules: Sendable, Hashable {
    /// The spelling of keys, for entities that declare no spelling. If the value is nil, syncs read several spellings,
    /// and exports write snake_case.
    package var keyCase: KeyCase?
    /// The patterns of ignored keys.
    package var ignoredKeys: [String] = []
}
