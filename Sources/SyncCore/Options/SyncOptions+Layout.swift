extension SyncOptions {
    /// - Throws: ``SyncError`` `invalidOption` for what contradicts the form of the payload.
    package func checkLayout() throws {
        try checkKeyPath()
        if keyedBy != nil {
            guard form == .json, entities.isEmpty else {
                throw SyncError(
                    .invalidOption, "records are keyed by their names in plain JSON of one entity only")
            }
        }
        guard !entities.isEmpty else { return }
        guard form == .json else {
            throw SyncError(.invalidOption, "a payload of several entities is plain JSON, not \(form.rawValue)")
        }
        for list in entities where list.path.contains(where: \.isEmpty) {
            throw SyncError(.invalidOption, "'\(list.path.joined(separator: "."))' is no path of keys")
        }
        for (index, list) in entities.enumerated() {
            for other in entities[..<index]
            where list.path.starts(with: other.path) || other.path.starts(with: list.path) {
                let names = [other, list].map { "'\($0.path.joined(separator: "."))'" }.joined(separator: " and ")
                throw SyncError(.invalidOption, "the lists \(names) are in each other")
            }
        }
    }
}
