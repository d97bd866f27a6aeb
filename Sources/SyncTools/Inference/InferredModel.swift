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
    public let remarks: [InferenceRemark]
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
        let assembly = try ModelAssembly(entities, links: discovery.links)
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
