import SyncCore

/// Finds which entities the objects of samples are of.
///
/// Objects under one key are of one entity, named after the key. Where that contradicts itself (some have an id, some
/// have none; objects beside other values; an object that is used as a dictionary) the place is plain data; where two
/// places contradict each other, one is of an entity of its own. The search then starts over.
struct EntityDiscovery {
    /// A key of an entity.
    struct Place: Hashable {
        var entity: String
        var key: String
    }

    /// Samples that contradict themselves in more rounds than this are no rows below their root.
    private static let maximumRounds = 100

    /// So many entities are inferred, and so many members of each: a table of SQLite has no more columns.
    static let mostEntities = 2_000
    static let mostMembers = 2_000

    private let roots: [(entity: String, object: ObservedObject)]
    private let rootNames: Set<String>
    private let rootKeys: [String: [String]]
    private(set) var entities: [InferredEntity] = []
    /// Entity names without regard to case → the entity meant, other names of it too.
    private(set) var links: [String: String] = [:]
    private(set) var remarks: [InferenceNote] = []
    private var plain: Set<Place> = []
    private var order: [String] = []
    private var objects: [String: ObservedObject] = [:]
    private var destinations: [Place: String] = [:]
    private var sightings: [Place: [ObservedObject]] = [:]
    /// By entity: its places in the order they were seen.
    private var places: [String: [Place]] = [:]
    /// The places whose objects hold their records by name, and what is thought of them.
    private var keyed: [Place: Bool] = [:]
    /// The places that were given an entity of their own.
    private var own: [Place: String] = [:]
    /// Places whose objects are of several entities that they name: nothing can be read from them.
    private var unreadable: Set<Place> = []

    /// - Parameter rootKeys: The keys of the roots; of those that are not there, no key is known.
    init(roots: [(entity: String, object: ObservedObject)], rootKeys: [String: [String]]) {
        self.roots = roots
        rootNames = Set(roots.map(\.entity))
        self.rootKeys = rootKeys
        for root in roots { links[root.entity.lowercased()] = root.entity }
    }

    /// - Throws: ``SyncError`` `invalidModel` for more entities or members than are inferred.
    mutating func run() throws {
        var rounds = 0
        repeat {
            collect()
            rounds += 1
            if rounds == Self.maximumRounds { plain.formUnion(destinations.keys) }
        } while markPlainData() || separate() || unifyTwins() || rounds == Self.maximumRounds
        try checkSize()
        let destinations = Dictionary(grouping: self.destinations, by: \.key.entity)
        let unreadable = Dictionary(grouping: self.unreadable, by: \.entity)
        let named = Set(keyed.filter(\.value).compactMap { self.destinations[$0.key] })
        entities = order.compactMap { name in
            entity(name, destinations[name] ?? [], unreadable: unreadable[name] ?? [], isNamed: named.contains(name))
        }
    }

    private func checkSize() throws {
        let advice = "; where such keys are data, write a model that reads what holds them as JSON"
        guard order.count <= Self.mostEntities else {
            throw SyncError(
                .invalidModel,
                "the sample has more than \(Self.mostEntities) kinds of objects, and no more are inferred" + advice,
                entity: roots.first?.entity)
        }
        if let wide = order.first(where: { objects[$0].map { $0.keys.count > Self.mostMembers } ?? false }) {
            throw SyncError(
                .invalidModel,
                "the sample has objects with more than \(Self.mostMembers) keys, and a table has no more columns"
                    + advice,
                entity: wide)
        }
    }

    // MARK: Collecting

    private mutating func collect() {
        order = []
        objects = [:]
        destinations = [:]
        sightings = [:]
        places = [:]
        keyed = [:]
        for root in roots { add(root.object, to: root.entity) }
    }

    private mutating func add(_ object: ObservedObject, to entity: String) {
        if objects[entity] == nil {
            order.append(entity)
            objects[entity] = ObservedObject(entity: entity)
        }
        objects[entity]?.merge(object)
        for key in object.keys {
            guard let value = object.members[key], var nested = value.object else { continue }
            let place = Place(entity: entity, key: key)
            guard !plain.contains(place) else { continue }
            if value.destinations.count > 1 { unreadable.insert(place) }
            if value.isPlain || value.destinations.count > 1 {
                plain.insert(place)
                continue
            }
            let records = value.objectLists == 0 ? nested.keyedRecords : nil
            if let known = keyed[place], known != (records != nil) {
                plain.insert(place)
                continue
            }
            keyed[place] = records != nil
            nested = records ?? nested
            let isList = value.objectLists > 0 || records != nil
            let destination =
                destinations[place] ?? value.destinations.first.map { meant($0) } ?? name(of: place, isList: isList)
            if destinations[place] == nil { places[destination, default: []].append(place) }
            destinations[place] = destination
            sightings[place, default: []].append(nested)
            add(nested, to: destination)
        }
    }

    private mutating func name(of place: Place, isList: Bool) -> String {
        meant(own[place] ?? Inflection.entityName(place.key, isList: isList))
    }

    /// The entity that is known under a name, or is from now on.
    private mutating func meant(_ name: String) -> String {
        if let known = links[name.lowercased()] { return known }
        links[name.lowercased()] = name
        return name
    }

    // MARK: Plain data

    /// Records the paths whose objects are no rows; false if there is none left.
    private mutating func markPlainData() -> Bool {
        let before = plain.count
        for (place, destination) in destinations where !areRows(place, destination) { plain.insert(place) }
        // Places that were found to be plain on the way have left their objects behind.
        return plain.count > before || destinations.keys.contains { plain.contains($0) }
    }

    private func areRows(_ place: Place, _ destination: String) -> Bool {
        guard let value = objects[place.entity]?.members[place.key], let target = objects[destination] else {
            return false
        }
        // Objects beside anything else: only the id of a row may stand in its place.
        if value.objectLists > 0, value.singles > 0 || value.scalarLists > 0 || value.scalars.count > 0 { return false }
        if value.otherLists > 0 { return false }
        if value.singles > 0, value.lists > (keyed[place] == true ? value.emptyLists : 0) { return false }
        let seen = sightings[place] ?? []
        if key(of: place.entity).contains(place.key) { return false }
        let key = key(of: destination)
        guard key.isEmpty else {
            // Root records without a key are skipped and reported, nested ones are rather kept as they are.
            guard seen.allSatisfy({ Self.haveKey(key, $0) }), areSound(seen, isLink: !value.destinations.isEmpty)
            else { return false }
            guard value.scalars.count > 0 else { return true }
            guard key.count == 1, let type = target.members[key[0]]?.scalars.keyType else { return false }
            return keyed[place] != true && value.scalars.fits(key: type)
        }
        guard !isRoot(destination), KeyNames.ids.allSatisfy({ target.members[$0] == nil }) else {
            return false
        }
        return value.scalars.count == 0 && target.isRecordLike
    }

    private static func haveKey(_ key: [String], _ object: ObservedObject) -> Bool {
        key.allSatisfy { part in object.members[part].map { $0.scalars.count >= object.count } ?? false }
    }

    /// Whether the same id stands for the same thing in one place.
    private func areSound(_ seen: [ObservedObject], isLink: Bool) -> Bool {
        guard !isLink else { return true }
        var known = SeenObjects()
        for (index, object) in seen.enumerated() {
            if object.things.contradictions > 0, object.things.areUnsound { return false }
            guard seen.count > 1 else { continue }
            if index > 0, known.contradicts(object.things) { return false }
            known.merge(object.things)
        }
        return true
    }

    private func isRoot(_ entity: String) -> Bool { rootNames.contains(entity) }

    /// The keys that all objects of an entity have; of a root, those that were found for it. None of a keyless entity.
    private func key(of entity: String) -> [String] {
        if let key = rootKeys[entity] { return key }
        guard !isRoot(entity), let object = objects[entity] else { return [] }
        return object.names.names(in: object.keys).first { object.members[$0]?.isKeyOfAll(object.count) ?? false }
            .map { [$0] } ?? []
    }

    // MARK: Different things

    /// Gives places whose objects cannot be of the same entity as those of an earlier place one of their own, named after
    /// their owner; a second time they are plain data. False if there are none.
    private mutating func separate() -> Bool {
        var isChanged = false
        for entity in order {
            let found = places[entity] ?? []
            let root = roots.filter { $0.entity == entity }
            guard found.count + root.count > 1 else { continue }
            let key = Set(key(of: entity))
            var known = SeenObjects()
            var kinds: [Set<String>] = []
            for object in root.map(\.object) {
                known.merge(object.things)
                kinds.append(Set(object.keys).subtracting(key))
            }
            for place in found {
                let seen = sightings[place] ?? []
                let keys = seen.reduce(into: Set<String>()) { $0.formUnion($1.keys) }.subtracting(key)
                let isLink = objects[place.entity]?.members[place.key]?.destinations.isEmpty == false
                let isOther =
                    !isLink
                    && (kinds.contains { Self.areOfOtherKinds($0, keys) }
                        || (!key.isEmpty && seen.contains { known.contradicts($0.things) }))
                guard !isOther else {
                    separate(place)
                    isChanged = true
                    continue
                }
                for object in seen { known.merge(object.things) }
                if !isLink { kinds.append(keys) }
            }
        }
        return isChanged
    }

    /// Whether two sets of keys, the primary key aside, have nothing in common.
    private static func areOfOtherKinds(_ left: Set<String>, _ right: Set<String>) -> Bool {
        left.count > 1 && right.count > 1 && left.isDisjoint(with: right)
    }

    private mutating func separate(_ place: Place) {
        guard own[place] == nil else {
            plain.insert(place)
            return
        }
        let isList = (objects[place.entity]?.members[place.key]?.objectLists ?? 0) > 0 || keyed[place] == true
        let base = place.entity + Inflection.entityName(place.key, isList: isList)
        var name = base
        var number = 2
        while links[name.lowercased()] != nil {
            name = "\(base)\(number)"
            number += 1
        }
        own[place] = name
        let other = destinations[place] ?? ""
        remarks.append(.init("\(place.entity).\(place.key)", "\(name): these are other things than \(other)"))
    }

    // MARK: Twins

    /// Two entities are one if they have the same keys and a row of the same id, and such rows are equal in more than
    /// the id: `author` and `editor`. False if there are none.
    private mutating func unifyTwins() -> Bool {
        var twins = DuplicateEntityFinder()
        for name in order {
            guard let object = objects[name] else { continue }
            twins.add(name, object, key: key(of: name), isRoot: isRoot(name))
        }
        for (alias, meant) in links {
            if let twin = twins.unified[meant] { links[alias] = twin }
        }
        return !twins.unified.isEmpty
    }

    /// - Parameters:
    ///   - unreadable: Its places of which nothing can be read.
    ///   - isNamed: Whether its records stand under names.
    private func entity(
        _ name: String, _ destinations: [(key: Place, value: String)], unreadable: [Place], isNamed: Bool
    ) -> InferredEntity? {
        guard let object = objects[name] else { return nil }
        let key = key(of: name)
        let found = destinations.map { ($0.key.key, $0.value) }
        let nameKeyed = destinations.filter { keyed[$0.key] == true }
        return InferredEntity(
            name: name, object: object, key: key,
            keyType: key.count == 1 ? object.members[key[0]]?.scalars.keyType : nil,
            isRoot: isRoot(name), destinations: Dictionary(found, uniquingKeysWith: { first, _ in first }),
            keyed: Set(nameKeyed.map(\.key.key)),
            nameOfNames: isNamed ? object.nameOfNames : nil, unreadable: Set(unreadable.map(\.key)))
    }
}

// MARK: - JSONValue+Contradiction

extension JSONValue {
    /// Whether two values that are said of the same thing cannot both be true: other scalars, lists that differ, or objects
    /// that differ in a key both have. An object may say less than another one.
    func contradicts(_ other: JSONValue) -> Bool {
        switch (self, other) {
        case (.object(let members), .object):
            members.contains { member in
                guard let value = other[member.key] else { return false }
                return member.value.contradicts(value)
            }
        case (.array(let elements), .array(let others)):
            elements.count != others.count || zip(elements, others).contains { $0.contradicts($1) }
        default: self != other
        }
    }
}

/// What objects in one place say of the things that have an id.
struct SeenObjects {
    /// By the text of the id, then by key.
    private(set) var values: [String: [String: JSONValue]] = [:]
    /// How often a thing was seen again, and how often what was said of it then could not be true with the earlier.
    private(set) var repeats = 0
    private(set) var contradictions = 0
    /// Whether a thing was said to be of two kinds.
    private(set) var mixesKinds = false

    /// So many things are enough to compare two places by.
    static let maximum = 10_000

    /// Members that say of which kind a thing is.
    private static let kindKeys: Set<String> = ["type", "__typename"]

    mutating func insert(_ members: [JSONValue.Member], id: String) {
        guard var known = values[id] else {
            guard values.count < Self.maximum else { return }
            values[id] = Dictionary(members.map { ($0.key, $0.value) }, uniquingKeysWith: { _, later in later })
            return
        }
        repeats += 1
        var contradicts = false
        for member in members {
            if let value = known[member.key], value.contradicts(member.value) {
                contradicts = true
                if Self.kindKeys.contains(member.key) { mixesKinds = true }
            }
            known[member.key] = member.value
        }
        if contradicts { contradictions += 1 }
        values[id] = known
    }

    /// Whether what was seen again is so often contradicted that the ids are no ids of rows.
    var areUnsound: Bool { mixesKinds || contradictions * 20 > repeats }

    /// Whether another place says of some thing what cannot be true with this.
    func contradicts(_ other: SeenObjects) -> Bool {
        let (small, large) = values.count < other.values.count ? (values, other.values) : (other.values, values)
        return small.contains { id, members in
            guard let known = large[id] else { return false }
            return members.contains { key, value in known[key]?.contradicts(value) ?? false }
        }
    }

    mutating func merge(_ other: SeenObjects) {
        values.merge(other.values) { $0.merging($1) { _, later in later } }
        repeats += other.repeats
        contradictions += other.contradictions
        if other.mixesKinds { mixesKinds = true }
    }

    /// The scalars alone, of each thing.
    var scalars: [String: [String: JSONValue]] { values.mapValues { $0.filter { $0.value.isScalar } } }
}

extension JSONValue {
    var isScalar: Bool {
        switch self {
        case .array, .object: false
        default: true
        }
    }
}
