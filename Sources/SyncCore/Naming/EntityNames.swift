/// Which JSON keys the attributes and relationships of an entity are read from, worked out once, so that a key is looked
/// up and not compared with every name.
package final class EntityNames: Sendable {
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
