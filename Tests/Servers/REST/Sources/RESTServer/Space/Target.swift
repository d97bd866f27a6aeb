/// What a path names: a collection, or a row of one.
enum Target: Equatable {
    /// A collection by its name, which may be two components.
    case list(String)
    /// A row by its collection and the text of its id.
    case row(String, key: String)

    /// Reads the components after the space, or is nil if there are too many.
    ///
    /// A collection has a second component if the first one is a version: `v2/tasks` is a collection, and
    /// `tasks/17` a row.
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

    /// Whether a component is one that only leads to others.
    private static func isVersion(_ name: String) -> Bool {
        name == "api" || name.wholeMatch(of: #/v[0-9.]+/#) != nil
    }
}
