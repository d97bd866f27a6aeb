/// The JSON keys that the attributes and relationships of an entity are read from.
///
/// The map is computed once for each entity, so that a key is looked up and not compared with each name.
package final class EntityKeyMap: Sendable {
    /// A relationship that is read from a JSON key.
    package struct RelationshipKey {
        /// The index of the relationship in ``CompiledEntity/relationships``.
        package let index: Int
        let strength: Int
        /// Whether only IDs are read from the key: `user_id`.
        let isForIDs: Bool
    }

    /// The attributes and relationships whose remote keys lead into an object.
    package struct NestedMembers: Sendable {
        package fileprivate(set) var slots: [Int] = []
        /// The indexes of the relationships in ``CompiledEntity/relationships``.
        package fileprivate(set) var relationships: [Int] = []

        package var isEmpty: Bool { slots.isEmpty && relationships.isEmpty }
    }

    /// The forms of a name that the last rule of ``attribute(forKey:)`` compares.
    private struct Spelling: Hashable {
        let snake: String
        let lowercased: String
    }

    /// The largest number of objects in the path of a remote key. It is the largest nesting depth of JSON.
    private static let maximumDepth = 512

    private let slots: [Int]
    /// The spelling of JSON keys; nil if the model declares none.
    let keyCase: KeyCase?
    let ignored: IgnoredKeys
    private let byRule: [String: Int]
    private let lineage: [String]
    // The following dictionaries have indexes in `slots`. If several attributes have the same key, the first one
    // counts.
    private let byRemoteKey: [String: [Int]]
    private let byName: [String: Int]
    private let bySnakeCase: [String: Int]
    private let bySpelling: [Spelling: Int]
    private let lowercased: Set<String>
    private let longestName: Int
    private let id: Int?
    private let relationshipKeys: [String: [RelationshipKey]]
    /// The members whose remote keys lead into an object, by the path of the object.
    private let paths: [String: NestedMembers]

    /// Creates the key map of an entity.
    ///
    /// - Parameter lineage: The names of the entity and its ancestors, the nearest first.
    package init(
        _ attributes: [(slot: Int, attribute: SyncModel.Attribute)], _ relationships: [SyncModel.Relationship],
        lineage: [String],
        keyCase: KeyCase? = nil, ignored: IgnoredKeys = IgnoredKeys([])
    ) {
        var byRule: [String: Int] = [:]
        var byRemoteKey: [String: [Int]] = [:]
        var byName: [String: Int] = [:]
        var bySnakeCase: [String: Int] = [:]
        var bySpelling: [Spelling: Int] = [:]
        var paths: [String: NestedMembers] = [:]
        var id: Int?
        for (position, (slot, attribute)) in attributes.enumerated() {
            let snake = Inflection.snakeCase(attribute.name)
            if let key = attribute.remoteKey {
                let keys = RemoteKeyPath.keys(key)
                byRemoteKey[RemoteKeyPath.text(keys), default: []].append(position)
                for path in Self.paths(into: keys) { paths[path, default: .init()].slots.append(slot) }
            }
            byName[attribute.name] = byName[attribute.name] ?? position
            bySnakeCase[snake] = bySnakeCase[snake] ?? position
            if let key = keyCase?.key(for: attribute.name) { byRule[key] = byRule[key] ?? position }
            let spelling = Spelling(snake: snake, lowercased: attribute.name.lowercased())
            bySpelling[spelling] = bySpelling[spelling] ?? position
            if id == nil, AttributeNaming.isID(attribute.name) { id = position }
        }
        var relationshipKeys: [String: [RelationshipKey]] = [:]
        for (index, relationship) in relationships.enumerated() {
            for key in Self.keys(of: relationship, at: index, keyCase)
            where !key.key.isForIDs || !ignored.names(key.name) {
                relationshipKeys[key.name, default: []].append(key.key)
            }
            for path in relationship.remoteKey.map({ Self.paths(into: RemoteKeyPath.keys($0)) }) ?? [] {
                paths[path, default: .init()].relationships.append(index)
            }
        }
        slots = attributes.map(\.slot)
        self.keyCase = keyCase
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
        // A name is a single key, even if it has a dot. A remote key can be a path of several keys.
        return found.map { name, key in
            let path =
                relationship.remoteKey == nil
                ? RemoteKeyPath.escaped(name) : RemoteKeyPath.text(RemoteKeyPath.keys(name))
            return (path, key)
        }
    }

    /// Returns the paths of the objects that enclose the last key: `a.b.c` → `a`, `a.b`.
    private static func paths(into keys: [String]) -> [String] {
        var path = ""
        return keys.dropLast().prefix(maximumDepth).enumerated().map { index, key in
            path += (index == 0 ? "" : ".") + RemoteKeyPath.escaped(key)
            return path
        }
    }

    // MARK: Attributes

    /// Returns the slot of the attribute that is read from a JSON key, with the strength of the rule that applies; nil
    /// if there is none. If several keys of a record fit an attribute, the one with the lowest strength is read.
    ///
    /// - 0: The key is the remote key.
    /// - 1: The key is the name, or else the name in the spelling of the model.
    /// - 2: A camelCase form of the key is the name.
    /// - 3: The key is the name in snake_case.
    /// - 4: The key is a reserved word, and the name is the word after the name of the entity or an ancestor.
    /// - 5: A camelCase form of the key is `id`, as for `_id`, and the name is `id` or `remoteID`.
    /// - 6: The key differs from the name only in case, and has the same snake_case form: `userId` and `userID`.
    ///
    /// Within a rule, the first attribute of the entity is read. Strengths above 1 do not apply with `.exact`. A key
    /// that is ignored by its exact name has a strength above 1 only if it is `id` or a name in snake_case.
    package func attribute(forKey key: String) -> (slot: Int, strength: Int)? {
        // A key with dots can be a single key, or the path of a remote key.
        if let position = (byRemoteKey[RemoteKeyPath.escaped(key)] ?? byRemoteKey[key])?.first {
            return (slots[position], 0)
        }
        if let position = byName[key] ?? byRule[key] { return (slots[position], 1) }
        if keyCase == .exact || (ignored.names(key) && bySnakeCase[key] == nil && key != "id") { return nil }
        return attribute(forLooseKey: key)
    }

    private func attribute(forLooseKey key: String) -> (slot: Int, strength: Int)? {
        let variants = isTooLong(key) ? [] : Inflection.camelCaseVariants(key)
        if let position = variants.compactMap({ byName[$0] }).min() { return (slots[position], 2) }
        if let position = bySnakeCase[key] { return (slots[position], 3) }
        let prefixed = AttributeNaming.prefixedNames(of: keyCase?.withoutCapital(key) ?? key, lineage)
        if let position = prefixed.compactMap({ byName[$0] }).min() { return (slots[position], 4) }
        if let id, key == "id" || variants.contains("id") { return (slots[id], 5) }
        // This lookup is fast even for a key of megabytes.
        let lower = key.lowercased()
        guard lowercased.contains(lower) else { return nil }
        let spelling = Spelling(snake: Inflection.snakeCase(key), lowercased: lower)
        return bySpelling[spelling].map { (slots[$0], 6) }
    }

    /// Returns whether a key of more than 1,000 bytes is too long for its camelCase form to be a name. The check avoids
    /// the conversion, which is slow for keys of megabytes.
    private func isTooLong(_ key: String) -> Bool {
        guard key.utf8.count > 1000 else { return false }
        return key.utf8.count { $0 != .underscore && $0 != .minus && $0 != .blank } > 4 * longestName
    }

    /// Returns the attribute that is read from the path of a remote key, or from any other key; nil if there is none.
    /// Also returns the strength of the rule that applies.
    package func attribute(forPath path: String) -> (slot: Int, strength: Int)? {
        if let position = byRemoteKey[RemoteKeyPath.text(RemoteKeyPath.keys(path))]?.first {
            return (slots[position], 0)
        }
        return attribute(forKey: path)
    }

    /// Returns the slots of the attributes with a remote key, given in the form of ``RemoteKeyPath/text(_:)``.
    package func slots(withRemoteKey key: String) -> [Int] { (byRemoteKey[key] ?? []).map { slots[$0] } }

    /// Returns the members that are read from inside the object at a path. Returns nil if no remote key leads into the
    /// object.
    package func members(below path: String) -> NestedMembers? { paths[path] }

    // MARK: Relationships

    /// Returns the relationships that are read from a key, in the order of the entity.
    package func relationships(readFrom key: String) -> [RelationshipKey] {
        relationshipKeys[RemoteKeyPath.escaped(key)] ?? relationshipKeys[key] ?? []
    }

    /// Returns the relationships that are read from a path, given in the form of ``RemoteKeyPath/text(_:)``.
    package func relationships(readFromPath path: String) -> [RelationshipKey] { relationshipKeys[path] ?? [] }

    /// Returns whether a relationship is read from a key.
    ///
    /// - Parameter index: The index of the relationship in the entity.
    package func isRead(_ key: String, asRelationship index: Int) -> Bool {
        relationships(readFrom: key).contains { $0.index == index }
    }

    // MARK: Ignored keys

    /// Returns whether the key itself is among the ignored patterns.
    package func ignoresByName(_ key: String) -> Bool { ignored.names(key) }

    /// Returns whether a key is ignored. The key must be one that no attribute or relationship is read from.
    ///
    /// - Parameter path: The keys of the enclosing objects, from the record.
    package func ignores(_ key: String, at path: [String]) -> Bool { ignored.contains(key, path: path) }
}

/// The naming rules for JSON keys of attributes and relationships.
package enum AttributeNaming {
    /// Names that Core Data reserves. Models write the name of the entity before them: `userType`.
    static let reservedWords: Set<String> = ["type", "description", "signed"]

    /// Returns the attribute names that a reserved word can stand for: `userType` for `type`, with the name of the
    /// entity or of an ancestor. Returns an empty list for any other key.
    static func prefixedNames(of key: String, _ lineage: [String]) -> [String] {
        guard reservedWords.contains(key) else { return [] }
        return lineage.map { name in
            name.prefix(1).lowercased() + name.dropFirst() + key.prefix(1).uppercased() + key.dropFirst()
        }
    }

    /// Returns whether an attribute has one of the names that are read from the JSON key `id`.
    static func isID(_ attribute: String) -> Bool { SyncModel.PrimaryKey.defaultNames.contains(attribute) }

    /// Returns the JSON keys that the records of a relationship are read from, the strongest first.
    ///
    /// - Parameter keyCase: The spelling of JSON keys; nil if the model declares none.
    package static func objectKeys(for relationship: SyncModel.Relationship, _ keyCase: KeyCase? = nil) -> [String] {
        if let remoteKey = relationship.remoteKey { return [remoteKey] }
        let name = relationship.name
        if keyCase == .exact { return [name] }
        return unique([keyCase?.key(for: name), Inflection.snakeCase(name), name].compactMap(\.self))
    }

    /// Returns the JSON keys that the records and the IDs of a relationship are read from.
    package static func keys(for relationship: SyncModel.Relationship, _ keyCase: KeyCase? = nil) -> [String] {
        objectKeys(for: relationship, keyCase) + idKeys(for: relationship, keyCase)
    }

    private static func unique(_ keys: [String]) -> [String] {
        keys.enumerated().filter { !keys[..<$0.offset].contains($0.element) }.map(\.element)
    }

    /// Returns the JSON keys that the IDs of a relationship are read from, the strongest first. Returns an empty list
    /// for a relationship with a remote key, because its IDs are read from the remote key.
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

    /// Returns the keys of a single ID in the spelling of the model: `owner-id`.
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

/// The ignored keys of an entity, as patterns: `*` matches any text, `?` one character.
///
/// A pattern without a dot applies to a key at any depth of the record. A pattern with dots applies to the path from
/// the record. `meta.*` ignores the members of `meta`, and `meta` itself if nothing is read from it.
package struct IgnoredKeys: Sendable {
    /// The patterns without wildcards and dots, which match exact keys.
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

    /// Returns whether one of the patterns is exactly this key. Only some rules of ``EntityKeyMap/attribute(forKey:)``
    /// apply to such a key.
    func names(_ key: String) -> Bool { !names.isEmpty && names.contains(key) }

    /// Returns whether a pattern matches a key.
    ///
    /// - Parameter path: The keys of the enclosing objects, from the record.
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

    /// Returns the problem of a pattern; nil if the pattern is valid.
    static func problem(with pattern: String) -> String? {
        if pattern.isEmpty { return "a pattern must not be empty" }
        let parts = parts(pattern)
        return parts.contains("") ? "'\(pattern)' has an empty key before or after a dot" : nil
    }
}

/// The syntax of remote keys: the path of a value in a record. A dot separates keys, `\.` is a dot in a key, and `\\`
/// is a backslash.
package enum RemoteKeyPath {
    /// Returns the keys of a path: `contact.email` → `contact`, `email`; `@odata\.etag` → `@odata.etag`.
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

    /// Returns the path with these keys.
    package static func text(_ keys: some Sequence<String>) -> String {
        keys.map(escaped).joined(separator: ".")
    }

    /// Returns the path with one key. Dots are escaped, and so are backslashes before a dot, before a backslash or at
    /// the end.
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
