import SyncCore

/// Names that JSON keys give to what they point at.
enum InferredNames {
    /// What a key that holds ids calls its target: `company_id` → `company`, `tagIds` → `tag`. Nil for other keys.
    static func target(ofIDKey key: String) -> (name: String, isList: Bool)? {
        let snake = Inflection.snakeCase(key).replacing("-", with: "_")
        for (ending, isList) in [("_ids", true), ("_id", false)] where snake.hasSuffix(ending) {
            let name = String(snake.dropLast(ending.count))
            return name.isEmpty ? nil : (isList ? Inflection.singular(name) : name, isList)
        }
        return nil
    }
}

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

/// Finds entities that are one under several names, each compared only with those that have an equal row.
struct DuplicateEntityFinder {
    /// What twins have in common.
    private struct Shape: Hashable {
        let key: [String]
        let keys: Set<String>
    }

    private struct Row: Hashable {
        let shape: Int
        let id: String
        let scalars: [String: JSONValue]
    }

    private struct Entity {
        let name: String
        var rows: [String: [String: JSONValue]]
    }

    /// Entity → the earlier one that it is.
    private(set) var unified: [String: String] = [:]
    private var entities: [Entity] = []
    private var shapes: [Shape: Int] = [:]
    /// By row: the entities that have it.
    private var owners: [Row: [Int]] = [:]

    /// Compares an entity with those before it. A root has its name from the caller and is nobody's twin, but others may
    /// be its.
    mutating func add(_ name: String, _ object: ObservedObject, key: [String], isRoot: Bool) {
        let shape = Shape(key: key, keys: Set(object.keys))
        let scalars = object.things.scalars
        let number = shapes[shape] ?? shapes.count
        shapes[shape] = number
        // A row with nothing but its id proves nothing.
        let rows = scalars.filter { $0.value.count > 1 }
            .map { Row(shape: number, id: $0.key, scalars: $0.value) }
        let candidates = isRoot ? [] : Set(rows.flatMap { owners[$0] ?? [] })
        let twin = candidates.sorted().first { Self.agree(entities[$0].rows, scalars) }
        let place = twin ?? entities.count
        if let twin {
            unified[name] = entities[twin].name
            entities[twin].rows.merge(scalars) { known, _ in known }
        } else {
            entities.append(Entity(name: name, rows: scalars))
        }
        for row in rows where owners[row]?.last != place { owners[row, default: []].append(place) }
    }

    /// Whether all rows of the same id are equal.
    private static func agree(
        _ known: [String: [String: JSONValue]], _ other: [String: [String: JSONValue]]
    ) -> Bool {
        let (small, large) = known.count < other.count ? (known, other) : (other, known)
        return small.allSatisfy { id, scalars in large[id].map { $0 == scalars } ?? true }
    }
}

/// Decides which lists are one-to-many and gives them a way back.
///
/// A list is one-to-many only if no row is listed by two owners and either the rows themselves name their owner or there
/// are many of both; and all lists are of objects. Any other list stays many-to-many, which never deletes rows: a few
/// lists that happen to have nothing in common are no proof.
enum InferredInverses {
    /// So many owners and rows, none of them shared, are taken for proof.
    private static let (provingOwners, provingRows) = (5, 20)

    static func complete(_ drafts: inout [EntityDraft]) {
        let places = Dictionary(
            drafts.enumerated().map { ($1.entity.name, $0) }, uniquingKeysWith: { first, _ in first })
        for owner in drafts.indices {
            let lists = drafts[owner].members.filter { $0.member.value.objectLists > 0 }
            for (name, member) in lists {
                guard case .link(let target, true, false) = member.kind,
                    let child = places[target]
                else { continue }
                guard !drafts[child].isKeyless else { continue }
                let place = "\(drafts[owner].entity.name).\(name)"
                // If it is free, and named after the owner.
                let ownerName = drafts[owner].entity.name
                let back = drafts[child].wayBack(to: ownerName, names: [ownerName, "parent"])
                let owners = Set(member.value.owners.values).count
                let rows = member.value.owners.count
                let isProven = owners >= provingOwners && rows >= provingRows
                let isOwned = !member.value.isShared && (back != nil || isProven)
                let isMixed = drafts[owner].keys[name, default: []].count > 1
                guard isOwned, !isMixed else {
                    let reason =
                        member.value.isShared
                        ? "some rows are listed twice"
                        : isMixed ? "some lists are of ids" : "\(rows) rows of \(owners) owners are no proof of more"
                    drafts[owner].notes.append(.init(place, "many-to-many: \(reason); nothing is deleted"))
                    continue
                }
                let wish = owner == child ? "parent" : lowercasedFirst(drafts[owner].entity.name)
                let inverse =
                    back ?? drafts[child].addInverse(wish, to: drafts[owner].entity.name, inverse: name)
                drafts[child].setInverse(of: inverse, to: name)
                drafts[owner].setInverse(of: name, to: inverse)
                drafts[owner].notes.append(
                    .init(
                        place,
                        "one-to-many: none of \(member.value.owners.count) rows is listed by two of \(owners) owners; "
                            + "a row that its owner's list leaves out is deleted"))
            }
        }
    }

    private static func lowercasedFirst(_ name: String) -> String { name.prefix(1).lowercased() + name.dropFirst() }
}

/// Gives out names that are unique without regard to case.
struct UniqueNames {
    private var taken: Set<String>
    /// By name: the number to go on with.
    private var numbers: [String: Int] = [:]

    init(_ taken: some Sequence<String> = []) { self.taken = Set(taken.map { $0.lowercased() }) }

    /// A name that no other has: `name`, else `name2`, `name3` …
    mutating func take(_ name: String) -> String {
        let folded = name.lowercased()
        if taken.insert(folded).inserted { return name }
        var number = numbers[folded] ?? 2
        while !taken.insert("\(folded)\(number)").inserted { number += 1 }
        numbers[folded] = number + 1
        return "\(name)\(number)"
    }
}

/// Text as a shell takes it for one word: what errors suggest is copied.
package enum ShellWord {
    /// - Parameter plain: What needs no quotes besides letters, digits, dots, hyphens and underscores.
    package static func quoted(_ text: String, keeping plain: String = "") -> String {
        let isPlain = text.utf8.allSatisfy { byte in
            byte >= 0x80 || "._-\(plain)".utf8.contains(byte) || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
                || (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20)
        }
        return isPlain ? text : "'\(text.replacing("'", with: "'\\''"))'"
    }
}
