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
            kinds: model.hasKinds ? KindKeys(model.entities[entity], of: model) : nil)
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
    private func keepsWhole(_ path: [String], _ names: EntityNames, of entity: Int) -> Bool {
        let slots =
            path.count == 1
            ? names.attribute(forKey: path[0]).map { [$0.slot] } ?? []
            : names.slots(withRemoteKey: RemoteKeyPath.text(path))
        let attributes = model[model.entities[entity].table].attributes
        return slots.contains { attributes[$0].type == .json || attributes[$0].transformer != nil }
    }
}
