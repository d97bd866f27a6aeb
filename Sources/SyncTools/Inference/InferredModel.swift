public import Foundation
public import SyncCore

/// A model inferred from sample JSON, with notes about the guesses.
///
/// ```json
/// [{"id": 1, "first_name": "Ada", "company": {"id": 7, "name": "Acme"}, "tags": [{"id": 2}]}]
/// ```
///
/// From this sample, inference creates `User` (`id`, `firstName`, to-one `company`, to-many `tags`), `Company` and
/// `Tag`. A sync with the model reads all keys of the samples, except the keys that a note excludes.
///
/// If the samples do not determine a part of the model, inference chooses the option that loses no data. A list is
/// many-to-many unless the samples prove that each row of the list has one owner. No delete rule cascades. Values that
/// fit no other type are stored as JSON, and inconsistent objects do not share an entity.
package struct InferredModel: Sendable {
    /// The inferred model. ``SyncModel/schemaFile()`` converts the model to a schema file.
    package let model: SyncModel
    /// Notes about the guesses, with their evidence.
    package let notes: [InferenceNote]
    /// The JSON keys that the members of the model were inferred from.
    let origins: [InferredOrigin]
    /// The entities of the root records, and the entities of a known model that have records.
    let roots: [String]

    /// Infers a model from samples. The samples are read record by record.
    ///
    /// - Throws: ``SyncError`` for invalid JSON, with the position; `invalidOption`; `noRecords`. Also
    ///   `primaryKeyMissing` if no key identifies the root records, with possible keys or the detected format. Also
    ///   `invalidModel` for an invalid entity name, or for more than 2,000 entities or 2,000 keys of one entity.
    package init(from samples: [InferenceSample]) throws {
        var roots = InferenceRoots()
        for sample in samples {
            do {
                try roots.observe(sample)
            } catch let error as SyncError {
                throw sample.located(error)
            }
        }
        if let model = samples.lazy.compactMap(\.known).first { roots.moveSharedKeys(to: model.compiled) }
        let objects = roots.objects
        self.roots = objects.map(\.entity)
        var found = RootKeys(samples)
        var keys: [String: [String]] = [:]
        for root in objects {
            keys[root.entity] = try found.key(
                of: root.entity, root.object, named: roots.named[root.entity],
                isKnown: roots.known.contains(root.entity))
        }
        var discovery = EntityDiscovery(roots: objects, rootKeys: keys)
        try discovery.run()
        let entities = discovery.entities.map { entity in
            var entity = entity
            entity.resourceType = roots.types[entity.name]
            return entity
        }
        let assembly = try InferredModelBuilder(entities, links: discovery.links)
        model = assembly.model
        notes = assembly.notes + roots.notes + found.notes + discovery.notes
        origins = assembly.origins
    }
}

extension SyncModel {
    /// Creates a model by inference from sample JSON.
    ///
    /// - Parameters:
    ///   - json: UTF-8 JSON: an array of records, or one record.
    ///   - entity: The name of the entity of the records.
    ///   - primaryKey: The JSON keys of the parts of the primary key; nil for `id` or another recognized name.
    /// - Throws: `SyncError` for invalid JSON, with the position; `noRecords`; `primaryKeyMissing` if no JSON key
    ///   identifies the records. Also `invalidModel` for an invalid entity name, or for too many entities or keys.
    public init(inferredFrom json: Data, entity: String, primaryKey: SyncModel.PrimaryKey? = nil) throws {
        var sample = InferenceSample(json, entity: entity)
        sample.primaryKey = primaryKey
        self = try InferredModel(from: [sample]).model
    }
}

/// A note about an inferred or added part of a model, such as a guess and its evidence.
package struct InferenceNote: Sendable, Hashable, Codable, CustomStringConvertible {
    /// The entity or member, such as `User` or `User.age`; `keys` for the case of all JSON keys.
    package var path: String
    /// The text of the note, such as a guess and its evidence: `integer: 120 values, 3 null`.
    package var message: String

    /// Whether the note is about a guessed primary key. The key determines which records describe the same row.
    package private(set) var isAboutKey = false

    package init(_ place: String, _ message: String) {
        self.path = place
        self.message = message
    }

    init(key guess: String, of entity: String) {
        self.init(entity, "the key is \(guess)")
        isAboutKey = true
    }

    /// The path and the message: `User.age: integer: 120 values, 3 null`.
    package var description: String { "\(path): \(message)" }
}

/// A builder that creates a model from inferred entities. It decides names, remote keys and inverses.
struct InferredModelBuilder {
    private(set) var model: SyncModel
    private(set) var notes: [InferenceNote]
    private(set) var origins: [InferredOrigin]

    /// Builds the model.
    ///
    /// - Parameter links: The name of the entity for each lowercased name or alias.
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
            let model = try SyncModel(entities: drafts.map(\.entity), keyCase: spelling.ofModel)
            var isSettled = true
            for index in drafts.indices where try drafts[index].resolveNames(in: model) { isSettled = false }
            guard isSettled else { continue }
            self.model = try Self.declaringTypes(found, of: model)
            break
        }
        origins = drafts.flatMap(\.origins)
        let rule = spelling.ofModel.map { InferenceNote("keys", "written in \($0.word)") }
        notes = [rule].compactMap(\.self) + drafts.sorted { $0.entity.name < $1.entity.name }.flatMap(\.notesWithKeys)
    }

    /// Returns the model with the resource type of each entity.
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

/// The JSON key of a member of an inferred model.
struct InferredOrigin {
    var entity: String
    var member: String
    var key: String
    /// Whether the samples have values other than null and empty lists.
    var hasValues: Bool
    /// The type of an attribute with these values.
    var type: AttributeType
    /// Whether some values are objects or lists of objects. Exports write such values under the same key.
    var isForObjects = false
}

/// An entity with the observed objects of the samples.
struct InferredEntity {
    var name: String
    /// The merged observations of the entity's objects in all places of the samples.
    var object: ObservedObject
    /// The JSON keys of the primary key; empty for a keyless entity.
    var key: [String]
    /// The type of the primary key; nil for a composite key or a keyless entity.
    var keyType: AttributeType?
    var isRoot: Bool
    /// The entity of the objects under each JSON key.
    var destinations: [String: String]
    /// The JSON keys with an object whose members are records.
    var keyed: Set<String> = []
    /// The attribute for the object keys of the records; nil if no nested object has the records as members.
    var objectKeyAttribute: String?
    /// The keys that cannot be read into a member.
    var unreadable: Set<String> = []
    /// The type of the entity's JSON:API resources; nil if it has none.
    var resourceType: String?
}

/// The member of an entity that is inferred for a JSON key.
struct InferredMember {
    enum Kind: Equatable {
        case attribute(AttributeType)
        /// A relationship given by objects or by IDs.
        case link(to: String, many: Bool, byID: Bool)
    }

    var key: String
    var kind: Kind
    var value: ObservedValue
    /// Whether the member is a to-many relationship with a list that is not sorted by the primary keys of its rows.
    var isOrdered = false

    /// Infers the member for a key.
    ///
    /// - Parameter target: A closure that returns the entity with a name or alias; nil if there is none.
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
