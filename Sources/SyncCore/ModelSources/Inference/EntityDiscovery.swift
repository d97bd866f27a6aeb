/// Finds which entities the objects of samples are of.
///
/// Objects under one key are of one entity, named after the key. Where that contradicts itself (some have an id, some
/// have none; objects beside other values; an object that is used as a dictionary) the place is plain data, and the
/// search starts over without it.
struct EntityDiscovery {
    /// A key of an entity.
    struct Place: Hashable {
        var entity: String
        var key: String
    }

    /// Samples that contradict themselves in more rounds than this are no rows below their root.
    private static let maximumRounds = 100

    private let roots: [(entity: String, object: ObservedObject)]
    private let rootNames: Set<String>
    private let primaryKeys: [String: String]
    private(set) var entities: [InferredEntity] = []
    /// Entity names without regard to case → the entity meant, other names of it too.
    private(set) var links: [String: String] = [:]
    private var plain: Set<Place> = []
    private var order: [String] = []
    private var objects: [String: ObservedObject] = [:]
    private var destinations: [Place: String] = [:]
    private var sightings: [Place: [ObservedObject]] = [:]

    init(roots: [(entity: String, object: ObservedObject)], primaryKeys: [String: String]) {
        self.roots = roots
        rootNames = Set(roots.map(\.entity))
        self.primaryKeys = primaryKeys
        for root in roots { links[root.entity.lowercased()] = root.entity }
    }

    mutating func run() throws {
        var rounds = 0
        repeat {
            collect()
            rounds += 1
            if rounds == Self.maximumRounds { plain.formUnion(destinations.keys) }
        } while markPlainData() || unifyTwins() || rounds == Self.maximumRounds
        let destinations = Dictionary(grouping: self.destinations, by: \.key.entity)
        entities = try order.compactMap { try entity($0, destinations[$0] ?? []) }
    }

    // MARK: Collecting

    private mutating func collect() {
        order = []
        objects = [:]
        destinations = [:]
        sightings = [:]
        for root in roots { add(root.object, to: root.entity) }
    }

    private mutating func add(_ object: ObservedObject, to entity: String) {
        if objects[entity] == nil {
            order.append(entity)
            objects[entity] = ObservedObject()
        }
        objects[entity]?.merge(object)
        for key in object.keys {
            guard let value = object.members[key], let nested = value.object else { continue }
            let place = Place(entity: entity, key: key)
            guard !plain.contains(place) else { continue }
            let destination = destinations[place] ?? name(for: key, isList: value.objectLists > 0)
            destinations[place] = destination
            sightings[place, default: []].append(nested)
            add(nested, to: destination)
        }
    }

    private mutating func name(for key: String, isList: Bool) -> String {
        let name = InferredNames.entity(key, isList: isList)
        if let known = links[name.lowercased()] { return known }
        links[name.lowercased()] = name
        return name
    }

    // MARK: Plain data

    /// Notes the places whose objects are no rows; false if there is none left.
    private mutating func markPlainData() -> Bool {
        let before = plain.count
        for (place, destination) in destinations where !areRows(place, destination) { plain.insert(place) }
        return plain.count > before
    }

    private func areRows(_ place: Place, _ destination: String) -> Bool {
        guard let value = objects[place.entity]?.members[place.key], let target = objects[destination] else {
            return false
        }
        // Objects beside anything else: only the id of a row may stand in its place.
        if value.objectLists > 0, value.singles > 0 || value.scalarLists > 0 || value.scalars.count > 0 { return false }
        if value.otherLists > 0 || (value.singles > 0 && value.lists > 0) { return false }
        if place.key == key(of: place.entity) { return false }
        if let key = key(of: destination) {
            // Root records without a key are skipped and reported, nested ones are rather kept as they are.
            let objects = sightings[place] ?? []
            guard let type = target.members[key]?.scalars.keyType,
                objects.allSatisfy({ ($0.members[key]?.scalars.count ?? 0) >= $0.count })
            else { return false }
            return value.scalars.count == 0 || value.scalars.fits(key: type)
        }
        guard !isRoot(destination), ObservedObject.idKeys.allSatisfy({ target.members[$0] == nil }) else {
            return false
        }
        return value.scalars.count == 0 && target.isRecordLike
    }

    private func isRoot(_ entity: String) -> Bool { rootNames.contains(entity) }

    /// The key that all objects of an entity have; of a root, that some have.
    private func key(of entity: String) -> String? {
        guard let object = objects[entity] else { return nil }
        return (primaryKeys[entity].map { [$0] } ?? ObservedObject.idKeys).first { key in
            guard let value = object.members[key], value.lists == 0, value.singles == 0,
                value.scalars.keyType != nil
            else { return false }
            return isRoot(entity) || (value.scalars.nulls == 0 && value.scalars.count >= object.count)
        }
    }

    // MARK: Twins

    /// Two entities are one if they have the same keys and a row of the same id, and such rows are equal in more than
    /// the id: `author` and `editor`. False if there are none.
    private mutating func unifyTwins() -> Bool {
        var twins = InferredTwins()
        for name in order {
            guard let object = objects[name] else { continue }
            twins.add(name, object, key: key(of: name), isRoot: isRoot(name))
        }
        for (alias, meant) in links {
            if let twin = twins.unified[meant] { links[alias] = twin }
        }
        return !twins.unified.isEmpty
    }

    private func entity(
        _ name: String, _ destinations: [(key: Place, value: String)]
    ) throws -> InferredEntity? {
        guard let object = objects[name] else { return nil }
        let key = key(of: name)
        if key == nil, isRoot(name) {
            let wanted = primaryKeys[name] ?? "id"
            guard object.count > 0 else {
                throw SyncError(.noRecords, "there are no records from which a model could be inferred", entity: name)
            }
            var error = SyncError(
                .primaryKeyMissing,
                "no record of the sample has a key '\(wanted)' that identifies it; name one with --primary-key. "
                    + "There is \(ShortList(object.keys.map { "'\($0)'" }).text)", entity: name)
            error.keyPaths = object.listPaths
            throw error
        }
        let found = destinations.map { ($0.key.key, $0.value) }
        return InferredEntity(
            name: name, object: object, key: key, keyType: key.flatMap { object.members[$0]?.scalars.keyType },
            isRoot: isRoot(name), destinations: Dictionary(found, uniquingKeysWith: { first, _ in first }))
    }
}

extension ObservedObject {
    /// Whether the objects are records rather than dictionaries, whose keys are data: most objects have most keys,
    /// and the keys are words.
    fileprivate var isRecordLike: Bool {
        guard !keys.isEmpty, keys.allSatisfy(Self.isWord) else { return false }
        let values = members.values.reduce(0) { $0 + $1.count }
        return values * 2 >= keys.count * count
    }

    private static func isWord(_ key: String) -> Bool {
        guard let first = key.first, first.isLetter || first == "_" || first == "@" else { return false }
        return key.dropFirst().allSatisfy { $0.isLetter || $0.isNumber || $0 == "_" || $0 == "-" }
    }
}
