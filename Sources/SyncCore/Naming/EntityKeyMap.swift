/// Which JSON keys the attributes and relationships of an entity are read from, worked out once, so that a key is looked
/// up and not compared with every name.
package final class EntityKeyMap: Sendable {
    /// A relationship that is read from a key.
    package struct RelationshipKey {
        /// Its position in the entity.
        package let index: Int
        let strength: Int
        /// Whether only ids may stand under the key.
        let isForIDs: Bool
    }

    /// A name as the last rule compares it.
    private struct Spelling: Hashable {
        let snake: String
        let lowercased: String
    }

    /// Dotted remote keys lead no deeper: JSON does not either.
    private static let maximumDepth = 512

    private let slots: [Int]
    /// How keys are spelled, if the model says, and which of them nothing is wanted of.
    let keys: KeyCase?
    let ignored: IgnoredKeys
    private let byRule: [String: Int]
    private let lineage: [String]
    // Attributes by their position in the entity; the first where several have a name.
    private let byRemoteKey: [String: [Int]]
    private let byName: [String: Int]
    private let bySnakeCase: [String: Int]
    private let bySpelling: [Spelling: Int]
    private let lowercased: Set<String>
    private let longestName: Int
    private let id: Int?
    private let relationshipKeys: [String: [RelationshipKey]]
    /// The path of an object that dotted remote keys walk into → the attributes that are filled from inside it.
    private let paths: [String: [Int]]

    /// The names of attributes, which have slots, and of relationships of an entity with these ancestors.
    package init(
        _ attributes: [(slot: Int, attribute: SyncModel.Attribute)], _ relationships: [SyncModel.Relationship],
        lineage: [String],
        keys: KeyCase? = nil, ignored: IgnoredKeys = IgnoredKeys([])
    ) {
        var byRule: [String: Int] = [:]
        var byRemoteKey: [String: [Int]] = [:]
        var byName: [String: Int] = [:]
        var bySnakeCase: [String: Int] = [:]
        var bySpelling: [Spelling: Int] = [:]
        var paths: [String: [Int]] = [:]
        var id: Int?
        for (position, (slot, attribute)) in attributes.enumerated() {
            let snake = Inflection.snakeCase(attribute.name)
            if let key = attribute.remoteKey {
                let keys = RemoteKeyPath.keys(key)
                byRemoteKey[RemoteKeyPath.text(keys), default: []].append(position)
                for path in Self.paths(into: keys) { paths[path, default: []].append(slot) }
            }
            byName[attribute.name] = byName[attribute.name] ?? position
            bySnakeCase[snake] = bySnakeCase[snake] ?? position
            if let key = keys?.key(for: attribute.name) { byRule[key] = byRule[key] ?? position }
            let spelling = Spelling(snake: snake, lowercased: attribute.name.lowercased())
            bySpelling[spelling] = bySpelling[spelling] ?? position
            if id == nil, AttributeNaming.isID(attribute.name) { id = position }
        }
        var relationshipKeys: [String: [RelationshipKey]] = [:]
        for (index, relationship) in relationships.enumerated() {
            for key in Self.keys(of: relationship, at: index, keys)
            where !key.key.isForIDs || !ignored.names(key.name) {
                relationshipKeys[key.name, default: []].append(key.key)
            }
            for path in relationship.remoteKey.map({ Self.paths(into: RemoteKeyPath.keys($0)) }) ?? [] {
                paths[path, default: []] += []
            }
        }
        slots = attributes.map(\.slot)
        self.keys = keys
        self.ignored = ignored
        self.byRule = byRule
        self.lineage = lineage
        self.byRemoteKey = byRemoteKey
        self.byName = byName
        self.bySnakeCase = bySnakeCase
        self.bySpelling = bySpelling
        self.paths = paths
        self.id = id
        self.relationshipKeys = relationshipKeys
        longestName = max(2, attributes.map(\.attribute.name.utf8.count).max() ?? 0)
        lowercased = Set(bySpelling.keys.map(\.lowercased))
    }

    private static func keys(
        of relationship: SyncModel.Relationship, at index: Int, _ keys: KeyCase?
    ) -> [(name: String, key: RelationshipKey)] {
        let objects = AttributeNaming.objectKeys(for: relationship, keys)
        let found =
            objects.enumerated().map { ($1, RelationshipKey(index: index, strength: $0, isForIDs: false)) }
            + AttributeNaming.idKeys(for: relationship, keys).enumerated().filter { !objects.contains($1) }
            .map { ($1, RelationshipKey(index: index, strength: $0, isForIDs: true)) }
        // A name is one key, a remote key may be several.
        return found.map { name, key in
            let path =
                relationship.remoteKey == nil
                ? RemoteKeyPath.escaped(name) : RemoteKeyPath.text(RemoteKeyPath.keys(name))
            return (path, key)
        }
    }

    /// `a.b.c` → `a`, `a.b`.
    private static func paths(into keys: [String]) -> [String] {
        var path = ""
        return keys.dropLast().prefix(maximumDepth).enumerated().map { index, key in
            path += (index == 0 ? "" : ".") + RemoteKeyPath.escaped(key)
            return path
        }
    }

    // MARK: Attributes

    /// The attribute a key fills, and how strongly: a lower number wins.
    ///
    /// Remote key, own name or what the model's rule makes of it, camelCase of the key, own snake_case form, reserved
    /// word, `id`, and last a name that differs only in how it writes acronyms (`userId` for `userID`). Model order
    /// breaks ties. Of a key that is ignored by its very name only the first two and the snake_case form count, and `id`.
    package func attribute(forKey key: String) -> (slot: Int, strength: Int)? {
        // A key with dots is one, or is written as the path that a remote key walks.
        if let position = (byRemoteKey[RemoteKeyPath.escaped(key)] ?? byRemoteKey[key])?.first {
            return (slots[position], 0)
        }
        if let position = byName[key] ?? byRule[key] { return (slots[position], 1) }
        if keys == .exact || (ignored.names(key) && bySnakeCase[key] == nil && key != "id") { return nil }
        return attribute(forLooseKey: key)
    }

    private func attribute(forLooseKey key: String) -> (slot: Int, strength: Int)? {
        let variants = isTooLong(key) ? [] : Inflection.camelCaseVariants(key)
        if let position = variants.compactMap({ byName[$0] }).min() { return (slots[position], 2) }
        if let position = bySnakeCase[key] { return (slots[position], 3) }
        let prefixed = AttributeNaming.prefixedNames(of: keys?.withoutCapital(key) ?? key, lineage)
        if let position = prefixed.compactMap({ byName[$0] }).min() { return (slots[position], 4) }
        if let id, key == "id" || variants.contains("id") { return (slots[id], 5) }
        // The first comparison is quick, also for a key of megabytes.
        let lower = key.lowercased()
        guard lowercased.contains(lower) else { return nil }
        let spelling = Spelling(snake: Inflection.snakeCase(key), lowercased: lower)
        return bySpelling[spelling].map { (slots[$0], 6) }
    }

    /// Whether a key has so many letters that no name can be its camelCase, which takes its time with megabytes.
    private func isTooLong(_ key: String) -> Bool {
        guard key.utf8.count > 1000 else { return false }
        return key.utf8.count { $0 != .underscore && $0 != .minus && $0 != .blank } > 4 * longestName
    }

    /// The attribute that a remote key, or any other key, fills.
    package func attribute(forPath path: String) -> (slot: Int, strength: Int)? {
        if let position = byRemoteKey[RemoteKeyPath.text(RemoteKeyPath.keys(path))]?.first {
            return (slots[position], 0)
        }
        return attribute(forKey: path)
    }

    /// The attributes with a remote key, as ``RemoteKeyPath`` writes it.
    package func slots(withRemoteKey key: String) -> [Int] { (byRemoteKey[key] ?? []).map { slots[$0] } }

    /// The attributes filled from inside the object under a path; nil if nothing is read from there.
    package func slots(below path: String) -> [Int]? { paths[path] }

    // MARK: Relationships

    /// The relationships that are read from a key, in their order.
    package func relationships(readFrom key: String) -> [RelationshipKey] {
        relationshipKeys[RemoteKeyPath.escaped(key)] ?? relationshipKeys[key] ?? []
    }

    /// Those that are read from the end of a path, as ``RemoteKeyPath`` writes it.
    package func relationships(readFromPath path: String) -> [RelationshipKey] { relationshipKeys[path] ?? [] }

    /// Whether a key is one that a relationship is read from.
    ///
    /// - Parameter index: Its position in the entity.
    package func isRead(_ key: String, asRelationship index: Int) -> Bool {
        relationships(readFrom: key).contains { $0.index == index }
    }

    // MARK: Nothing

    /// Whether a key is ignored by its very name.
    package func ignoresByName(_ key: String) -> Bool { ignored.names(key) }

    /// Whether nothing is wanted of a key at the end of a path, provided that nothing is read from it.
    package func ignores(_ key: String, at path: [String]) -> Bool { ignored.contains(key, path: path) }
}

/// Which JSON keys the attributes and relationships of an entity are read from.
package enum AttributeNaming {
    /// Reserved in Core Data, so that models prefix them with the entity's name.
    static let reservedWords: Set<String> = ["type", "description", "signed"]

    /// `type` of a `User` may be called `userType`, by its own name or that of an ancestor.
    static func prefixedNames(of key: String, _ lineage: [String]) -> [String] {
        guard reservedWords.contains(key) else { return [] }
        return lineage.map { name in
            name.prefix(1).lowercased() + name.dropFirst() + key.prefix(1).uppercased() + key.dropFirst()
        }
    }

    /// Whether an attribute is called `id` in JSON.
    static func isID(_ attribute: String) -> Bool { attribute == "id" || attribute == "remoteID" }

    /// Where objects of a relationship stand, the strongest first.
    ///
    /// - Parameter keys: How the keys of the entity are spelled, if the model says.
    package static func objectKeys(for relationship: SyncModel.Relationship, _ keys: KeyCase? = nil) -> [String] {
        if let remoteKey = relationship.remoteKey { return [remoteKey] }
        let name = relationship.name
        if keys == .exact { return [name] }
        return unique([keys?.key(for: name), Inflection.snakeCase(name), name].compactMap(\.self))
    }

    /// Where objects or ids of a relationship stand.
    package static func keys(for relationship: SyncModel.Relationship, _ keys: KeyCase? = nil) -> [String] {
        objectKeys(for: relationship, keys) + idKeys(for: relationship, keys)
    }

    private static func unique(_ keys: [String]) -> [String] {
        keys.enumerated().filter { !keys[..<$0.offset].contains($0.element) }.map(\.element)
    }

    /// Where ids of a relationship stand, the strongest first. With a custom remote key only that key is read.
    package static func idKeys(for relationship: SyncModel.Relationship, _ keyCase: KeyCase? = nil) -> [String] {
        guard relationship.remoteKey == nil else { return [] }
        let name = relationship.name
        let plural = relationship.isToMany ? "s" : ""
        var keys: [String] = []
        for name in relationship.isToMany ? [name, Inflection.singular(name)] : [name] {
            let snake = keyCase == .exact ? [] : [Inflection.snakeCase(name) + "_id"]
            let spellings = idSpellings(name, keyCase) + snake + ["\(name)_id", "\(name)Id", "\(name)ID"]
            for key in spellings.map({ $0 + plural }) where !keys.contains(key) {
                keys.append(key)
            }
        }
        return keys
    }

    /// What the rule of a model calls the id of one row.
    private static func idSpellings(_ name: String, _ keys: KeyCase?) -> [String] {
        guard let keys else { return [] }
        let key = keys.key(for: name)
        switch keys {
        case .snake: return [key + "_id"]
        case .kebab: return [key + "-id"]
        case .camel, .pascal: return [key + "Id", key + "ID"]
        case .exact: return []
        }
    }
}

/// The keys of an entity's records that nothing is wanted of, as patterns: `*` stands for any text, `?` for one character.
///
/// A pattern without a dot is about a key wherever it stands in the record, one with dots about the path from the record:
/// `meta.*` is what stands in `meta`, and `meta` itself where nothing is read from it.
package struct IgnoredKeys: Sendable {
    /// Without wildcards and dots: that very key.
    private let names: Set<String>
    private let patterns: [WildcardPattern]
    private let paths: [[WildcardPattern]]

    package init(_ texts: [String]) {
        var names: Set<String> = []
        var patterns: [WildcardPattern] = []
        var paths: [[WildcardPattern]] = []
        for text in texts {
            let parts = text.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
            if parts.count > 1 {
                paths.append(parts.map(WildcardPattern.init))
                if parts.last == "*" { paths.append(parts.dropLast().map(WildcardPattern.init)) }
            } else if text.contains(where: { "*?\\".contains($0) }) {
                patterns.append(WildcardPattern(text))
            } else {
                names.insert(text)
            }
        }
        self.names = names
        self.patterns = patterns
        self.paths = paths
    }

    package var isEmpty: Bool { names.isEmpty && patterns.isEmpty && paths.isEmpty }

    /// Whether a key is named without wildcards: then it is ignored also where only a loose spelling leads to an attribute.
    func names(_ key: String) -> Bool { !names.isEmpty && names.contains(key) }

    /// Whether nothing is wanted of a key at the end of a path.
    package func contains(_ key: String, path: [String] = []) -> Bool {
        if isEmpty { return false }
        if names.contains(key) || patterns.contains(where: { $0.matches(key) }) { return true }
        guard !paths.isEmpty else { return false }
        let full = path.flatMap { Self.parts($0) } + Self.parts(key)
        return paths.contains { $0.count == full.count && zip($0, full).allSatisfy { $0.matches($1) } }
    }

    private static func parts(_ key: String) -> [String] {
        key.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
    }

    /// What is wrong with a pattern; nil if nothing is.
    static func problem(with pattern: String) -> String? {
        if pattern.isEmpty { return "a pattern must not be empty" }
        let parts = parts(pattern)
        return parts.contains("") ? "'\(pattern)' has a dot without a key before or after it" : nil
    }
}

/// The keys that a remote key leads through: a dot walks into an object, `\.` is a dot of the key itself, and `\\` a
/// backslash.
package enum RemoteKeyPath {
    /// `contact.email` → `contact`, `email`; `@odata\.etag` → `@odata.etag`.
    package static func keys(_ text: String) -> [String] {
        guard text.utf8.contains(.backslash) else {
            return text.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
        }
        var keys: [[UInt8]] = [[]]
        var isEscaped = false
        let bytes = Array(text.utf8)
        for (index, byte) in bytes.enumerated() {
            if isEscaped {
                keys[keys.count - 1].append(byte)
                isEscaped = false
            } else if byte == .backslash, index + 1 < bytes.count, isSpecial(bytes[index + 1]) {
                isEscaped = true
            } else if byte == .point {
                keys.append([])
            } else {
                keys[keys.count - 1].append(byte)
            }
        }
        return keys.map { String(decoding: $0, as: UTF8.self) }
    }

    /// The remote key that leads through keys.
    package static func text(_ keys: some Sequence<String>) -> String {
        keys.map(escaped).joined(separator: ".")
    }

    /// The remote key that is one key, as it is.
    package static func escaped(_ key: String) -> String {
        guard key.utf8.contains(where: isSpecial) else { return key }
        let bytes = Array(key.utf8)
        var escaped: [UInt8] = []
        for (index, byte) in bytes.enumerated() {
            let isLast = index + 1 == bytes.count
            if byte == .point || byte == .backslash && (isLast || isSpecial(bytes[index + 1])) {
                escaped.append(.backslash)
            }
            escaped.append(byte)
        }
        return String(decoding: escaped, as: UTF8.self)
    }

    private static func isSpecial(_ byte: UInt8) -> Bool { byte == .point || byte == .backslash }
}
