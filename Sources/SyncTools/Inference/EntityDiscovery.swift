import SyncCore

/// The assignment of an entity to each object of the samples.
///
/// Objects under one key are rows of one entity, which is named after the key or after the JSON:API type. In some
/// places, only some objects have an ID, values other than IDs are among the objects, or an object is a dictionary of
/// values. The objects of such a place are plain data, which is stored as JSON. If the objects of two places are
/// inconsistent with each other, one of the places gets a separate entity, and the search starts again.
struct EntityDiscovery {
    /// A place in the samples: a key in the objects of an entity.
    struct Member: Hashable {
        var entity: String
        var key: String
    }

    /// After this many rounds, all places below the roots are treated as plain data.
    private static let maximumRounds = 100

    /// The largest number of entities to infer, and the largest number of members of an entity. A table of SQLite has
    /// at most 2,000 columns by default.
    static let mostEntities = 2_000
    static let mostMembers = 2_000

    private let roots: [(entity: String, object: ObservedObject)]
    private let rootNames: Set<String>
    private let rootKeys: [String: [String]]
    private(set) var entities: [InferredEntity] = []
    /// The name of the entity for each lowercased name. An alias has the name of the entity that it was merged with.
    private(set) var links: [String: String] = [:]
    private(set) var notes: [InferenceNote] = []
    private var plain: Set<Member> = []
    private var order: [String] = []
    private var objects: [String: ObservedObject] = [:]
    private var destinations: [Member: String] = [:]
    private var sightings: [Member: [ObservedObject]] = [:]
    /// The places whose objects belong to an entity, in the order in which they were found.
    private var members: [String: [Member]] = [:]
    /// For each place, whether the members of its objects are records.
    private var keyed: [Member: Bool] = [:]
    /// The separate entity of a place, if it has one.
    private var own: [Member: String] = [:]
    /// The places whose objects belong to several entities. No relationship can be read from such a place.
    private var unreadable: Set<Member> = []

    /// Creates the search.
    ///
    /// - Parameter rootKeys: The primary keys of the root entities. A root without an entry has no known key.
    init(roots: [(entity: String, object: ObservedObject)], rootKeys: [String: [String]]) {
        self.roots = roots
        rootNames = Set(roots.map(\.entity))
        self.rootKeys = rootKeys
        for root in roots { links[root.entity.lowercased()] = root.entity }
    }

    /// Assigns the entities.
    ///
    /// - Throws: ``SyncError`` `invalidModel` if there are too many entities or members.
    mutating func run() throws {
        var rounds = 0
        repeat {
            collect()
            rounds += 1
            if rounds == Self.maximumRounds { plain.formUnion(destinations.keys) }
        } while addPlainData() || separate() || mergeDuplicates() || rounds == Self.maximumRounds
        try checkSize()
        let destinations = Dictionary(grouping: self.destinations, by: \.key.entity)
        let unreadable = Dictionary(grouping: self.unreadable, by: \.entity)
        let named = Set(keyed.filter(\.value).compactMap { self.destinations[$0.key] })
        entities = order.compactMap { name in
            entity(name, destinations[name] ?? [], unreadable: unreadable[name] ?? [], isNamed: named.contains(name))
        }
    }

    private func checkSize() throws {
        let advice = "; if the keys of an object are data, write a model with an attribute of type json for that object"
        guard order.count <= Self.mostEntities else {
            throw SyncError(
                .invalidModel,
                "the sample has more than the \(Self.mostEntities) kinds of objects that inference supports" + advice,
                entity: roots.first?.entity)
        }
        if let wide = order.first(where: { objects[$0].map { $0.keys.count > Self.mostMembers } ?? false }) {
            throw SyncError(
                .invalidModel,
                "the sample has objects with more than \(Self.mostMembers) keys, the most columns of a table"
                    + advice,
                entity: wide)
        }
    }

    // MARK: Collection

    private mutating func collect() {
        order = []
        objects = [:]
        destinations = [:]
        sightings = [:]
        members = [:]
        keyed = [:]
        for root in roots { add(root.object, to: root.entity) }
    }

    private mutating func add(_ object: ObservedObject, to entity: String) {
        if objects[entity] == nil {
            order.append(entity)
            objects[entity] = ObservedObject(entity: entity)
        }
        objects[entity]?.merge(object)
        // No member is inferred for an empty key, so its objects belong to no entity.
        for key in object.keys where !key.isEmpty {
            guard let value = object.members[key], var nested = value.object else { continue }
            let place = Member(entity: entity, key: key)
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
            if destinations[place] == nil { members[destination, default: []].append(place) }
            destinations[place] = destination
            sightings[place, default: []].append(nested)
            add(nested, to: destination)
        }
    }

    private mutating func name(of place: Member, isList: Bool) -> String {
        meant(own[place] ?? Inflection.entityName(place.key, isList: isList))
    }

    /// Returns the entity with a name or alias, and registers a new name.
    private mutating func meant(_ name: String) -> String {
        if let known = links[name.lowercased()] { return known }
        links[name.lowercased()] = name
        return name
    }

    // MARK: Plain data

    /// Marks the places whose objects are not rows as plain data. Returns whether the objects must be collected again.
    private mutating func addPlainData() -> Bool {
        let before = plain.count
        for (place, destination) in destinations where !areRows(place, destination) { plain.insert(place) }
        // `collect` may have added objects of a place before it found the place to be plain, so it must run again.
        return plain.count > before || destinations.keys.contains { plain.contains($0) }
    }

    private func areRows(_ place: Member, _ destination: String) -> Bool {
        guard let value = objects[place.entity]?.members[place.key], let target = objects[destination] else {
            return false
        }
        // Beside objects, only IDs of rows are allowed.
        if value.objectLists > 0, value.singles > 0 || value.scalarLists > 0 || value.scalars.count > 0 { return false }
        if value.otherLists > 0 { return false }
        if value.singles > 0, value.lists > (keyed[place] == true ? value.emptyLists : 0) { return false }
        let seen = sightings[place] ?? []
        if key(of: place.entity).contains(place.key) { return false }
        let key = key(of: destination)
        guard key.isEmpty else {
            // Root records without a key are skipped and reported. Nested objects are kept as plain data instead.
            guard seen.allSatisfy({ Self.haveKey(key, $0) }), areConsistent(seen, isLink: !value.destinations.isEmpty)
            else { return false }
            guard value.scalars.count > 0 else { return true }
            guard key.count == 1, let type = target.members[key[0]]?.scalars.keyType else { return false }
            return keyed[place] != true && value.scalars.fits(key: type) && hasIDs(place, of: target)
        }
        guard !isRoot(destination), KeyNames.ids.allSatisfy({ target.members[$0] == nil }) else {
            return false
        }
        return value.scalars.count == 0 && target.isRecordLike
    }

    /// Returns whether a value at a place is the ID of an observed object; otherwise the values may be plain data.
    private func hasIDs(_ place: Member, of target: ObservedObject) -> Bool {
        objects[place.entity]?.things.values.values
            .contains { $0[place.key]?.keyText.map { target.things.values[.text($0)] != nil } ?? false } ?? false
    }

    private static func haveKey(_ key: [String], _ object: ObservedObject) -> Bool {
        key.allSatisfy { part in object.members[part].map { $0.scalars.count >= object.count } ?? false }
    }

    /// Returns whether the IDs within a place identify rows; always true for JSON:API linkage.
    private func areConsistent(_ seen: [ObservedObject], isLink: Bool) -> Bool {
        guard !isLink else { return true }
        var known = SeenObjects()
        for (index, object) in seen.enumerated() {
            if object.things.contradictions > 0, object.things.areInconsistent { return false }
            guard seen.count > 1 else { continue }
            if index > 0, known.contradicts(object.things) { return false }
            known.merge(object.things)
        }
        return true
    }

    private func isRoot(_ entity: String) -> Bool { rootNames.contains(entity) }

    /// Returns the primary key of an entity. A root entity has the given key. Any other entity has the first key with a
    /// recognized name that all objects have. Returns an empty list if there is no key.
    private func key(of entity: String) -> [String] {
        if let key = rootKeys[entity] { return key }
        guard !isRoot(entity), let object = objects[entity] else { return [] }
        return object.names.names(in: object.keys).first { object.members[$0]?.isKeyOfAll(object.count) ?? false }
            .map { [$0] } ?? []
    }

    // MARK: Separate entities

    /// Gives a place a separate entity if its objects cannot be rows of the entity of an earlier place or of a root. A
    /// place that already has a separate entity becomes plain data. Returns whether anything changed.
    private mutating func separate() -> Bool {
        var isChanged = false
        for entity in order {
            let found = members[entity] ?? []
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

    /// Returns whether two sets of keys, without the primary key, are disjoint. A set of one key proves nothing.
    private static func areOfOtherKinds(_ left: Set<String>, _ right: Set<String>) -> Bool {
        left.count > 1 && right.count > 1 && left.isDisjoint(with: right)
    }

    private mutating func separate(_ place: Member) {
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
        notes.append(
            .init("\(place.entity).\(place.key)", "\(name): its records are distinct from those of \(other)"))
    }

    // MARK: Duplicate entities

    /// Merges entities that have the same keys and share rows, such as `author` and `editor`. Shared rows have the same
    /// ID and are equal in more than the ID. Returns whether any entities were merged.
    private mutating func mergeDuplicates() -> Bool {
        var duplicates = DuplicateEntityFinder()
        for name in order {
            guard let object = objects[name] else { continue }
            duplicates.add(name, object, key: key(of: name), isRoot: isRoot(name))
        }
        for (alias, meant) in links {
            if let duplicate = duplicates.unified[meant] { links[alias] = duplicate }
        }
        return !duplicates.unified.isEmpty
    }

    /// Creates the inferred entity of a name; nil if it has no objects.
    ///
    /// - Parameters:
    ///   - unreadable: The places of the entity from which nothing can be read.
    ///   - isNamed: Whether a nested object has records of the entity as members.
    private func entity(
        _ name: String, _ destinations: [(key: Member, value: String)], unreadable: [Member], isNamed: Bool
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
            objectKeyAttribute: isNamed ? object.objectKeyAttribute : nil, unreadable: Set(unreadable.map(\.key)))
    }
}

// MARK: - JSONValue+Contradiction

extension JSONValue {
    /// Returns whether two values of one row are inconsistent: different scalars, different lists, or objects that
    /// differ in a common key. An object may lack keys of the other object.
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

/// The members of the objects of one place, by ID.
struct SeenObjects {
    /// The value of each key, by the ID of the object as text. IDs are compared by bytes, unlike Swift strings.
    private(set) var values: [PrimaryKeyValue: [String: JSONValue]] = [:]
    /// The number of objects whose ID occurred before. `contradictions` counts those of them that are inconsistent with
    /// an earlier object.
    private(set) var repeats = 0
    private(set) var contradictions = 0
    /// Whether objects with one ID have different types (`type`, `__typename`).
    private(set) var mixesKinds = false

    /// The largest number of IDs to keep for one place.
    static let maximum = 10_000

    /// The keys whose values state the type of an object.
    private static let kindKeys: Set<String> = ["type", "__typename"]

    mutating func insert(_ members: [JSONValue.Member], id: String) {
        let id = PrimaryKeyValue.text(id)
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

    /// Whether the IDs do not identify rows, because one ID has several types, or inconsistent objects are frequent.
    var areInconsistent: Bool { mixesKinds || contradictions * 20 > repeats }

    /// Returns whether another place has an object with the same ID and inconsistent values.
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

    /// The scalar members of each object, by its ID.
    var scalars: [PrimaryKeyValue: [String: JSONValue]] { values.mapValues { $0.filter { $0.value.isScalar } } }
}

extension JSONValue {
    var isScalar: Bool {
        switch self {
        case .array, .object: false
        default: true
        }
    }
}
