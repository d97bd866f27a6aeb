/// The key tables of a model: one for each entity, and one for each object that dotted remote keys lead into.
package struct KeyTables {
    private struct NestedObject: Hashable {
        let entity: Int
        let path: [String]
    }

    private let model: CompiledModel
    /// The tables of entities in the order of the model, followed by the other tables.
    package private(set) var all: [KeyTable]
    private var nested: [NestedObject: Int] = [:]
    /// The tables of the edges around root records, by entity; -1 if it does not exist yet.
    private var rootEdges: [Int]
    /// Whether lists can be in `edges` or `nodes`.
    package var readsConnections = false

    package init(_ model: CompiledModel) {
        self.model = model
        all = model.entities.map { KeyTable(entity: $0.id, path: []) }
        rootEdges = Array(repeating: -1, count: all.count)
    }

    /// Returns the entry of a key, and adds it if it is new. `previous` is the entry of the preceding key in the
    /// object, or -1.
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

    /// Returns whether an object under an attribute's key only contains the attribute's value, as with `title` of
    /// `title.rendered`.
    package func isOnlyAround(_ slot: Int, _ entry: Int, _ table: Int) -> Bool {
        let walksInto = all[table].targets[entry].contains { target in
            if case .nested(let nested) = target { all[nested].slots.contains(slot) } else { false }
        }
        guard walksInto else { return false }
        let attribute = model[model.entities[all[table].entity].table].attributes[slot]
        return attribute.type != .json && attribute.transformer == nil
    }

    /// Returns whether an attribute takes a value other than an object under its own name. Its remote key must be the
    /// only one that leads into an object there.
    func overrides(_ nested: Int, _ entry: Int, _ table: Int) -> Bool {
        all[table].targets[entry].contains { target in
            if case .attribute(let slot, _) = target { all[nested].slots == [slot] } else { false }
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
            kinds: model.hasKinds ? DiscriminatorKeys(model.entities[entity], of: model) : nil)
        var targets = resolver.targets(
            of: String(decoding: key, as: UTF8.self), path: all[table].path,
            nested: { path, slots in
                nestedTable(path, slots, isKept: isKept || keepsWhole(path, names, of: entity), of: entity)
            })
        if readsConnections { readConnection(String(decoding: key, as: UTF8.self), table, &targets) }
        if targets.isEmpty, isKept { targets = [.ignored] }
        return all[table].add(key, targets, after: previous)
    }

    private mutating func nestedTable(_ path: [String], _ slots: [Int], isKept: Bool, of entity: Int) -> Int {
        let object = NestedObject(entity: entity, path: path)
        if let known = nested[object] { return known }
        all.append(KeyTable(entity: entity, path: path, slots: slots, isKept: isKept))
        nested[object] = all.count - 1
        return all.count - 1
    }

    // MARK: Connections

    /// Adds targets for the members of a connection beside its records, so that unmapped ones are counted.
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
        let new = nestedTable(path, [], isKept: isKept, of: entity)
        all[new].role = role
        targets.append(.nested(table: new))
    }

    /// Returns the table of the edges around root records.
    mutating func edges(of entity: Int) -> Int {
        if rootEdges[entity] < 0 {
            rootEdges[entity] = nestedTable(["edges"], [], isKept: false, of: entity)
            all[rootEdges[entity]].role = .edge
        }
        return rootEdges[entity]
    }

    /// Returns the objects that a nested table reads under its key: the object itself, or the edges of a connection.
    package func objects(_ nested: Int, _ tape: JSONTape, at value: Int, _ bytes: UnsafeBufferPointer<UInt8>) -> [Int] {
        switch (all[nested].role, tape.tokens[value].kind) {
        case (.object, .object): return [value]
        case (.connection, .object):
            let isConnection =
                tape.member(named: "nodes", of: value, in: bytes)
                ?? tape.member(named: "edges", of: value, in: bytes)
            return isConnection != nil || !all[nested].slots.isEmpty ? [value] : []
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
}

/// The JSON keys of one kind of object, with the attributes and relationships that they fill.
///
/// Each key is resolved once, by its bytes. A table belongs to an entity, or to an object that dotted remote keys lead
/// into.
package struct KeyTable {
    /// The target of a key.
    package enum Target {
        /// An attribute. A lower strength wins. If strengths are equal, the later key in the document wins.
        case attribute(slot: Int, strength: Int)
        /// A relationship, under its name or its remote key. The value can be objects, IDs or null.
        case relationship(Int, strength: Int)
        /// A relationship, under a key for IDs only.
        case ids(Int, strength: Int)
        /// The discriminator of the record, or, if `relationship` is not -1, that of the row a relationship references.
        case kind(relationship: Int)
        /// An object that contains the values, with the table of its keys.
        case nested(table: Int)
        /// Ignored, and not reported as unmapped.
        case ignored
    }

    /// A key that occurred.
    package struct Entry {
        let key: KeyBytes
        /// The one attribute that the key fills; -1 if `targets` has no target, several, or another kind of target.
        package let slot: Int
        let strength: UInt8
        /// The entry of the key that followed this one last time.
        var follower: Int32 = -1
    }

    /// The kind of object whose keys a table has.
    enum Role {
        case object
        /// A GraphQL connection, and one of its edges.
        case connection, edge
    }

    let entity: Int
    var role = Role.object
    /// The dotted path from the record to the object; empty for the record itself.
    package let path: [String]
    /// The attributes that dotted remote keys fill from this object. Null instead of the object clears them.
    package let slots: [Int]
    /// Whether an attribute takes the whole object, so that its unmapped keys are not reported.
    let isKept: Bool
    package private(set) var entries: [Entry] = []
    package private(set) var names: [[UInt8]] = []
    package private(set) var targets: [[Target]] = []
    /// The number of occurrences of each key without a target.
    private(set) var unmapped: [Int] = []
    private var byHash: [Int: [Int32]] = [:]
    /// The entry of an object's first key last time.
    private var first: Int32 = -1

    init(entity: Int, path: [String], slots: [Int] = [], isKept: Bool = false) {
        self.isKept = isKept
        self.entity = entity
        self.path = path
        self.slots = slots
    }

    /// Returns the entry of the key at `offset` if it is the one that followed `previous` last time.
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

    /// Returns a hash of the whole name, seeded for each process, so that crafted names cannot collide.
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

/// A key as two words. They identify keys of up to 16 bytes, and nearly all longer ones.
struct KeyBytes: Equatable {
    private var length: Int
    /// The first eight bytes, padded with zeros.
    private var head: UInt64
    /// The last eight bytes of a longer key.
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

    /// Whether equal values in this form are equal keys.
    var isWhole: Bool { length <= 16 }
}

/// Resolves the JSON keys of an entity to targets, by the rules of naming. It is called once for each key and entity.
struct KeyResolver {
    let names: EntityKeyMap
    /// Nil for a model without discriminators.
    var kinds: DiscriminatorKeys?

    /// Returns the targets of a key at the end of `path`. `nested` returns the table of an object that dotted keys lead
    /// into.
    func targets(of key: String, path: [String], nested: ([String], [Int]) -> Int) -> [KeyTable.Target] {
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
        if let below = names.slots(below: full) { targets.append(.nested(table: nested(path + [key], below))) }
        if let kinds {
            let name = (path + [key]).joined(separator: ".")
            targets += kinds.targets(of: name)
            if targets.isEmpty, kinds.isAbove(name) {
                targets = [.nested(table: nested(path + [key], []))]
            }
        }
        if targets.isEmpty, names.ignores(key, at: path) { targets.append(.ignored) }
        return targets
    }
}
