/// The attribute or relationship whose name is most like a key.
enum NearestName {
    /// Nil if none is like it.
    static func of(_ key: String, in entity: CompiledEntity, of model: CompiledModel) -> String? {
        let last = key.split(separator: ".").last.map(String.init) ?? key
        let snake = Array(Inflection.snakeCase(last))
        let names = entity.slots.map { model.trees[entity.tree].attributes[$0].name } + entity.relationships.map(\.name)
        let ranked = names.map { (name: $0, distance: distance(snake, Array(Inflection.snakeCase($0)))) }
        guard let best = ranked.min(by: { $0.distance < $1.distance }) else { return nil }
        return best.distance <= max(1, snake.count / 3) ? best.name : nil
    }

    /// How many characters must be put in, taken out or replaced to make one of the other.
    private static func distance(_ left: [Character], _ right: [Character]) -> Int {
        var row = Array(0...right.count)
        for (index, character) in left.enumerated() {
            var diagonal = row[0]
            row[0] = index + 1
            for (column, other) in right.enumerated() {
                let replaced = diagonal + (character == other ? 0 : 1)
                diagonal = row[column + 1]
                row[column + 1] = min(replaced, row[column] + 1, diagonal + 1)
            }
        }
        return row[right.count]
    }
}
