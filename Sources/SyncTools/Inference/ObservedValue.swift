import SyncCore

/// What was seen under one key.
final class ObservedValue {
    private(set) var scalars = ObservedScalars()
    /// Objects that are no list's elements.
    private(set) var singles = 0
    /// Lists of objects, nulls aside.
    private(set) var objectLists = 0
    private(set) var scalarLists = 0
    private(set) var emptyLists = 0
    /// Lists of lists, of booleans, or of a mixture.
    private(set) var otherLists = 0
    /// The elements of lists of scalars.
    private(set) var elements = ObservedScalars()
    /// The objects, in lists or not.
    private(set) var object: ObservedObject?
    /// Listed id → the id of the row that lists it.
    private(set) var owners: [String: String] = [:]
    /// Whether an id was listed by two rows.
    private(set) var isShared = false
    /// In which order lists have the ids of their rows.
    private(set) var order = ObservedOrder()
    /// The entities that its objects say they are of, where they do.
    private(set) var destinations: Set<String> = []
    /// What the kinds of its objects are called, where that stands beside them: one, or the first two.
    private var kinds: Set<String> = []
    /// Whether it is kept as it is, whatever it looks like.
    var isPlain = false
    private let key: String

    /// - Parameter key: The key it stands under.
    init(key: String) { self.key = key }

    var lists: Int { objectLists + scalarLists + emptyLists + otherLists }
    var objects: Int { singles + objectLists }
    var count: Int { scalars.count + scalars.nulls + singles + lists }

    func observe(_ value: JSONValue, ownedBy owner: String?) {
        switch value {
        case .array(let elements): observe(list: elements, ownedBy: owner)
        case .object:
            singles += 1
            nested.observe(value)
        default: scalars.observe(value)
        }
    }

    private func observe(list: [JSONValue], ownedBy owner: String?) {
        let values = list.filter { $0 != .null }
        var objects = 0
        var scalars = 0
        for value in values {
            switch value {
            case .object: objects += 1
            case .number, .string: scalars += 1
            default: break
            }
        }
        switch values.count {
        case 0 where list.isEmpty: emptyLists += 1
        // A list of nulls only says nothing about links, and is not empty either.
        case 0: otherLists += 1
        case objects:
            objectLists += 1
            var ids: [String] = []
            for value in values {
                nested.observe(value)
                guard let id = nested.id(of: value) else { continue }
                ids.append(id)
                if let owner { own(id, by: owner) }
            }
            order.observe(ids)
        case scalars:
            scalarLists += 1
            for value in values { elements.observe(value) }
            order.observe(values.lazy.compactMap(\.keyText))
        default: otherLists += 1
        }
    }

    private func own(_ id: String, by owner: String) {
        if let known = owners[id], known != owner { isShared = true }
        owners[id] = owner
    }

    private var nested: ObservedObject {
        if let object { return object }
        let made = ObservedObject(entity: Inflection.entityName(key, isList: true))
        object = made
        return made
    }

    /// Notes of which kind the object is. Things of several kinds may share an id, and are kept as they are.
    func note(kind: String) {
        guard kinds.count < 2 else { return }
        kinds.insert(kind)
        if kinds.count > 1, singles > 0 { isPlain = true }
    }

    /// Notes of which entity objects are that say so.
    func link(to entity: String) { destinations.insert(entity) }

    /// Adds what was seen elsewhere. Of objects only that there were some: they are merged by entity.
    func merge(_ other: ObservedValue) {
        scalars.merge(other.scalars)
        singles += other.singles
        objectLists += other.objectLists
        scalarLists += other.scalarLists
        emptyLists += other.emptyLists
        otherLists += other.otherLists
        elements.merge(other.elements)
        order.merge(other.order)
        if other.isShared { isShared = true }
        destinations.formUnion(other.destinations)
        for kind in other.kinds { note(kind: kind) }
        if other.isPlain { isPlain = true }
        for (id, owner) in other.owners { own(id, by: owner) }
    }

    /// Adds what was seen elsewhere, with what is nested there.
    func add(_ other: ObservedValue) {
        merge(other)
        if let object = other.object { nested.add(object) }
    }
}

extension ObservedObject {
    /// Adds what was seen elsewhere, with what is nested there.
    func add(_ other: ObservedObject) {
        merge(other, nested: { $0.add($1) })
    }
}
