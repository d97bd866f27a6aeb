import Sync

/// A random model with names of one to three words, and records whose keys are in one case.
struct SpelledPayload {
    private static let words = [
        "first", "name", "home", "total", "user", "line", "unit", "price", "image", "shipping", "best", "x", "z2",
        "note",
    ]

    private let keys: KeyCase
    private var random: RandomNumbers
    private var attributes: [String] = []
    private var innerAttributes: [String] = []
    private var toOne = ""
    private var toMany = ""

    init(_ keys: KeyCase, seed: UInt64) {
        self.keys = keys
        random = RandomNumbers(seed: seed)
    }

    /// Returns a name in camel case that is not taken.
    private mutating func name(_ taken: [String], words: ClosedRange<Int>) -> String {
        while true {
            let count = Int.random(in: words, using: &random)
            let parts = (0..<count).map { _ in Self.words[Int.random(in: 0..<Self.words.count, using: &random)] }
            let name = parts[0] + parts.dropFirst().map { $0.prefix(1).uppercased() + $0.dropFirst() }.joined()
            // Consecutive capitals are one word, so `imageXX` is not `image_x_x`.
            let isSpelledBack = !zip(name, name.dropFirst()).contains { $0.isUppercase && $1.isUppercase }
            if isSpelledBack, !taken.contains(name) { return name }
        }
    }

    mutating func model() throws -> SyncModel {
        toOne = name([], words: 2...2)
        toMany = name([toOne], words: 2...2) + "Rows"
        // At least one name has two words, so that it shows the case.
        attributes = [name([toOne], words: 2...2)]
        for _ in 0..<Int.random(in: 0...4, using: &random) {
            attributes.append(name(attributes + [toOne], words: 1...3))
        }
        innerAttributes = []
        for _ in 0..<Int.random(in: 1...3, using: &random) {
            innerAttributes.append(name(innerAttributes, words: 1...3))
        }
        let inner = innerAttributes.map { SyncModel.Attribute($0, .string) }
        return try SyncModel(
            entities: [
                SyncModel.Entity(
                    "Order",
                    attributes: [SyncModel.Attribute("id", .integer)]
                        + attributes.map { SyncModel.Attribute($0, .string) },
                    relationships: [
                        SyncModel.Relationship(toOne, to: "Place"),
                        SyncModel.Relationship(toMany, to: "Line", many: true),
                    ]),
                SyncModel.Entity("Place", attributes: [SyncModel.Attribute("id", .integer)] + inner),
                SyncModel.Entity("Line", attributes: [SyncModel.Attribute("id", .integer)] + inner),
            ], keyCase: keys)
    }

    mutating func records() -> [JSONValue] {
        (1...3).map { id in
            let inner = object(id: id, innerAttributes)
            guard case .object(let members) = object(id: id, attributes) else { return .null }
            return .object(
                members + [
                    .init(keys.word(for: toOne), inner),
                    .init(keys.word(for: toMany), .array([object(id: id + 10, innerAttributes)])),
                ])
        }
    }

    private func object(id: Int, _ attributes: [String]) -> JSONValue {
        .object(
            [.init(keys.word(for: "id"), JSONValue(Int64(id)))]
                + attributes.map { .init(keys.word(for: $0), .string("v\(id)")) })
    }
}

extension KeyCase {
    /// Returns a camel case name in this case. The code is independent of the library's.
    fileprivate func word(for name: String) -> String {
        let words = name.reduce(into: [""]) { words, letter in
            if letter.isUppercase { words.append("") }
            words[words.count - 1].append(letter)
        }
        switch self {
        case .snake: return words.joined(separator: "_").lowercased()
        case .kebab: return words.joined(separator: "-").lowercased()
        case .camel, .exact: return name
        case .pascal: return words.map { $0.prefix(1).uppercased() + $0.dropFirst() }.joined()
        }
    }
}
