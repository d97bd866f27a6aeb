public import Foundation
public import SyncCore

/// A model worked out from sample JSON, with what was guessed on the way.
///
/// ```json
/// [{"id": 1, "first_name": "Ada", "company": {"id": 7, "name": "Acme"}, "tags": [{"id": 2}]}]
/// ```
///
/// gives `User` (`id`, `firstName`, to one `company`, to many `tags`), `Company` and `Tag`. Syncing the samples with the
/// model leaves no key unread and reports nothing. What cannot be known from samples is decided so that no data is
/// lost: a list is many-to-many unless each of its rows has one owner, no delete rule cascades, what fits no
/// type is kept as JSON, and things that contradict each other are not of one entity.
public struct InferredModel: Sendable {
    /// The model; ``SyncModel/schemaFile()`` writes it down.
    public let model: SyncModel
    /// What was guessed, in the order of the model.
    public let remarks: [InferenceNote]
    /// Which JSON keys the members are for.
    let origins: [InferredOrigin]

    /// Reads the samples record by record and works out what they have in common.
    ///
    /// - Throws: ``SyncError`` of the JSON with its place, `noRecords` if there is none, `primaryKeyMissing` if no root
    ///   record has a key (it says which could be one, and which option reads JSON that is laid out in another way),
    ///   `invalidModel` for an entity's name that cannot be one, and for more than 2,000 entities or 2,000 keys of one.
    public init(from samples: [InferenceSample]) throws {
        var roots = InferenceRoots()
        for sample in samples {
            do {
                try roots.observe(sample)
            } catch let error as SyncError {
                throw sample.located(error)
            }
        }
        var found = RootKeys(samples)
        var keys: [String: [String]] = [:]
        for root in roots.objects {
            keys[root.entity] = try found.key(of: root.entity, root.object, named: roots.named[root.entity])
        }
        var discovery = EntityDiscovery(roots: roots.objects, rootKeys: keys)
        try discovery.run()
        let entities = discovery.entities.map { entity in
            var entity = entity
            entity.resourceType = roots.types[entity.name]
            return entity
        }
        let assembly = try InferredModelBuilder(entities, links: discovery.links)
        model = assembly.model
        remarks = assembly.remarks + roots.remarks + found.remarks + discovery.remarks
        origins = assembly.origins
    }
}

extension SyncModel {
    /// Infers a model from sample JSON. See ``InferredModel``, which also says what was guessed.
    ///
    /// - Parameters:
    ///   - json: An array of records, or one record.
    ///   - entity: The entity they are of.
    ///   - primaryKey: The JSON key of their primary key; nil for `id` or another name of a key.
    /// - Throws: ``SyncError`` of the JSON with its place, `primaryKeyMissing` if no record has a key.
    public init(inferredFrom json: Data, entity: String, primaryKey: String? = nil) throws {
        self = try InferredModel(from: [InferenceSample(json, entity: entity, primaryKey: primaryKey)]).model
    }

    /// Infers a model from sample JSON whose records have a key of several parts.
    public init(inferredFrom json: Data, entity: String, primaryKey: [String]) throws {
        self = try InferredModel(from: [InferenceSample(json, entity: entity, primaryKey: primaryKey)]).model
    }
}

/// What was guessed about a part of a model, and on how much evidence.
public struct InferenceNote: Sendable, Hashable, Codable, CustomStringConvertible {
    /// The entity or its member: `User`, `User.age`.
    public var place: String
    /// The guess and its grounds: `integer: 120 values, 3 null`.
    public var message: String

    /// Whether it is about what the key is, which decides what is one row.
    package private(set) var isAboutKey = false

    /// A guess about a part of the model.
    public init(_ place: String, _ message: String) {
        self.place = place
        self.message = message
    }

    init(key guess: String, of entity: String) {
        self.init(entity, "the key is \(guess)")
        isAboutKey = true
    }

    /// `User.age: integer: 120 values, 3 null`
    public var description: String { "\(place): \(message)" }
}

/// Makes a model of inferred entities: names, keys, inverses.
struct InferredModelBuilder {
    private(set) var model: SyncModel
    private(set) var remarks: [InferenceNote]
    private(set) var origins: [InferredOrigin]

    /// - Parameter links: Entity names without regard to case → the entity meant.
    init(_ found: [InferredEntity], links: [String: String]) throws {
        let byName = Dictionary(found.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
        let spelling = InferredSpelling(of: found)
        var drafts = found.map { entity in
            EntityDraft(entity, spelling) { name in
                links[Inflection.entityName(name, isList: false).lowercased()].flatMap { byName[$0] }
            }
        }
        let names = Dictionary(
            drafts.map { ($0.entity.name, $0.nameAttribute) }, uniquingKeysWith: { first, _ in first })
        for index in drafts.indices { drafts[index].setNames { names[$0].flatMap { $0.isEmpty ? nil : $0 } } }
        InferredInverses.complete(&drafts)
        while true {
            let model = try SyncModel(entities: drafts.map(\.entity), keys: spelling.ofModel)
            var isSettled = true
            for index in drafts.indices where try drafts[index].resolveNames(in: model) { isSettled = false }
            guard isSettled else { continue }
            self.model = try Self.declaringTypes(found, of: model)
            break
        }
        origins = drafts.flatMap(\.origins)
        let rule = spelling.ofModel.map { InferenceNote("keys", "spelled in \($0.word)") }
        remarks = [rule].compactMap(\.self) + drafts.sorted { $0.entity.name < $1.entity.name }.flatMap(\.remarks)
    }

    /// The model, in which each entity says what its resources are called.
    private static func declaringTypes(_ found: [InferredEntity], of model: SyncModel) throws -> SyncModel {
        let types = Dictionary(
            found.compactMap { entity in entity.resourceType.map { (entity.name, $0) } },
            uniquingKeysWith: { first, _ in first })
        guard !types.isEmpty else { return model }
        let entities = model.entities.map { entity in
            var entity = entity
            entity.resourceType = types[entity.name]
            return entity
        }
        return try model.replacing(entities: entities)
    }
}

/// Which JSON key a member of an inferred model is for.
struct InferredOrigin {
    var entity: String
    var member: String
    var key: String
    /// Whether there was any value but null and empty lists.
    var hasValues: Bool
    /// Whether objects stand there, which are exported under the same key.
    var isForObjects = false
}

/// An entity as the samples show it.
struct InferredEntity {
    var name: String
    /// What all its objects have in common, wherever they stood.
    var object: ObservedObject
    /// The JSON keys of its primary key; none for a keyless entity.
    var key: [String]
    /// The type of a key of one part.
    var keyType: AttributeType?
    var isRoot: Bool
    /// JSON key → the entity its objects are of.
    var destinations: [String: String]
    /// The keys of objects that hold their records by name.
    var keyed: Set<String> = []
    /// The attribute for the names under which its records stand; nil if they stand under none.
    var nameOfNames: String?
    /// The keys that nothing can be read from.
    var unreadable: Set<String> = []
    /// What JSON:API calls its resources.
    var resourceType: String?
}

/// What a JSON key of an entity becomes.
struct InferredMember {
    enum Kind: Equatable {
        case attribute(AttributeType)
        /// A link given by objects, or by ids.
        case link(to: String, many: Bool, byID: Bool)
    }

    var key: String
    var kind: Kind
    var value: ObservedValue
    /// Whether it is a list that comes in another order than that of its keys.
    var isOrdered = false

    /// - Parameter target: The entity with the name an id key gives, if there is one with a key.
    init(
        _ key: String, _ value: ObservedValue, of entity: InferredEntity, target: (String) -> InferredEntity?
    ) {
        self.key = key
        self.value = value
        kind = Self.kind(key, value, entity, target)
        if case .link(let destination, true, _) = kind {
            isOrdered = !value.order.isOfKeys(target(destination)?.keyType)
        }
    }

    private static func kind(
        _ key: String, _ value: ObservedValue, _ entity: InferredEntity, _ target: (String) -> InferredEntity?
    ) -> Kind {
        if entity.key.contains(key), let type = value.scalars.keyType { return .attribute(type) }
        if let destination = entity.destinations[key] {
            return .link(to: destination, many: value.objectLists > 0 || entity.keyed.contains(key), byID: false)
        }
        if let found = InferredNames.target(ofIDKey: key), let target = target(found.name), let type = target.keyType {
            if found.isList, value.objects == 0, value.otherLists == 0, value.scalars.count == 0,
                value.scalarLists > 0, value.elements.fits(key: type)
            {
                return .link(to: target.name, many: true, byID: true)
            }
            if !found.isList, value.lists == 0, value.singles == 0, value.scalars.fits(key: type) {
                return .link(to: target.name, many: false, byID: true)
            }
        }
        return .attribute(value.lists + value.singles > 0 ? .json : value.scalars.type)
    }
}
