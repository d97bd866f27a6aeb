/// The keys of an entity's records that nothing is wanted of, as patterns: `*` stands for any text, `?` for one character.
///
/// A pattern without a dot is about a key wherever it stands in the record, one with dots about the path from the record:
/// `meta.*` is what stands in `meta`, and `meta` itself where nothing is read from it.
package struct IgnoredKeys: Sendable {
    /// Without wildcards and dots: that very key.
    private let names: Set<String>
    private let patterns: [WildcardPattern]
    private let paths: [[WildcardPattern]]

    package init(_ texts: [String]) {
        var names: Set<String> = []
        var patterns: [WildcardPattern] = []
        var paths: [[WildcardPattern]] = []
        for text in texts {
            let parts = text.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
            if parts.count > 1 {
                paths.append(parts.map(WildcardPattern.init))
                if parts.last == "*" { paths.append(parts.dropLast().map(WildcardPattern.init)) }
            } else if text.contains(where: { "*?\\".contains($0) }) {
                patterns.append(WildcardPattern(text))
            } else {
                names.insert(text)
            }
        }
        self.names = names
        self.patterns = patterns
        self.paths = paths
    }

    package var isEmpty: Bool { names.isEmpty && patterns.isEmpty && paths.isEmpty }

    /// Whether a key is named without wildcards: then it is ignored also where only a loose spelling leads to an attribute.
    func names(_ key: String) -> Bool { !names.isEmpty && names.contains(key) }

    /// Whether nothing is wanted of a key at the end of a path.
    package func contains(_ key: String, path: [String] = []) -> Bool {
        if isEmpty { return false }
        if names.contains(key) || patterns.contains(where: { $0.matches(key) }) { return true }
        guard !paths.isEmpty else { return false }
        let full = path.flatMap { Self.parts($0) } + Self.parts(key)
        return paths.contains { $0.count == full.count && zip($0, full).allSatisfy { $0.matches($1) } }
    }

    private static func parts(_ key: String) -> [String] {
        key.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
    }

    /// What is wrong with a pattern; nil if nothing is.
    static func problem(with pattern: String) -> String? {
        if pattern.isEmpty { return "a pattern must not be empty" }
        let parts = parts(pattern)
        return parts.contains("") ? "'\(pattern)' has a dot without a key before or after it" : nil
    }
}
