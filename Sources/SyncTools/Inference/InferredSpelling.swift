import SyncCore

/// How a service spells its keys: as most of those do that show it.
struct InferredSpelling {
    /// That of the model; nil for snake_case, which is what nothing said means, and where no key shows any.
    let ofModel: KeyCase?
    /// Those of entities that differ from it.
    private let own: [String: KeyCase]

    init(of entities: [InferredEntity]) {
        let votes = entities.map { Self.votes($0.object.keys) }
        let common = Self.winner(votes.reduce(into: [:]) { $0.merge($1, uniquingKeysWith: +) }) ?? .snake
        let winners = zip(entities, votes).compactMap { entity, votes in Self.winner(votes).map { (entity.name, $0) } }
        own = Dictionary(winners.filter { $0.1 != common }) { first, _ in first }
        ofModel = common == .snake ? nil : common
    }

    /// That of an entity, where it is not the model's.
    func own(_ entity: String) -> KeyCase? { own[entity] }

    private static func votes(_ keys: [String]) -> [KeyCase: Int] {
        Dictionary(keys.compactMap(spelling).map { ($0, 1) }, uniquingKeysWith: +)
    }

    /// Nil if none has the most votes.
    private static func winner(_ votes: [KeyCase: Int]) -> KeyCase? {
        let most = votes.values.max() ?? 0
        let found = votes.filter { $0.value == most }
        return found.count == 1 ? found.first?.key : nil
    }

    /// The spelling that a key shows; nil if it fits several, as one small word does, or none.
    static func spelling(_ key: String) -> KeyCase? {
        guard let first = key.first, first.isLetter, key.allSatisfy({ $0.isLetter || $0.isNumber || "_-".contains($0) })
        else { return nil }
        let hasCapitals = key.contains(where: \.isUppercase)
        switch (key.contains("_"), key.contains("-"), hasCapitals) {
        case (true, false, false): return .snake
        case (false, true, false): return .kebab
        case (false, false, true) where first.isLowercase: return .camel
        // One letter, or one word in capitals, may be anything.
        case (false, false, true) where key.contains(where: \.isLowercase): return .pascal
        default: return nil
        }
    }
}
