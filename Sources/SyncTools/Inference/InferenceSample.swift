package import Foundation
package import SyncCore

/// Sample JSON to infer a model from, and the entity of its records.
///
/// ```swift
/// let inferred = try InferredModel(
///     from: [InferenceSample(users, entity: "User"), InferenceSample(posts, entity: "Post")])
/// ```
package struct InferenceSample: Sendable {
    /// UTF-8 JSON: an array of records, one record, or another format that ``form``, ``keyedBy`` or ``entities``
    /// describes.
    package var json: Data
    /// The name of the entity of the root records. For a JSON:API document, the entity of the first resource in `data`,
    /// unless an earlier sample has a resource of the same type.
    package var entity: String
    /// The JSON keys of the root records' primary key; nil for `id` or another recognized name.
    package var primaryKey: SyncModel.PrimaryKey?
    /// Whether inference may choose keys with unique values if no key with a recognized name identifies the root
    /// records.
    package var infersKey = false
    /// The format of the payload.
    package var form: PayloadFormat
    /// The attribute that is read from the object keys, if the records are members of an object; nil otherwise.
    package var keyedBy: KeyedBy?
    /// The entity of each list by its key path, if the payload has several lists. ``entity`` is then ignored.
    package var entities: [String: String] = [:]
    /// The key path of the records inside the payload.
    package var keyPath: [String]
    /// The number of bytes at the start of the JSON whose complete records inference reads; nil to read all records.
    package var size: Int?
    /// The name of the sample in errors, such as its file name; nil for none.
    package var name: String?
    /// The model that reads the sample; nil to infer a model only from samples.
    var known: SyncModel?
    /// Whether root records may lack a key, because the model already has their entity.
    var admitsNoKey = false

    /// Creates a sample of one entity.
    package init(
        _ json: Data, entity: String, primaryKey: String? = nil, form: PayloadFormat = .json, keyPath: [String] = [],
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
}

extension InferenceSample {
    /// The entities that the caller names for the root records.
    var rootEntities: [String] { entities.isEmpty ? [entity] : Set(entities.values).sorted() }

    /// The JSON key that the object key of a record is read into; nil if records are not members of an object.
    var nameKey: String? {
        switch keyedBy {
        case nil: nil
        case .primaryKey?: primaryKey?.single ?? "id"
        case .attribute(let name)?: name
        }
    }

    /// The JSON keys of the root records' primary key; nil if the caller gives neither a primary key nor ``keyedBy``.
    var keys: [String]? { primaryKey?.parts ?? nameKey.map { [$0] } }
}

extension InferenceSample {
    /// Returns an error with the name of the sample. For malformed JSON, adds the likely format of the sample, if there
    /// is one.
    func located(_ error: SyncError) -> SyncError {
        let error = name.map(error.naming) ?? error
        guard error.code == .malformedJSON else { return error }
        return error.looking(like: PayloadPrefix(json), readAsLines: form == .ndjson)
    }
}

extension SyncError {
    /// Returns the error with the name of a file added to its message, unless the message already contains the name.
    package func naming(_ file: String) -> SyncError {
        // In Foundation, no text contains the empty text.
        guard !file.isEmpty, !message.contains(file) else { return self }
        var named = self
        named.message = "\(file): \(message)"
        return named
    }
}

/// The records of a sample in any format, each with its entity.
struct SampleRecords {
    /// A record to observe.
    struct Record {
        var entity: String
        var value: JSONValue
        /// The index of the list that contains the record.
        var list: Int
        /// Whether this record, or an earlier one of the sample, is outside of an array.
        var isSingleRecord = false
        /// The key paths of lists inside a single record of JSON or GraphQL; empty for other records.
        var listPaths: [[String]] = []
        /// Whether the model determines the entity: the record is nested in another one, or of a subentity.
        var isOfKnownEntity = false
        /// The entity that the sample names, if the record is of a subentity of it; nil for other records.
        var parentEntity: String?
    }

    let sample: InferenceSample
    private let form: JSONReader.Form
    /// The entity of each list.
    let lists: [String]

    /// Creates a reader of the records.
    ///
    /// - Throws: ``SyncError`` `invalidOption` for inconsistent format options.
    init(_ sample: InferenceSample) throws {
        self.sample = sample
        var options = SyncOptions()
        options.format = sample.form
        options.keyPath = .init(sample.keyPath)
        options.keyedBy = sample.keyedBy
        options.entities = sample.entities.sorted { $0.key < $1.key }
            .map { PayloadList(path: $0.key, entity: $0.value) }
        try options.checkLayout()
        if !options.entities.isEmpty {
            let paths = options.entities.map { sample.keyPath + $0.path }
            form = .locations(.lists(at: paths, labels: paths.map { $0.joined(separator: ".") }))
            lists = options.entities.map(\.entity)
        } else {
            lists = [sample.entity]
            switch sample.form {
            case _ where sample.keyedBy != nil: form = .locations(.members(at: sample.keyPath))
            case .json: form = .locations(.list(at: sample.keyPath))
            case .ndjson: form = .ndjson
            case .jsonAPI: form = .locations(.jsonAPI)
            case .graphQL: form = .locations(.graphQL(at: sample.keyPath))
            }
        }
    }

    /// Calls a closure for each record. If the sample has a model, this includes nested records of its entities.
    func forEach(_ body: (Record) throws -> Void) throws {
        guard let piece = try chunk() else { return }
        try piece.bytes.withUnsafeBytes { raw in
            let bytes = raw.bindMemory(to: UInt8.self)
            var reader = JSONReader(form: form)
            reader.read(bytes, at: piece.location, isLast: piece.isLast)
            var tape = JSONTape()
            var router = sample.known.map { SampleRecordRouter($0.compiled, sample.form) }
            while try reader.next(into: &tape) {
                var record = record(&reader, tape, bytes)
                guard let routed = router?.records(of: record.value, as: record.entity) else {
                    if sample.form == .graphQL { record.value = record.value.withoutConnections() }
                    try body(record)
                    continue
                }
                for (index, part) in routed.enumerated() {
                    var found = index == 0 ? record : Record(entity: part.entity, value: .null, list: record.list)
                    if index == 0, part.entity != record.entity { found.parentEntity = record.entity }
                    found.isOfKnownEntity = index > 0 || found.parentEntity != nil
                    (found.entity, found.value) = (part.entity, part.value)
                    try body(found)
                }
            }
        }
    }

    private func record(_ reader: inout JSONReader, _ tape: JSONTape, _ bytes: UnsafeBufferPointer<UInt8>) -> Record {
        var value = tape.value(at: reader.recordToken, in: bytes)
        let list = reader.list
        let entity = lists.indices.contains(list) ? lists[list] : sample.entity
        if sample.form == .graphQL { value = value.withoutConnections(keepingTypes: sample.known != nil) }
        if let key = sample.nameKey, reader.nameToken >= 0, value[key] == nil, case .object(let members) = value {
            value = .object([.init(key, .string(tape.text(at: reader.nameToken, in: bytes)))] + members)
        }
        var record = Record(entity: entity, value: value, list: list, isSingleRecord: reader.isSingleRecord)
        guard record.isSingleRecord else { return record }
        if sample.form == .json, sample.entities.isEmpty {
            record.listPaths = tape.listPaths(in: bytes).map { sample.keyPath + $0 }
        }
        if sample.form == .graphQL {
            record.listPaths = RecordLocations.fields(tape.listPaths(in: bytes)).map { reader.fieldPath + $0 }
        }
        return record
    }

    /// Returns the whole sample, or the complete records in its first bytes; nil if there are no complete records.
    private func chunk() throws -> JSONChunk? {
        guard let size = sample.size, size < sample.json.count else {
            return JSONChunk(bytes: sample.json, location: .init(), isLast: true)
        }
        var chunker = RecordChunker(form: form, chunkSize: size)
        return try sample.json.withUnsafeBytes { bytes in
            var start = bytes[..<max(1, size)]
            return try chunker.next(from: &start)
        }
    }
}

extension JSONValue {
    /// Returns the value with GraphQL connections replaced by their records.
    ///
    /// - Parameter keepingTypes: Whether `__typename` stays, which can be a discriminator.
    func withoutConnections(keepingTypes: Bool = false) -> JSONValue {
        switch self {
        case .array(let elements): return .array(elements.map { $0.withoutConnections(keepingTypes: keepingTypes) })
        case .object(let members):
            if let records = connectedRecords {
                return .array(records.map { $0.withoutConnections(keepingTypes: keepingTypes) })
            }
            return .object(
                members.filter { keepingTypes || $0.key != "__typename" }
                    .map { .init($0.key, $0.value.withoutConnections(keepingTypes: keepingTypes)) })
        default: return self
        }
    }

    /// The records of a connection; nil if the value is not a connection. The rule is that of the mapper, with one
    /// exception. An object with an ID is a record, even if it has a list named `nodes` or `edges`.
    private var connectedRecords: [JSONValue]? {
        if self["id"] != nil { return nil }
        let nodes = self["nodes"]
        guard case .array(let elements)? = nodes ?? self["edges"] else { return nil }
        for element in elements where element != .null {
            guard case .object = element else { return nil }
        }
        return nodes != nil ? elements : elements.map { $0["node"] ?? $0 }
    }
}

/// The resources of JSON:API documents. An entity is named after the type of its resources, unless a sample names it.
struct SampleResources {
    /// The entity and the observed resources of each type.
    private(set) var objects: [(type: String, entity: String, object: ObservedObject)] = []
    private var indexes: [String: Int] = [:]
    private var names = UniqueNames()

    /// Observes all resources of a sample. The type of the first resource in the primary data gets the entity of the
    /// sample, unless an earlier sample has this type.
    mutating func observe(_ sample: InferenceSample) throws {
        let records = try SampleRecords(sample)
        var first: String?
        try records.forEach { record in
            if first == nil, record.list == 0, case .string(let type)? = record.value["type"] { first = type }
        }
        if let first, indexes[first] == nil { add(first, named: sample.entity) }
        try records.forEach { observe($0.value) }
    }

    /// Returns the entity of a type, and adds an entity for a new type.
    private mutating func entity(of type: String) -> String {
        if let place = indexes[type] { return objects[place].entity }
        return add(type, named: Inflection.entityName(type, isList: true))
    }

    @discardableResult
    private mutating func add(_ type: String, named name: String) -> String {
        let entity = names.reserve(name)
        indexes[type] = objects.count
        objects.append((type, entity, ObservedObject(entity: entity)))
        return entity
    }

    private mutating func observe(_ resource: JSONValue) {
        guard case .object(let members) = resource, case .string(let type)? = resource["type"] else { return }
        let entity = entity(of: type)
        guard let object = objects.first(where: { $0.entity == entity })?.object else { return }
        let id = resource["id"]?.keyText
        var plain: [JSONValue.Member] = []
        for member in members where member.key != "type" {
            switch (member.key, member.value) {
            case ("attributes", .object(let attributes)):
                plain += attributes
                for attribute in attributes { object.observed(attribute.key).observe(attribute.value, ownedBy: id) }
            case ("relationships", .object(let relationships)):
                for relationship in relationships { observe(relationship, of: object, id) }
            default:
                plain.append(member)
                let value = object.observed(member.key)
                value.observe(member.value, ownedBy: id)
                if member.key != "id" { value.isPlain = true }
            }
        }
        object.record(plain, id: id)
    }

    /// Observes a relationship, whose destination is the entity of the linkage's type. An empty linkage gives no
    /// information.
    private mutating func observe(_ relationship: JSONValue.Member, of object: ObservedObject, _ owner: String?) {
        switch relationship.value["data"] {
        case .array(let linkage)?:
            let identifiers = linkage.compactMap { identifier($0) }
            guard !identifiers.isEmpty else { return }
            let value = object.observed(relationship.key)
            value.observe(.array(identifiers.map(\.object)), ownedBy: owner)
            for identifier in identifiers { value.link(to: identifier.entity) }
        case let linkage?:
            guard let identifier = identifier(linkage) else { return }
            let value = object.observed(relationship.key)
            value.observe(identifier.object, ownedBy: owner)
            value.link(to: identifier.entity)
        case nil: return
        }
    }

    private mutating func identifier(_ linkage: JSONValue) -> (object: JSONValue, entity: String)? {
        guard case .string(let type)? = linkage["type"], let id = linkage["id"], id.keyText != nil else { return nil }
        return (.object([.init("id", id)]), entity(of: type))
    }
}
