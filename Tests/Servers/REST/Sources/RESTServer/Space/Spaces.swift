/// The spaces by name; each is made when it is first asked for.
actor Spaces {
    /// Those that were asked for.
    private var spaces: [String: Space] = [:]

    /// The space of a name.
    subscript(name: String) -> Space {
        if let space = spaces[name] { return space }
        let space = Space()
        spaces[name] = space
        return space
    }
}
