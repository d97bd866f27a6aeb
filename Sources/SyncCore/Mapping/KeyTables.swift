/// The key tables of the entities of a model, and of the objects that dotted remote keys walk into.
package struct KeyTables {
    private struct NestedObject: Hashable {
        let entity: Int
        let path: [String]
    }

    private let model: CompiledModel
    /// Those of entities by their place in the model, then the others.
    package private(set) var all: [KeyTable]
    private var nested: [NestedObject: Int] = [:]
    /// Those of the edges that records of a payload stand in, by entity; -1 where none is needed yet.
    private var rootEdges: [Int]
    /// Whether lists may stand in `edges` or `nodes`.
    package var readsConnections = false

    package init(_ model: CompiledModel) {
        self.model = model
        all = model.entities.map { KeyTable(entity: $0.id, path: []) }
        rootEdges = Array(repeating: -1, count: all.count)
    }

    /// The entry of a key in a table, made if it is new. `previous` is that of the key before it in the same object, or -1.
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

    /// Whether an object under a key of an attribute is only what the attribute's remote key walks into: `title` of
    /// `title.rendered`.
    package func isOnlyAround(_ slot: Int, _ entry: Int, _ table: Int) -> Bool {
        let walksInto = all[table].targets[entry].contains { target in
            if case .nested(let nested) = target { all[nested].slots.contains(slot) } else { false }
        }
        guard walksInto else { return false }
        let attribute = model[model.entities[all[table].entity].table].attributes[slot]
        return attribute.type != .json && attribute.transformer == nil
    }

    /// Whether a value other than an object is what an attribute takes under its own name, though the only remote key that
    /// walks into the object there is its own.
    func isInPlaceOf(_ nested: Int, _ entry: Int, _ table: Int) -> Bool {
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

    /// What stands in a connection beside its records is looked at too, so that it is known what nothing takes.
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

    /// The table of the edges that the records of a payload stand in.
    mutating func edges(of entity: Int) -> Int {
        if rootEdges[entity] < 0 {
            rootEdges[entity] = nestedTable(["edges"], [], isKept: false, of: entity)
            all[rootEdges[entity]].role = .edge
        }
        return rootEdges[entity]
    }

    /// The objects that a nested table is of, of what stands under its key: the object, or of a connection the edges.
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

    /// Whether an attribute takes the object at the end of a path whole: as JSON, or through a transformer.
    private func keepsWhole(_ path: [String], _ names: EntityKeyMap, of entity: Int) -> Bool {
        let slots =
            path.count == 1
            ? names.attribute(forKey: path[0]).map { [$0.slot] } ?? []
            : names.slots(withRemoteKey: RemoteKeyPath.text(path))
        let attributes = model[model.entities[entity].table].attributes
        return slots.contains { attributes[$0].type == .json || attributes[$0].transformer != nil }
    }
}

/// Which attributes and relationships the JSON keys of one object fill, each key resolved once by its bytes.
///
/// A table belongs to an entity, or to an object that dotted remote keys walk into.
package struct KeyTable {
    /// What a key fills.
    package enum Target {
        /// A lower strength wins; equal ones go by document order.
        case attribute(slot: Int, strength: Int)
        /// Under its own name or its remote key, where objects, ids and null may stand.
        case relationship(Int, strength: Int)
        /// Under a key that is for ids only.
        case ids(Int, strength: Int)
        /// It names the kind of the record, or (`relationship`, else -1) that of the row a relationship leads to.
        case kind(relationship: Int)
        /// The values are in an object: the table of its keys.
        case nested(table: Int)
        /// Nothing, and nothing is missed.
        case ignored
    }

    /// A key that was seen.
    package struct Entry {
        let key: KeyBytes
        /// The one attribute it fills; -1 if it fills something else, nothing, or several things: then see `targets`.
        package let slot: Int
        let strength: UInt8
        /// The entry that came after this one last time.
        var follower: Int32 = -1
    }

    /// What kind of object it is of.
    enum Role {
        case object
        /// A GraphQL connection, and one of its edges.
        case connection, edge
    }

    let entity: Int
    var role = Role.object
    /// The dotted path from the record to the object, empty for the record itself.
    package let path: [String]
    /// The attributes that dotted remote keys fill from this object; null in its place clears them.
    package let slots: [Int]
    /// Whether an attribute takes the object whole, so that nothing of it is lost.
    let isKept: Bool
    package private(set) var entries: [Entry] = []
    package private(set) var names: [[UInt8]] = []
    package private(set) var targets: [[Target]] = []
    /// By entry: how often a key that fills nothing was seen.
    private(set) var unmapped: [Int] = []
    private var byHash: [Int: [Int32]] = [:]
    /// What the first key of an object was last time.
    private var first: Int32 = -1

    init(entity: Int, path: [String], slots: [Int] = [], isKept: Bool = false) {
        self.isKept = isKept
        self.entity = entity
        self.path = path
        self.slots = slots
    }

    /// The entry of the key at a place of `text` if it is the one that came there last time.
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

    /// The entry of a key; nil if it is new.
    mutating func entry(_ name: UnsafeBufferPointer<UInt8>, after previous: Int) -> Int? {
        guard let found = byHash[Self.hash(name)]?.first(where: { isName(Int($0), name) }) else { return nil }
        learn(found, after: previous)
        return Int(found)
    }

    /// Of the whole name, and another in every process: names that are alike, or made to be, do not meet in one place.
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
        learn(entry, after: previous)
        return entries.count - 1
    }

    private mutating func learn(_ entry: Int32, after previous: Int) {
        if previous < 0 { first = entry } else { entries[previous].follower = entry }
    }

    mutating func countUnmapped(_ entry: Int) { unmapped[entry] += 1 }
}

/// A key as two words, which tell keys of up to 16 bytes apart and nearly always longer ones too.
struct KeyBytes: Equatable {
    private var length: Int
    /// The first eight bytes, zeros where there are fewer.
    private var head: UInt64
    /// The last eight bytes of a key that is longer than that.
    private var tail: UInt64

    /// The key at a place of a text.
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

    /// Whether keys that are equal in this form are the same keys.
    var isWhole: Bool { length <= 16 }
}

/// Finds what a JSON key of an entity fills, by the rules of naming. Asked once per key and entity.
struct KeyResolver {
    let names: EntityKeyMap
    /// Nil in a model without kinds.
    var kinds: DiscriminatorKeys?

    /// The targets of a key at the end of `path`. `nested` gives the table for an object that dotted keys walk into.
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
