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
    public var keyedBy: KeyedBy?
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
        return error.looking(like: PayloadPrefix(json), readAsLines: form == .ndjson)
    }
}

/// The records of a sample, as plain ones whatever form it has, each with its entity.
struct SampleRecords {
    /// A record as it is to be looked at.
    struct Record {
        var entity: String
        var value: JSONValue
        /// The index of its list.
        var list: Int
        /// Whether it is all there is, in no array.
        var isLone: Bool
        /// Where there are lists inside it, if it is that.
        var listPaths: [[String]] = []
    }

    let sample: InferenceSample
    private let form: JSONReader.Form
    /// The entities of its lists.
    let lists: [String]

    /// - Throws: ``SyncError`` `invalidOption` for a form that contradicts itself.
    init(_ sample: InferenceSample) throws {
        self.sample = sample
        var options = SyncOptions()
        options.form = sample.form
        options.keyPath = sample.keyPath
        options.keyedBy = sample.keyedBy
        options.entities = sample.entities.sorted { $0.key < $1.key }
            .map { PayloadList(path: $0.key, entity: $0.value) }
        try options.checkLayout()
        if !options.entities.isEmpty {
            let paths = options.entities.map { sample.keyPath + $0.path }
            form = .places(.lists(at: paths, labels: paths.map { $0.joined(separator: ".") }))
            lists = options.entities.map(\.entity)
        } else {
            lists = [sample.entity]
            switch sample.form {
            case _ where sample.keyedBy != nil: form = .places(.members(at: sample.keyPath))
            case .json: form = .places(.list(at: sample.keyPath))
            case .ndjson: form = .ndjson
            case .jsonAPI: form = .places(.jsonAPI)
            case .graphQL: form = .places(.graphQL(at: sample.keyPath))
            }
        }
    }

    /// Reads them one by one.
    func forEach(_ body: (Record) throws -> Void) throws {
        guard let piece = try piece() else { return }
        try piece.bytes.withUnsafeBytes { raw in
            let bytes = raw.bindMemory(to: UInt8.self)
            var reader = JSONReader(form: form)
            reader.read(bytes, at: piece.place, isLast: piece.isLast)
            var tape = JSONTape()
            while try reader.next(into: &tape) {
                try body(record(&reader, tape, bytes))
            }
        }
    }

    private func record(_ reader: inout JSONReader, _ tape: JSONTape, _ bytes: UnsafeBufferPointer<UInt8>) -> Record {
        var value = tape.value(at: reader.recordToken, in: bytes)
        let list = reader.list
        let entity = lists.indices.contains(list) ? lists[list] : sample.entity
        if sample.form == .graphQL { value = value.withoutConnections }
        if let key = sample.nameKey, reader.nameToken >= 0, value[key] == nil, case .object(let members) = value {
            value = .object([.init(key, .string(tape.text(at: reader.nameToken, in: bytes)))] + members)
        }
        if let pruning = sample.prunings[entity] { value = pruning.pruned(value) }
        var record = Record(entity: entity, value: value, list: list, isLone: reader.isLoneObject)
        guard record.isLone else { return record }
        if sample.form == .json, sample.entities.isEmpty {
            record.listPaths = tape.listPaths(in: bytes).map { sample.keyPath + $0 }
        }
        if sample.form == .graphQL {
            record.listPaths = RecordLocations.fields(tape.listPaths(in: bytes)).map { reader.fieldPath + $0 }
        }
        return record
    }

    /// All of a sample, or the whole records in its first bytes; nil if there are none in these.
    private func piece() throws -> JSONChunk? {
        guard let size = sample.size, size < sample.json.count else {
            return JSONChunk(bytes: sample.json, place: .init(), isLast: true)
        }
        var splitter = RecordChunker(form: form, pieceSize: size)
        return try sample.json.withUnsafeBytes { bytes in
            var start = bytes[..<max(1, size)]
            return try splitter.next(from: &start)
        }
    }
}

extension JSONValue {
    /// The value with the records of its connections in their place, and without what a GraphQL service says of types.
    var withoutConnections: JSONValue {
        switch self {
        case .array(let elements): return .array(elements.map(\.withoutConnections))
        case .object(let members):
            if let records = connectedRecords { return .array(records.map(\.withoutConnections)) }
            return .object(
                members.filter { $0.key != "__typename" }.map { .init($0.key, $0.value.withoutConnections) })
        default: return self
        }
    }

    /// The records of a connection; nil if the value is none. What the mapper takes for one, but for an object with an id:
    /// that is a record, which may have a list called so.
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

/// The resources of JSON:API documents, each of an entity named after its type.
struct SampleResources {
    /// By type: the entity, and what was seen of its resources.
    private(set) var objects: [(type: String, entity: String, object: ObservedObject)] = []
    private var places: [String: Int] = [:]
    private var names = UniqueNames()

    /// Observes all resources of a sample. The entity of the sample is that of the first resource of its primary data.
    mutating func observe(_ sample: InferenceSample) throws {
        let records = try SampleRecords(sample)
        var first: String?
        try records.forEach { record in
            if first == nil, record.list == 0, case .string(let type)? = record.value["type"] { first = type }
        }
        if let first, places[first] == nil { add(first, named: sample.entity) }
        try records.forEach { observe($0.value) }
    }

    /// The entity of a type.
    private mutating func entity(of type: String) -> String {
        if let place = places[type] { return objects[place].entity }
        return add(type, named: Inflection.entityName(type, isList: true))
    }

    @discardableResult
    private mutating func add(_ type: String, named name: String) -> String {
        let entity = names.take(name)
        places[type] = objects.count
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

    /// What a linkage refers to is of the entity of its type. Of one without anything nothing is known.
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

/// Takes out of sample records what a model says nothing is wanted of, so that nobody is asked to add it; and makes lists
/// of the objects that it says hold records or ids by name.
struct SamplePruning: Sendable {
    private let model: CompiledModel
    private let entity: Int

    /// Nil if the model wants everything as it comes.
    ///
    /// - Throws: ``SyncError`` `unknownEntity`.
    init?(_ model: SyncModel, entity name: String) throws {
        let compiled = model.compiled
        entity = try compiled.entity(named: name).id
        self.model = compiled
        let changesNothing = compiled.entities.allSatisfy { entity in
            compiled.rules(of: entity).ignored.isEmpty
                && entity.relationships.allSatisfy { $0.relationship.keyedBy == nil }
        }
        if changesNothing { return nil }
    }

    func pruned(_ record: JSONValue) -> JSONValue { pruned(record, of: entity, path: []) }

    /// - Parameter path: Leads from the record of the entity to the object.
    private func pruned(_ object: JSONValue, of entity: Int, path: [String]) -> JSONValue {
        guard case .object(let members) = object else { return object }
        let names = model.names(of: model.entities[entity])
        return .object(
            members.compactMap { member in
                let full = RemoteKeyPath.text(path + [member.key])
                let hops =
                    path.isEmpty
                    ? names.relationships(readFrom: member.key) : names.relationships(readFromPath: full)
                if let hop = hops.first {
                    let relationship = model.entities[entity].relationships[hop.index]
                    let value = listed(member.value, of: relationship)
                    return .init(
                        member.key, inside(value) { pruned($0, of: relationship.destination, path: []) })
                }
                let isAttribute =
                    path.isEmpty
                    ? names.attribute(forKey: member.key) != nil : !names.slots(withRemoteKey: full).isEmpty
                if isAttribute { return member }
                if names.slots(below: full) == nil, names.ignores(member.key, at: path) { return nil }
                let value = inside(member.value) { pruned($0, of: entity, path: path + [member.key]) }
                // Nothing is wanted of an object of whose members nothing is.
                return value == .object([]) && member.value != value ? nil : .init(member.key, value)
            })
    }

    /// The records of an object that holds them by name, with their names; members that are only `true` are ids.
    private func listed(_ value: JSONValue, of hop: CompiledRelationship) -> JSONValue {
        let destination = model.entities[hop.destination]
        guard case .object(let members) = value, let slot = hop.relationship.keyedBy?.slot(in: destination, of: model)
        else { return value }
        let name = model[destination.table].attributes[slot].name
        return .array(
            members.compactMap { member in
                guard case .object(let fields) = member.value else { return nil }
                return .object([.init(name, .string(member.key))] + fields.filter { $0.key != name })
            })
    }

    /// The object, or each of the list.
    private func inside(_ value: JSONValue, _ change: (JSONValue) -> JSONValue) -> JSONValue {
        guard case .array(let elements) = value else { return change(value) }
        return .array(elements.map(change))
    }
}
