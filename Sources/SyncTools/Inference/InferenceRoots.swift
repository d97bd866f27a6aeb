import SyncCore

/// The observed root records of all samples, by entity.
struct InferenceRoots {
    /// The observed records of each entity. An entity without records is omitted if its subentities have records.
    var objects: [(entity: String, object: ObservedObject)] {
        all.filter { $0.object.count > 0 || !$0.object.keys.isEmpty || !known.contains($0.entity) }
    }
    private var all: [(entity: String, object: ObservedObject)] = []
    /// The primary keys that the caller gives or the format has, by entity.
    private(set) var named: [String: [String]] = [:]
    /// The type of the JSON:API resources, by entity.
    var types: [String: String] {
        Dictionary(resources.objects.map { ($0.entity, $0.type) }, uniquingKeysWith: { first, _ in first })
    }
    private(set) var notes: [InferenceNote] = []
    /// The entities whose records the model determines. Their records may lack a key.
    private(set) var known: Set<String> = []
    private var indexes: [String: Int] = [:]
    private var resources = SampleResources()

    mutating func observe(_ sample: InferenceSample) throws {
        guard sample.form != .jsonAPI else { return try observe(resources: sample) }
        let records = try SampleRecords(sample)
        for entity in records.lists {
            if indexes[entity] == nil { add(entity, ObservedObject(entity: entity)) }
            if let keys = sample.keys { named[entity] = keys }
        }
        for (entity, lists) in Dictionary(grouping: sample.entities, by: \.value).sorted(by: { $0.key < $1.key })
        where lists.count > 1 {
            let names = lists.map { "'\($0.key)'" }.sorted().joined(separator: " and ")
            notes.append(.init(entity, "merged from the lists \(names): records with the same key are one row"))
        }
        try records.forEach { record in
            if record.isOfKnownEntity {
                known.formUnion([record.entity, record.parentEntity].compactMap(\.self))
                if named[record.entity] == nil { named[record.entity] = sample.known?.jsonKeys(of: record.entity) }
            }
            let object = observed(record.entity)
            let isSure = sample.entities.isEmpty && !record.isOfKnownEntity
            let given = record.isOfKnownEntity ? named[record.entity] : sample.keys
            let keys = given.flatMap { isSure || record.value.keyText(of: $0) != nil ? $0 : nil }
            object.observe(record.value, primaryKey: keys)
            guard record.isSingleRecord, object.id(of: record.value, keys) == nil else { return }
            object.listPaths += record.listPaths
            if sample.form == .json { object.shape = PayloadFormatDetector(of: record.value) }
        }
    }

    private mutating func observe(resources sample: InferenceSample) throws {
        try resources.observe(sample)
        // Resources that are only referenced become entities through the referencing resources.
        for found in resources.objects where found.object.count > 0 {
            if indexes[found.entity] == nil { add(found.entity, found.object) }
            named[found.entity] = ["id"]
        }
        if resources.objects.isEmpty {
            throw SyncError(
                .noRecords, "cannot infer a model without records", entity: sample.entity)
        }
    }

    private mutating func add(_ entity: String, _ object: ObservedObject) {
        indexes[entity] = all.count
        all.append((entity, object))
    }

    private mutating func observed(_ entity: String) -> ObservedObject {
        if let place = indexes[entity] { return all[place].object }
        let object = ObservedObject(entity: entity)
        add(entity, object)
        return object
    }

    /// Moves new keys that several entities of a hierarchy have to the nearest common ancestor of these entities.
    mutating func moveSharedKeys(to model: CompiledModel) {
        var entities: [TableID: [String: [Int]]] = [:]
        for (name, object) in all {
            guard let id = model.entityID(name), model[model.entities[id].table].hasSubEntities else { continue }
            for key in object.keys where !model.isRead(key, inFamilyOf: id) {
                entities[model.entities[id].table, default: [:]][key, default: []].append(id)
            }
        }
        let found = entities.sorted { $0.key < $1.key }.flatMap { $0.value.sorted { $0.key < $1.key } }
        for (key, ids) in found where ids.count > 1 {
            let line = sequence(first: ids[0]) { model.entities[$0].parent }
            let common = line.first { id in ids.allSatisfy { model.entity($0, isKindOf: id) } }
            // A sibling that reads the key would read it into two attributes.
            guard let ancestor = common, !model.isRead(key, inFamilyOf: ancestor) else { continue }
            let name = model.entities[ancestor].name
            known.insert(name)
            let values = observed(name).observed(key)
            for id in ids where id != ancestor {
                observed(model.entities[id].name).removeValue(of: key).map { values.add($0) }
            }
        }
    }
}

extension CompiledModel {
    /// Returns whether an entity or one of its subentities reads a key of a sample.
    func isRead(_ key: String, inFamilyOf entity: Int) -> Bool {
        entities[entity].family.contains { id in
            let names = names(of: entities[id])
            return names.attribute(forKey: key) != nil || !names.relationships(readFrom: key).isEmpty
                || names.members(below: RemoteKeyPath.escaped(key)) != nil
        }
    }
}

extension SyncModel {
    /// Returns the keys of the samples that have the parts of an entity's primary key; nil for a keyless entity.
    func jsonKeys(of entity: String) -> [String]? {
        let parts = (try? primaryKeyParts(of: entity)) ?? []
        let keys = parts.map { part in
            let keys = RemoteKeyPath.keys(part.remote)
            return keys.count == 1 ? keys[0] : RemoteKeyPath.text(keys)
        }
        return keys.isEmpty ? nil : keys
    }
}

/// The primary keys of the root records. The key of an entity is the key that the caller gives, else a key with a
/// recognized name, else keys with unique values.
struct RootKeys {
    private let samples: [InferenceSample]
    private(set) var notes: [InferenceNote] = []

    init(_ samples: [InferenceSample]) { self.samples = samples }

    /// Returns the primary key of the records of an entity; nil if none is found and the records may lack a key.
    ///
    /// - Parameter isKnown: Whether a model determines the records of the entity. They may lack a key.
    /// - Throws: ``SyncError`` `noRecords`, or `primaryKeyMissing` with the possible keys or the detected format.
    mutating func key(
        of entity: String, _ object: ObservedObject, named: [String]?, isKnown: Bool
    ) throws -> [String]? {
        if isKnown {
            if let named, named.allSatisfy({ object.members[$0]?.isKeyOfSome == true }) { return named }
            let names = object.names.names(in: object.keys)
            return names.first { object.members[$0]?.isKeyOfAll(object.count) ?? false }.map { [$0] }
        }
        guard object.count > 0 else {
            throw SyncError(.noRecords, "cannot infer a model without records", entity: entity)
        }
        if let named {
            // With several lists, a key applies only to the lists whose records have the key.
            let isForSome = samples.contains { !$0.entities.isEmpty }
            if named.allSatisfy({ object.members[$0]?.isKeyOfSome == true }) { return named }
            guard isForSome else {
                if samples.contains(where: \.admitsNoKey) { return nil }
                throw missing(named, in: object, of: entity, ". The keys are \(Self.list(object.keys))")
            }
        }
        if let key = wordedKey(of: object) { return try consistentKey(key, in: object, of: entity) }
        if samples.contains(where: \.admitsNoKey) { return nil }
        if let shape = object.shape {
            throw missing(["id"], in: object, of: entity, "").looking(like: shape.detectedFormat)
        }
        return try search(for: entity, object)
    }

    private func wordedKey(of object: ObservedObject) -> String? {
        object.names.names(in: object.keys).first { name in
            guard let value = object.members[name], value.isKeyOfSome else { return false }
            // All records must have a key whose name is not that of an ID.
            return KeyNames.ids.contains(name) || value.isKeyOfAll(object.count)
        }
    }

    /// Returns the primary key with a key that has a recognized name. If records with one value are inconsistent, their
    /// type may become a part of the primary key. Otherwise, the function searches for other keys, unless the name is
    /// that of an ID.
    ///
    /// - Throws: ``SyncError`` `primaryKeyMissing` if the search finds no key, or may not choose one.
    private mutating func consistentKey(_ key: String, in object: ObservedObject, of entity: String) throws -> [String]
    {
        guard object.things.contradictions > 0 else { return [key] }
        if object.things.mixesKinds, let type = ["type", "__typename"].first(where: { isKind($0, object) }) {
            notes.append(
                .init(
                    key: "'\(type)' and '\(key)': one '\(key)' occurs with several types", of: entity))
            return [type, key]
        }
        guard !KeyNames.ids.contains(key) else { return [key] }
        return try search(for: entity, object) ?? [key]
    }

    private func isKind(_ key: String, _ object: ObservedObject) -> Bool {
        guard let value = object.members[key] else { return false }
        return value.isKeyOfAll(object.count) && value.scalars.strings == value.scalars.count
    }

    // MARK: Evidence

    private mutating func search(for entity: String, _ object: ObservedObject) throws -> [String]? {
        let samples = try samples.map { try SampleRecords($0) }.filter { $0.lists.contains(entity) }
        let search = KeySearch(object) { body in
            for sample in samples {
                try sample.forEach { if $0.entity == entity { try body($0.value) } }
            }
        }
        let outcome = try search.run()
        if case .unique(let keys) = outcome {
            let evidence = "\(Self.list(keys)) \(keys.count > 1 ? "are together" : "is") unique in all \(count(object))"
            if samples.contains(where: \.sample.infersKey) {
                notes.append(.init(key: "inferred from values: \(evidence)", of: entity))
                return keys
            }
            // '--primary-key' names one key, and each list may need another one.
            let option =
                self.samples.contains { $0.entities.count > 1 }
                ? "--infer-key" : "--primary-key \(keys.map { ShellWord.quoted($0) }.joined(separator: ","))"
            throw missing(["id"], in: object, of: entity, "; \(evidence): \(option)")
        }
        throw missing(["id"], in: object, of: entity, text(outcome, object))
    }

    private func text(_ outcome: KeySearch.Outcome, _ object: ObservedObject) -> String {
        let known = ". The keys are \(Self.list(object.keys))"
        switch outcome {
        case .unique: return known
        case .tooFew: return "; name one with --primary-key" + known
        case .none: return ", and no other key can: a key is a string or an integer that every record has" + known
        case .nearest(let keys, let alone):
            return ", and no combination of up to three keys is unique; the closest is \(Self.list(keys)): "
                + "\(Self.grouped(alone)) of \(Self.grouped(object.count)) records" + known
        }
    }

    private func count(_ object: ObservedObject) -> String { "\(Self.grouped(object.count)) records" }

    /// Formats a number with separators, such as 34,006.
    private static func grouped(_ number: Int) -> String {
        let digits = String(number)
        return digits.enumerated().reduce(into: "") { text, digit in
            if digit.offset > 0, (digits.count - digit.offset) % 3 == 0 { text += "," }
            text.append(digit.element)
        }
    }

    private static func list(_ keys: [String]) -> String { TruncatedList(keys.map { "'\($0)'" }).text }

    private func missing(
        _ keys: [String], in object: ObservedObject, of entity: String, _ evidence: String
    ) -> SyncError {
        let noun = keys.count > 1 ? "keys \(Self.list(keys)) that identify" : "key \(Self.list(keys)) that identifies"
        var error = SyncError(
            .primaryKeyMissing, "no record of the sample has a \(noun) it\(evidence)", entity: entity)
        if keys.count > 1 {
            error.message = "no record of the sample has the \(noun) it together\(evidence)"
        }
        error.keyPaths = object.listPaths
        return error
    }
}

extension ObservedValue {
    /// Whether the values can be the key of the records that have them.
    var isKeyOfSome: Bool { lists == 0 && singles == 0 && scalars.keyType != nil }

    /// Returns whether each of `count` records has a value that can be a key.
    func isKeyOfAll(_ count: Int) -> Bool { isKeyOfSome && scalars.nulls == 0 && scalars.count >= count }
}

/// The keys of an entity that seem to hold IDs, grouped by the rows that they seem to reference.
struct IDKeys {
    private struct Target: Hashable {
        let name: String
        let isList: Bool

        init?(_ key: String) {
            guard let found = InferredNames.target(ofIDKey: key) else { return nil }
            (name, isList) = found
        }
    }

    private let keys: [Target: [String]]
    private let objects: Set<String>

    init(of entity: InferredEntity) {
        var keys: [Target: [String]] = [:]
        for key in entity.object.keys { Target(key).map { keys[$0, default: []].append(key) } }
        self.keys = keys
        objects = Set(entity.destinations.keys.map { Inflection.memberName($0).lowercased() })
    }

    /// Returns the keys that seem to reference the same rows as a key, including that key.
    func alike(_ key: String) -> [String] { Target(key).flatMap { keys[$0] } ?? [] }

    /// Returns whether a JSON key whose values are objects becomes the relationship of this name, ignoring case.
    func hasObjects(for relationship: String) -> Bool { objects.contains(relationship.lowercased()) }
}

/// The names that are recognized as the primary key of an entity: `id` first, `<entity>_id` last.
struct KeyNames: Sendable {
    /// The recognized names in all entities, in order of precedence.
    static let common = ["id", "_id", "Id", "ID", "uuid", "objectId"]
    /// The recognized names that always mean an ID. An object that has such a key without a readable value is not a
    /// keyless row.
    static let ids = ["id", "_id", "Id", "ID"]

    /// The entity's name followed by `id`, in lower case and without separators.
    private let own: String

    init(entity: String) { own = Self.folded(entity) + "id" }

    /// Returns whether a key is the entity's name followed by `id`, in any spelling: `user_id`, `userId`, `UserID`.
    func isOwn(_ key: String) -> Bool {
        guard key.utf8.count >= own.utf8.count, key.utf8.count <= own.utf8.count + own.utf8.count else { return false }
        return Self.folded(key) == own
    }

    /// Returns the recognized names of the primary key, in order of precedence.
    func names(in keys: [String]) -> [String] { Self.common + keys.filter(isOwn) }

    private static func folded(_ name: String) -> String {
        name.lowercased().filter { $0 != "_" && $0 != "-" && $0 != " " }
    }

    /// Returns the ID of an object as text, under any of the recognized names; nil if there is none.
    func id(of object: JSONValue) -> String? {
        for key in Self.common {
            if let text = object[key]?.keyText { return text }
        }
        guard case .object(let members) = object else { return nil }
        return members.first { isOwn($0.key) }?.value.keyText
    }
}

extension JSONValue {
    /// The text of a number or string, which can be a primary key; nil for other values.
    var keyText: String? {
        switch self {
        case .number(let text), .string(let text): text
        default: nil
        }
    }

    /// Returns the text of a key; nil if a part is neither a number nor a string.
    func keyText(of parts: [String]) -> String? {
        if parts.count == 1 { return self[parts[0]]?.keyText }
        var text = ""
        for part in parts {
            guard let value = self[part]?.keyText else { return nil }
            text += "\(value.utf8.count):\(value)"
        }
        return text
    }
}
