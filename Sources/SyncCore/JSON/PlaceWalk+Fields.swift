extension PlaceWalk {
    /// The fields that have lists: of a connection the field, not what is in it.
    package static func fields(_ paths: [[String]]) -> [[String]] {
        paths.reduce(into: []) { fields, path in
            let field = ["nodes", "edges"].contains(path.last) && path.count > 1 ? path.dropLast() : path
            if !fields.contains(field) { fields.append(field) }
        }
    }
}
