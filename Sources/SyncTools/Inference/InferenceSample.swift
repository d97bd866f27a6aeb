public import Foundation
public import SyncCore

/// Sample JSON that a model is inferred from, and the entity its records are of.
///
/// ```swift
/// let inferred = try InferredModel(from: [InferenceSample(users, entity: "User"), InferenceSample(posts, entity: "Post")])
/// ```
public struct InferenceSample: Sendable {
    /// UTF-8 JSON: an array of records, one record, NDJSON, or what ``form``, ``keyedBy`` and ``entities`` say.
    public var json: Data
    /// The entity of the root records; of a JSON:API document, that of its first resource.
    public var entity: String
    /// The JSON keys of the root records' primary key, scalars all; nil for `id` or another name of a key.
    public var primaryKey: SyncModel.PrimaryKey?
    /// Whether root records without a key that is called like one get the best that their values allow: what is unique in
    /// all of them.
    public var infersKey = false
    /// How the records are laid out.
    public var form: SyncOptions.Form
    /// Set where the records are the members of an object: the JSON key of the attribute that their names fill.
    public var keyedBy: MemberNames?
    /// The entity of each list, by the keys that lead to it, where there are several; ``entity`` says nothing then.
    public var entities: [String: String] = [:]
    /// The keys that lead to the records inside the document.
    public var keyPath: [String]
    /// How many of its first bytes are looked at, of which the whole records count; nil for all.
    public var size: Int?
    /// What errors call it, as the name of its file; nil if there is no need to tell samples apart.
    public var name: String?
    /// What of the records of an entity is not looked at.
    var prunings: [String: SamplePruning] = [:]
    /// Whether root records may lack a key: their entity is known.
    var admitsNoKey = false

    /// A sample of one entity.
    public init(
        _ json: Data, entity: String, primaryKey: String? = nil, form: SyncOptions.Form = .json, keyPath: [String] = [],
        size: Int? = nil, name: String? = nil
    ) {
        self.json = json
        self.entity = entity
        self.primaryKey = primaryKey.map { SyncModel.PrimaryKey($0) }
        self.form = form
        self.keyPath = keyPath
        self.size = size
        self.name = name
    }

    /// A sample of one entity with a key of several parts.
    public init(
        _ json: Data, entity: String, primaryKey: [String], form: SyncOptions.Form = .json, keyPath: [String] = [],
        size: Int? = nil, name: String? = nil
    ) {
        self.init(json, entity: entity, form: form, keyPath: keyPath, size: size, name: name)
        self.primaryKey = SyncModel.PrimaryKey(primaryKey)
    }
}

extension InferenceSample {
    /// The entities that its root records are of, as far as it says.
    var rootEntities: [String] { entities.isEmpty ? [entity] : Set(entities.values).sorted() }

    /// The JSON key that the names of members fill; nil where records have none.
    var nameKey: String? {
        switch keyedBy {
        case nil: nil
        case .primaryKey?: primaryKey?.single ?? "id"
        case .attribute(let name)?: name
        }
    }

    /// The keys that identify its records, as far as it says.
    var keys: [String]? { primaryKey?.parts ?? nameKey.map { [$0] } }
}

extension InferenceSample {
    /// An error of the sample, with its name, and with what it seems to be if it is no JSON of the form that is asked for.
    func located(_ error: SyncError) -> SyncError {
        let error = name.map(error.naming) ?? error
        guard error.code == .malformedJSON else { return error }
        return error.looking(like: PayloadHead(json), readAsLines: form == .ndjson)
    }
}
