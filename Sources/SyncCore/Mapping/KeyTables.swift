/// The key tables of a model: one for each entity, and one for each nested object that contains values of a record.
package struct KeyTables {
    private struct NestedObject: Hashable {
        let entity: Int
        let path: [String]
    }

    private let model: CompiledModel
    /// The tables of the entities in the order of the model, followed by those of nested objects.
    package private(set) var all: [KeyTable]
    private var nested: [NestedObject: Int] = [:]
    /// For each entity, the index in `all` of the table for the GraphQL edges around root records; -1 until it is
    /// created.
    private var rootEdges: [Int]
    /// Whether a list can be a GraphQL connection, with its records in `edges` or `nodes`.
    package var readsConnections = false

    package init(_ model: CompiledModel) {
        self.model = model
        all = model.entities.map { KeyTable(entity: $0.id, path: []) }
        rootEdges = Array(repeating: -1, count: all.count)
    }

    /// Returns the entry of a key, and adds it if it is new.
    ///
    /// - Parameter previous: The entry of the preceding key in the object; -1 for the first key.
    @inline(__always)
    package mutating func entry(
        _ token: JSONTape.Token, _ table: Int, after previous: Int, _ bytes: UnsafeBufferPointer<UInt8>
    ) -> Int {
        let length = Int(token.length)
        if !token.hasEscapes {
            if let known = all[table].follower(of: previous, bytes, at: token.offset, length: length) { return known }
            return otherEntry(.init(rebasing: bytes[token.offset..<token.offset + length]), table, after: previous)
        }
        var plain: [UInt8] = []
        JSONText.unescape(.init(rebasing: bytes[token.offset..<token.offset + length]), into: &plain)
        return plain.withUnsafeBufferPointer { otherEntry($0, table, after: previous) }
    }

    /// Returns whether an object under an attribute's name only encloses the attribute's value. An example is `title`,
    /// if its remote key is `title.rendered`.
    package func isOnlyAround(_ slot: Int, _ entry: Int, _ table: Int) -> Bool {
        let walksInto = all[table].targets[entry].contains { target in
            if case .nested(let nested) = target { all[nested].members.slots.contains(slot) } else { false }
        }
        guard walksInto else { return false }
        let attribute = model[model.entities[all[table].entity].table].attributes[slot]
        return attribute.type != .json && attribute.transformer == nil
    }

    /// Returns whether a value in place of a nested object fills the attribute inside that object. The key of the
    /// object must also be a key of that attribute, and no other member may be read from the object.
    func overrides(_ nested: Int, _ entry: Int, _ table: Int) -> Bool {
        let members = all[nested].members
        return members.relationships.isEmpty
            && all[table].targets[entry].contains { target in
                if case .attribute(let slot, _) = target { members.slots == [slot] } else { false }
            }
    }

    mutating func countUnmapped(_ entry: Int, _ table: Int) { all[table].countUnmapped(entry) }

    private mutating func otherEntry(
        _ key: UnsafeBufferPointer<UInt8>, _ table: Int, after previous: Int
    ) -> Int {
        all[table].entry(key, after: previous) ?? newEntry(key, table, after: previous)
    }

    private mutating func newEntry(
        _ key: UnsafeBufferPointer<UInt8>, _ table: Int, after previous: Int
    ) -> Int {
        let entity = all[table].entity
        let names = model.names(of: model.entities[entity])
        let isKept = all[table].isKept
        let resolver = KeyResolver(
            names: names,
            kinds: model.hasDiscriminators ? DiscriminatorKeys(model.entities[entity], of: model) : nil)
        var targets = resolver.targets(
            of: String(decoding: key, as: UTF8.self), path: all[table].path,
            nested: { path, members in
                nestedTable(
                    path, members,
                    isKept: isKept || keepsWhole(path, names, of: entity) || isRecord(path, names, of: entity),
                    of: entity)
            })
        if readsConnections { readConnection(String(decoding: key, as: UTF8.self), table, &targets) }
        if targets.isEmpty, isKept { targets = [.ignored] }
        return all[table].add(key, targets, after: previous)
    }

    private mutating func nestedTable(
        _ path: [String], _ members: EntityKeyMap.NestedMembers, isKept: Bool, of entity: Int
    ) -> Int {
        let object = NestedObject(entity: entity, path: path)
        if let known = nested[object] { return known }
        all.append(KeyTable(entity: entity, path: path, members: members, isKept: isKept))
        nested[object] = all.count - 1
        return all.count - 1
    }

    // MARK: Connections

    /// Adds the targets that a key has only in GraphQL: the key table of a connection or of its edges. Standard keys
    /// are ignored.
    private mutating func readConnection(_ key: String, _ table: Int, _ targets: inout [KeyTable.Target]) {
        let entity = model.entities[all[table].entity]
        let isList = targets.contains { target in
            if case .relationship(let index, _) = target { entity.relationships[index].isToMany } else { false }
        }
        switch (all[table].role, key) {
        case (_, "__typename"), (.connection, "nodes"), (.connection, "pageInfo"), (.connection, "totalCount"),
            (.edge, "node"), (.edge, "cursor"):
            if targets.isEmpty { targets = [.ignored] }
        case (.connection, "edges"): addTable(.edge, under: key, table, &targets)
        case _ where isList: addTable(.connection, under: key, table, &targets)
        default: break
        }
    }

    private mutating func addTable(
        _ role: KeyTable.Role, under key: String, _ table: Int, _ targets: inout [KeyTable.Target]
    ) {
        for case .nested(let known) in targets { return all[known].role = role }
        let (path, entity) = (all[table].path + [key], all[table].entity)
        let isKept = all[table].isKept || keepsWhole(path, model.names(of: model.entities[entity]), of: entity)
        let new = nestedTable(path, .init(), isKept: isKept, of: entity)
        all[new].role = role
        targets.append(.nested(table: new))
    }

    /// Returns the index of the table for the GraphQL edges around root records, and creates the table if needed.
    mutating func edges(of entity: Int) -> Int {
        if rootEdges[entity] < 0 {
            rootEdges[entity] = nestedTable(["edges"], .init(), isKept: false, of: entity)
            all[rootEdges[entity]].role = .edge
        }
        return rootEdges[entity]
    }

    /// Returns the tokens of the objects whose keys a nested table describes: the object at `value`, or the edges of a
    /// connection.
    package func objects(_ nested: Int, _ tape: JSONTape, at value: Int, _ bytes: UnsafeBufferPointer<UInt8>) -> [Int] {
        switch (all[nested].role, tape.tokens[value].kind) {
        case (.object, .object): return [value]
        case (.connection, .object):
            let isConnection =
                tape.member(named: "nodes", of: value, in: bytes)
                ?? tape.member(named: "edges", of: value, in: bytes)
            return isConnection != nil || !all[nested].members.isEmpty ? [value] : []
        case (.edge, .array):
            var edges: [Int] = []
            var element = value + 1
            while element < Int(tape.tokens[value].next) {
                if tape.tokens[element].kind == .object { edges.append(element) }
                element = Int(tape.tokens[element].next)
            }
            return edges
        default: return []
        }
    }

    // MARK: Attributes

    /// Returns whether an attribute takes the whole object at the end of a path, as JSON or through a transformer.
    private func keepsWhole(_ path: [String], _ names: EntityKeyMap, of entity: Int) -> Bool {
        let slots =
            path.count == 1
            ? names.attribute(forKey: path[0]).map { [$0.slot] } ?? []
            : names.slots(withRemoteKey: RemoteKeyPath.text(path))
        let attributes = model[model.entities[entity].table].attributes
        return slots.contains { attributes[$0].type == .json || attributes[$0].transformer != nil }
    }

    // MARK: Relationships

    /// Returns whether a relationship reads the object at the end of a path. The unmapped keys of the object are then
    /// those of the destination. False for a GraphQL connection, which is no record.
    private func isRecord(_ path: [String], _ names: EntityKeyMap, of entity: Int) -> Bool {
        let found =
            path.count == 1
            ? names.relationships(readFrom: path[0])
            : names.relationships(readFromPath: RemoteKeyPath.text(path))
        let relationships = model.entities[entity].relationships
        return found.contains { !$0.isForIDs && !(readsConnections && relationships[$0.index].isToMany) }
    }
}

/// The JSON keys of one type of object, with the attributes and relationships that they fill.
///
/// Each key is resolved once, by its bytes. A table belongs to an entity, or to a nested object that contains values of
/// its records.
package struct KeyTable {
    /// The meaning of a key, such as the attribute that it fills.
    package enum Target {
        /// An attribute. If several keys fill it, the one with the lowest strength wins. If strengths are equal, the
        /// key that is read last wins.
        case attribute(slot: Int, strength: Int)
        /// A relationship, under its name or its remote key. The value can be objects, IDs or null.
        case relationship(Int, strength: Int)
        /// A relationship, under a key for IDs only.
        case ids(Int, strength: Int)
        /// A discriminator of the row that a relationship references, or of the record itself if `relationship` is -1.
        case kind(relationship: Int)
        /// An object that contains values, with the index of its key table.
        case nested(table: Int)
        /// A key that is ignored and not reported as unmapped.
        case ignored
    }

    /// A key that occurred in the payload.
    package struct Entry {
        let key: KeyBytes
        /// The slot of the attribute that the key fills; -1 unless this attribute is its only target.
        package let slot: Int
        let strength: UInt8
        /// The entry of the key that last followed this key; -1 if there is none.
        var follower: Int32 = -1
    }

    /// The type of object that a table describes.
    enum Role {
        case object
        /// A GraphQL connection, or one of its edges.
        case connection, edge
    }

    let entity: Int
    var role = Role.object
    /// The dotted path from the record to the object; empty for the record itself.
    package let path: [String]
    /// The members that dotted remote keys read from this object. Null in place of the object is null for each of them.
    package let members: EntityKeyMap.NestedMembers
    /// Whether an attribute or a relationship takes the whole object, so that its unmapped keys are not reported.
    let isKept: Bool
    package private(set) var entries: [Entry] = []
    package private(set) var names: [[UInt8]] = []
    package private(set) var targets: [[Target]] = []
    /// For each key, the number of occurrences that are reported as unmapped.
    private(set) var unmapped: [Int] = []
    private var byHash: [Int: [Int32]] = [:]
    /// The entry of the key that was last read without a preceding key; -1 if there is none.
    private var first: Int32 = -1

    init(entity: Int, path: [String], members: EntityKeyMap.NestedMembers = .init(), isKept: Bool = false) {
        self.isKept = isKept
        self.entity = entity
        self.path = path
        self.members = members
    }

    /// Returns the entry of the key at `offset` if this key also followed `previous` the last time; otherwise nil.
    @inline(__always)
    func follower(of previous: Int, _ text: UnsafeBufferPointer<UInt8>, at offset: Int, length: Int) -> Int? {
        let key = KeyBytes(text, at: offset, length: length)
        let guess = Int(previous < 0 ? first : entries[previous].follower)
        if guess >= 0, entries[guess].key == key,
            key.isWhole || isName(guess, .init(rebasing: text[offset..<offset + length]))
        {
            return guess
        }
        return nil
    }

    /// Returns the entry of a key; nil if it is new.
    mutating func entry(_ name: UnsafeBufferPointer<UInt8>, after previous: Int) -> Int? {
        guard let found = byHash[Self.hash(name)]?.first(where: { isName(Int($0), name) }) else { return nil }
        register(found, after: previous)
        return Int(found)
    }

    /// Returns a hash of the whole name. Its seed differs for each process, so that crafted names cannot collide.
    private static func hash(_ name: UnsafeBufferPointer<UInt8>) -> Int {
        var hasher = Hasher()
        hasher.combine(bytes: UnsafeRawBufferPointer(name))
        return hasher.finalize()
    }

    private func isName(_ entry: Int, _ name: UnsafeBufferPointer<UInt8>) -> Bool {
        names[entry].withUnsafeBufferPointer { TextPool.equal($0, name) }
    }

    mutating func add(_ name: UnsafeBufferPointer<UInt8>, _ targets: [Target], after previous: Int) -> Int {
        let key = KeyBytes(name, at: 0, length: name.count)
        if case .attribute(let slot, let strength) = targets.first, targets.count == 1 {
            entries.append(Entry(key: key, slot: slot, strength: UInt8(truncatingIfNeeded: strength)))
        } else {
            entries.append(Entry(key: key, slot: -1, strength: 0))
        }
        names.append(Array(name))
        self.targets.append(targets)
        unmapped.append(0)
        let entry = Int32(truncatingIfNeeded: entries.count - 1)
        byHash[Self.hash(name), default: []].append(entry)
        register(entry, after: previous)
        return entries.count - 1
    }

    private mutating func register(_ entry: Int32, after previous: Int) {
        if previous < 0 { first = entry } else { entries[previous].follower = entry }
    }

    mutating func countUnmapped(_ entry: Int) { unmapped[entry] += 1 }
}

/// A key as its length and two words, for fast comparison. The length and the words identify keys of up to 16 bytes.
/// The text of longer keys must be compared as well.
struct KeyBytes: Equatable {
    private var length: Int
    /// The first eight bytes, padded with zeros.
    private var head: UInt64
    /// The last eight bytes of a key that is longer than eight bytes; otherwise 0.
    private var tail: UInt64

    @inline(__always)
    init(_ text: UnsafeBufferPointer<UInt8>, at offset: Int, length: Int) {
        self.length = length
        let raw = UnsafeRawBufferPointer(text)
        if length > 8 {
            precondition(offset >= 0 && offset + length <= raw.count)
            head = raw.loadUnaligned(fromByteOffset: offset, as: UInt64.self).littleEndian
            tail = raw.loadUnaligned(fromByteOffset: offset + length - 8, as: UInt64.self).littleEndian
        } else if offset + 8 <= raw.count {
            let word = raw.loadUnaligned(fromByteOffset: offset, as: UInt64.self).littleEndian
            head = length == 8 ? word : word & ((1 << (8 * UInt64(truncatingIfNeeded: length))) - 1)
            tail = 0
        } else {
            head = 0
            tail = 0
            for index in 0..<length { head |= UInt64(raw[offset + index]) << UInt64(8 * index) }
        }
    }

    /// Whether the length and the words identify the key.
    var isWhole: Bool { length <= 16 }
}

/// Resolves the JSON keys of an entity to targets, by the naming rules of the model. Each key table resolves a key
/// once.
struct KeyResolver {
    let names: EntityKeyMap
    /// The discriminator keys of the entity; nil for a model without discriminators.
    var kinds: DiscriminatorKeys?

    /// Returns the targets of a key.
    ///
    /// - Parameters:
    ///   - path: The keys from the record to the object that has the key.
    ///   - nested: Returns the index of the key table for a nested object. Its arguments are the path of the object and
    ///     the members that are read from inside.
    func targets(
        of key: String, path: [String], nested: ([String], EntityKeyMap.NestedMembers) -> Int
    ) -> [KeyTable.Target] {
        let full = RemoteKeyPath.text(path + [key])
        var targets: [KeyTable.Target]
        if path.isEmpty {
            targets = names.attribute(forKey: key).map { [.attribute(slot: $0.slot, strength: $0.strength)] } ?? []
        } else {
            targets = names.slots(withRemoteKey: full).map { .attribute(slot: $0, strength: 0) }
        }
        for found in path.isEmpty ? names.relationships(readFrom: key) : names.relationships(readFromPath: full) {
            if !found.isForIDs {
                targets.append(.relationship(found.index, strength: found.strength))
            } else if path.isEmpty {
                targets.append(.ids(found.index, strength: found.strength))
            }
        }
        if let below = names.members(below: full) { targets.append(.nested(table: nested(path + [key], below))) }
        if let kinds {
            let name = (path + [key]).joined(separator: ".")
            targets += kinds.targets(of: name)
            if targets.isEmpty, kinds.isAbove(name) {
                targets = [.nested(table: nested(path + [key], .init()))]
            }
        }
        if targets.isEmpty, names.ignores(key, at: path) { targets.append(.ignored) }
        return targets
    }
}

extension KeyTable.Target {
    /// Returns the strength of the target for a part of a key; nil if it does not fill the part. A lower strength takes
    /// precedence.
    func strength(for part: CompositeKey.Part) -> Int? {
        switch (self, part) {
        case (.attribute(let slot, let strength), .attribute(let wanted)): slot == wanted ? strength : nil
        case (.relationship(let index, let strength), .relationship(let wanted)): index == wanted ? strength : nil
        case (.ids(let index, let strength), .relationship(let wanted)): index == wanted ? 100 + strength : nil
        default: nil
        }
    }
}
