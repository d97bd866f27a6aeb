/// The spelling of JSON keys.
///
/// The key case of a model applies to syncs and exports. The key case of ``ExportOptions`` overrides it for one export.
public enum KeyCase: String, Sendable, Hashable, CaseIterable, Codable {
    /// `first_name`, `user_id`. Exports use it by default.
    case snake
    /// `firstName`. Capitals inside a name stay: exports write `userID` and `userId` unchanged.
    case camel
    /// `FirstName`, `Id`, `UserId`.
    case pascal
    /// `first-name`, `user-id`.
    case kebab
    /// The name of the attribute or relationship, unchanged. Syncs read no other spelling.
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

    /// Creates a spelling from its name in schema files; nil if the name is unknown.
    package init?(word: String) {
        guard let found = Self.allCases.first(where: { $0.word == word }) else { return nil }
        self = found
    }
}

/// The key rules of a model, which apply to all its entities.
package struct KeyRules: Sendable, Hashable {
    /// The spelling of keys, for entities that declare none. If it is nil, syncs read several spellings, and exports
    /// write snake_case.
    package var keyCase: KeyCase?
    /// The patterns of ignored keys.
    package var ignoredKeys: [String]

    package init(keyCase: KeyCase? = nil, ignoredKeys: [String] = []) {
        self.keyCase = keyCase
        self.ignoredKeys = ignoredKeys
    }
}
