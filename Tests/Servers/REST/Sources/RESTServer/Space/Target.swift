/// The target of a path: a collection, or one of its rows.
enum Target: Equatable {
    /// A collection by name, which may have two components.
    case list(String)
    /// A row by its collection and the text of its ID.
    case row(String, key: String)

    /// Parses the components after the space. Returns nil if there are too many.
    ///
    /// A collection has two components if the first is a version: `v2/tasks` is a collection, and `tasks/17` is a row.
    init?(_ components: some Collection<String>) {
        var rest = components[...]
        guard var name = rest.popFirst() else { return nil }
        if Self.isVersion(name), let second = rest.popFirst() { name += "/\(second)" }
        switch (rest.popFirst(), rest.isEmpty) {
        case (nil, _): self = .list(name)
        case (let key?, true): self = .row(name, key: key)
        default: return nil
        }
    }

    /// Returns whether a component is a version or `api`.
    private static func isVersion(_ name: String) -> Bool {
        name == "api" || name.wholeMatch(of: #/v[0-9.]+/#) != nil
    }
}
