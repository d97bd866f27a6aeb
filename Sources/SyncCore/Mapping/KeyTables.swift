/// The key tables of the entities of a model, and of the objects that dotted remote keys walk into.
struct KeyTables {
    private struct NestedObject: Hashable {
        let entity: Int
        let path: [String]
    }

    private let model: CompiledModel
    /// Those of entities by their place in the model, then the others.
    private(set) var all: [KeyTable]
    private var nested: [NestedObject: Int] = [:]

    init(_ model: CompiledModel) {
        self.model = model
        all = model.entities.map { KeyTable(entity: $0.id, path: []) }
    }

    /// The entry of a key in a table, made if it is new. `previous` is that of the key before it in the same object, or -1.
    @inline(__always)
    mutating func entry(
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
    func isOnlyAround(_ slot: Int, _ entry: Int, _ table: Int) -> Bool {
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
                let object = NestedObject(entity: entity, path: path)
                if let known = nested[object] { return known }
                let isKept = isKept || keepsWhole(path, names, of: entity)
                all.append(KeyTable(entity: entity, path: path, slots: slots, isKept: isKept))
                nested[object] = all.count - 1
                return all.count - 1
            })
        if targets.isEmpty, isKept { targets = [.ignored] }
        return all[table].add(key, targets, after: previous)
    }

    /// Whether an attribute takes the object at the end of a path whole: as JSON, or through a transformer.
    private func keepsWhole(_ path: [String], _ names: EntityNames, of entity: Int) -> Bool {
        let slots =
            path.count == 1
            ? names.attribute(forKey: path[0]).map { [$0.slot] } ?? []
            : names.slots(withRemoteKey: path.joined(separator: "."))
        let attributes = model[model.entities[entity].table].attributes
        return slots.contains { attributes[$0].type == .json || attributes[$0].transformer != nil }
    }
}
