import SyncCore

/// Finds the attribute or relationship whose name is most like a key.
struct NearestName {
    /// A name is not compared with longer keys.
    private static let maximumLength = 200

    private let model: CompiledModel
    /// How many pairs of characters are compared at most: enough for hundreds of keys of a wide entity. Nobody reads more
    /// suggestions, and for thousands of keys and names they would take longer than all else.
    private var budget = 20_000_000
    private var candidates: [Int: [(name: String, characters: [Character])]] = [:]

    init(_ model: CompiledModel) { self.model = model }

    /// Nil if none is like it.
    mutating func name(like key: String, in entity: CompiledEntity) -> String? {
        let last = key.split(separator: ".").last.map(String.init) ?? key
        guard budget > 0, last.utf8.count <= Self.maximumLength else { return nil }
        let characters = Array(Inflection.snakeCase(last))
        var tolerance = max(1, characters.count / 3)
        var nearest: String?
        for candidate in candidates(entity) where abs(candidate.characters.count - characters.count) <= tolerance {
            budget -= characters.count * candidate.characters.count
            guard budget > 0 else { return nil }
            let distance = SimilarName.distance(characters, candidate.characters)
            guard distance <= tolerance else { continue }
            nearest = candidate.name
            tolerance = distance - 1
            if distance == 0 { break }
        }
        return nearest
    }

    private mutating func candidates(_ entity: CompiledEntity) -> [(name: String, characters: [Character])] {
        if let known = candidates[entity.id] { return known }
        let names = entity.slots.map { model[entity.table].attributes[$0].name } + entity.relationships.map(\.name)
        let found = names.map { ($0, Array(Inflection.snakeCase($0))) }
        candidates[entity.id] = found
        return found
    }
}
