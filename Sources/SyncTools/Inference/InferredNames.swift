import SyncCore

/// The names of the rows that JSON keys reference.
enum InferredNames {
    /// Returns the name of the rows that a key with IDs references: `company` for `company_id`, `tag` for `tagIds`.
    /// Returns nil for other keys.
    static func target(ofIDKey key: String) -> (name: String, isList: Bool)? {
        let snake = Inflection.snakeCase(key).replacing("-", with: "_")
        for (ending, isList) in [("_ids", true), ("_id", false)] where snake.hasSuffix(ending) {
            let name = String(snake.dropLast(ending.count))
            return name.isEmpty ? nil : (isList ? Inflection.singular(name) : name, isList)
        }
        return nil
    }
}

/// The key cases of samples: the most frequent case of all keys, and of the keys of each entity.
struct InferredSpelling {
    /// The key case of the model; nil for snake_case, the default, and if no case is the most frequent.
    let ofModel: KeyCase?
    /// The key cases of entities that differ from the model.
    private let own: [String: KeyCase]

    init(of entities: [InferredEntity]) {
        let votes = entities.map { Self.votes($0.object.keys) }
        let common = Self.winner(votes.reduce(into: [:]) { $0.merge($1, uniquingKeysWith: +) }) ?? .snake
        let winners = zip(entities, votes).compactMap { entity, votes in Self.winner(votes).map { (entity.name, $0) } }
        own = Dictionary(winners.filter { $0.1 != common }) { first, _ in first }
        ofModel = common == .snake ? nil : common
    }

    /// Returns the key case of an entity; nil if it is that of the model.
    func own(_ entity: String) -> KeyCase? { own[entity] }

    private static func votes(_ keys: [String]) -> [KeyCase: Int] {
        Dictionary(keys.compactMap(spelling).map { ($0, 1) }, uniquingKeysWith: +)
    }

    /// Returns the case with the most votes; nil for a tie or without votes.
    private static func winner(_ votes: [KeyCase: Int]) -> KeyCase? {
        let most = votes.values.max() ?? 0
        let found = votes.filter { $0.value == most }
        return found.count == 1 ? found.first?.key : nil
    }

    /// Returns the case of a key; nil if it fits several cases, such as one word in lower case, or none.
    static func spelling(_ key: String) -> KeyCase? {
        guard let first = key.first, first.isLetter, key.allSatisfy({ $0.isLetter || $0.isNumber || "_-".contains($0) })
        else { return nil }
        let hasCapitals = key.contains(where: \.isUppercase)
        switch (key.contains("_"), key.contains("-"), hasCapitals) {
        case (true, false, false): return .snake
        case (false, true, false): return .kebab
        case (false, false, true) where first.isLowercase: return .camel
        // One letter, or one word in capitals, fits several cases.
        case (false, false, true) where key.contains(where: \.isLowercase): return .pascal
        default: return nil
        }
    }
}

/// A finder of entities that occur under different names. It compares only entities that share an equal row.
struct DuplicateEntityFinder {
    /// The primary key and all keys of an entity. Duplicate entities have the same shape.
    private struct Shape: Hashable {
        let key: [String]
        let keys: Set<String>
    }

    private struct Row: Hashable {
        let shape: Int
        let id: PrimaryKeyValue
        let scalars: [String: JSONValue]
    }

    private struct Entity {
        let name: String
        var rows: [PrimaryKeyValue: [String: JSONValue]]
    }

    /// The earlier entity that an entity duplicates, by entity.
    private(set) var unified: [String: String] = [:]
    private var entities: [Entity] = []
    private var shapes: [Shape: Int] = [:]
    /// The indexes of the entities that have a row, by row.
    private var owners: [Row: [Int]] = [:]

    /// Adds an entity and compares it with earlier ones. A root entity is never a duplicate, because the caller names
    /// it. Other entities may be duplicates of a root entity.
    mutating func add(_ name: String, _ object: ObservedObject, key: [String], isRoot: Bool) {
        let shape = Shape(key: key, keys: Set(object.keys))
        let scalars = object.things.scalars
        let number = shapes[shape] ?? shapes.count
        shapes[shape] = number
        // A row with only an ID proves nothing.
        let rows = scalars.filter { $0.value.count > 1 }
            .map { Row(shape: number, id: $0.key, scalars: $0.value) }
        let candidates = isRoot ? [] : Set(rows.flatMap { owners[$0] ?? [] })
        let duplicate = candidates.sorted().first { Self.agree(entities[$0].rows, scalars) }
        let place = duplicate ?? entities.count
        if let duplicate {
            unified[name] = entities[duplicate].name
            entities[duplicate].rows.merge(scalars) { known, _ in known }
        } else {
            entities.append(Entity(name: name, rows: scalars))
        }
        for row in rows where owners[row]?.last != place { owners[row, default: []].append(place) }
    }

    /// Returns whether all rows with the same ID have equal scalar members.
    private static func agree(
        _ known: [PrimaryKeyValue: [String: JSONValue]], _ other: [PrimaryKeyValue: [String: JSONValue]]
    ) -> Bool {
        let (small, large) = known.count < other.count ? (known, other) : (other, known)
        return small.allSatisfy { id, scalars in large[id].map { $0 == scalars } ?? true }
    }
}

/// The rules that decide which lists are one-to-many, and that add the inverses of these lists.
///
/// A list is one-to-many if no row is in the lists of two owners and all lists consist of objects. In addition, the
/// rows must have a relationship to their owner, or there must be many owners and rows. Other lists stay many-to-many,
/// because a few disjoint lists prove nothing. A sync deletes no row because a many-to-many list omits it.
enum InferredInverses {
    /// The numbers of owners and rows that prove a one-to-many list, if no row is shared.
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
                // A relationship named after the owner or `parent` can be the inverse, if it has no inverse yet.
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
                        ? "some rows are listed by several owners"
                        : isMixed
                            ? "some lists contain IDs"
                            : "\(rows) rows of \(owners) owners do not suffice to infer one-to-many"
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
                            + "a row that its owner's list omits is deleted"))
            }
        }
    }

    private static func lowercasedFirst(_ name: String) -> String { name.prefix(1).lowercased() + name.dropFirst() }
}

/// A set of names that are unique, ignoring case.
struct UniqueNames {
    private var used: Set<String>
    /// The next number to append to a name, by lowercased name.
    private var numbers: [String: Int] = [:]

    init(_ taken: some Sequence<String> = []) { self.used = Set(taken.map { $0.lowercased() }) }

    /// Returns a unique name: `name`, or else `name2`, `name3` …
    mutating func reserve(_ name: String) -> String {
        let folded = name.lowercased()
        if used.insert(folded).inserted { return name }
        var number = numbers[folded] ?? 2
        while !used.insert("\(folded)\(number)").inserted { number += 1 }
        numbers[folded] = number + 1
        return "\(name)\(number)"
    }
}

/// Quoting of text as one word of a shell command. Errors that suggest a command use it.
package enum ShellWord {
    /// Returns text as one word, in quotes if needed.
    ///
    /// - Parameter plain: Characters that need no quotes, in addition to letters, digits, dots, hyphens, underscores
    ///   and non-ASCII characters.
    package static func quoted(_ text: String, keeping plain: String = "") -> String {
        let isPlain = text.utf8.allSatisfy { byte in
            byte >= 0x80 || "._-\(plain)".utf8.contains(byte) || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
                || (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20)
        }
        return isPlain ? text : "'\(text.replacing("'", with: "'\\''"))'"
    }
}
