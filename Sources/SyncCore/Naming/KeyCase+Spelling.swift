extension KeyCase {
    /// The key that a name becomes: `homeTown` → `home-town`. Underscores at the beginning stay.
    package func key(for name: String) -> String {
        switch self {
        case .exact: return name
        case .snake: return Inflection.snakeCase(name)
        case .kebab: return Self.joined(name, by: "-") { $1.lowercased() }
        case .camel: return Self.joined(name, by: "") { $0 == 0 ? Self.decapitalized($1) : Self.capitalized($1) }
        case .pascal: return Self.joined(name, by: "") { Self.capitalized($1) }
        }
    }

    private static func joined(_ name: String, by separator: String, _ word: (Int, String) -> String) -> String {
        let start = name.prefix { $0 == "_" }
        let words = Inflection.words(String(name.dropFirst(start.count)))
        return start + words.enumerated().map { word($0.offset, $0.element) }.joined(separator: separator)
    }

    private static func capitalized(_ word: String) -> String { word.prefix(1).uppercased() + word.dropFirst() }

    /// `URL` is one word, so all of it gets small letters.
    private static func decapitalized(_ word: String) -> String {
        let isShouted = word == word.uppercased()
        return isShouted ? word.lowercased() : word.prefix(1).lowercased() + word.dropFirst()
    }

    /// The name without what a rule does to its first letter: `Type` → `type`.
    func withoutCapital(_ key: String) -> String {
        self == .pascal ? key.prefix(1).lowercased() + key.dropFirst() : key
    }
}
