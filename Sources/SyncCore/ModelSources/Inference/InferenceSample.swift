public import Foundation

/// Sample JSON that a model is inferred from, and the entity its records are of.
///
/// ```swift
/// let inferred = try InferredModel(from: [InferenceSample(users, entity: "User"), InferenceSample(posts, entity: "Post")])
/// ```
public struct InferenceSample: Sendable {
    /// UTF-8 JSON: an array of records, one record, or NDJSON.
    public var json: Data
    /// The entity of the root records.
    public var entity: String
    /// The JSON key of the root records' primary key; nil for `id` or `_id`.
    public var primaryKey: String?
    /// One document, or one record a line.
    public var form: SyncOptions.Form
    /// The keys that lead to the records inside the document.
    public var keyPath: [String]
    /// How many of its first bytes are looked at, of which the whole records count; nil for all.
    public var size: Int?
    /// What errors call it, as the name of its file; nil if there is no need to tell samples apart.
    public var name: String?
    /// What of the records is not looked at.
    var pruning: SamplePruning?

    /// A sample of one entity.
    public init(
        _ json: Data, entity: String, primaryKey: String? = nil, form: SyncOptions.Form = .json, keyPath: [String] = [],
        size: Int? = nil, name: String? = nil
    ) {
        self.json = json
        self.entity = entity
        self.primaryKey = primaryKey
        self.form = form
        self.keyPath = keyPath
        self.size = size
        self.name = name
    }
}
