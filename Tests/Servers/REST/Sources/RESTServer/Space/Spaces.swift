/// The spaces by name. A space is created with the first request for it.
actor Spaces {
    /// The spaces so far.
    private var spaces: [String: Space] = [:]

    /// The space with a name.
    subscript(name: String) -> Space {
        if let space = spaces[name] { return space }
        let space = Space()
        spaces[name] = space
        return space
    }
}
