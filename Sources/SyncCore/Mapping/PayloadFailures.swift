import Foundation

extension MappedPayload {
    /// Returns the payload or last chunk after checking that a root record has a readable key. A payload without root
    /// records passes.
    ///
    /// - Parameter unfit: The diagnostic of a key of the wrong type in an earlier chunk; nil if there is none.
    /// - Throws: ``SyncError`` `noRecords` if the payload has records and none has a readable key. Such a payload is
    ///   probably not the expected response. If the sync is strict, `primaryKeyMissing` for any root record without a
    ///   readable key.
    func requiringRecords(
        of model: SyncModel, _ options: SyncOptions, after unfit: SyncDiagnostic? = nil
    ) throws -> MappedPayload {
        try graph.requireRecords(of: model, options, after: unfit)
        return self
    }
}

extension PayloadGraph {
    fileprivate func requireRecords(of model: SyncModel, _ options: SyncOptions, after unfit: SyncDiagnostic?)
        throws
    {
        let count = firstRecord + rootRecords
        guard count > 0, !options.admitsNoRecords else { return }
        try requireRecords(ofEach: roots, of: model)
        guard readableRootRecords == 0 else { return try requireKeys(options, firstKeyless) }
        let name = self.model.entities[entity].name
        let unfit = try unfit ?? unfitKey(of: model)
        let unknown = unfit == nil ? diagnostics.first { $0.kind == .unknownDiscriminatorValue } : nil
        let found =
            if labels.first == "data" {
                ": 'data' has no resource of this entity with an id"
            } else if unknown != nil {
                ""
            } else {
                try ": " + Self.noKey(in: count, isSingleRecord: roots[0].isSingleRecord, of: name, model)
            }
        let reason = (unfit ?? unknown).map { ", as in \($0.path): \($0.message)" } ?? ""
        let owner = reason.isEmpty && parent == nil ? ownersInKey.first : nil
        let advice = owner.map { "; if all belong to one \($0), name it as the parent" } ?? ""
        var error = SyncError(
            .noRecords, "no record can be read\(found)\(reason)\(advice)", entity: name,
            path: options.keyPath.keys.isEmpty ? "$" : options.keyPath.keys.joined(separator: "."))
        let fieldPath = fieldPath ?? options.keyPath.keys
        error.keyPaths = listPaths.map { fieldPath + $0 }
        throw error
    }

    /// Checks, if the sync is strict, that no root record lacks a readable key.
    ///
    /// - Parameter first: The first root record without a readable key; nil if there is none.
    /// - Throws: ``SyncError`` `primaryKeyMissing`.
    func requireKeys(_ options: SyncOptions, _ first: KeylessRecord?) throws {
        guard options.isStrict, let found = first else { return }
        let name = model.entities[found.entity].name
        throw SyncError(
            .primaryKeyMissing, "the record has no readable key", entity: name,
            path: found.path)
    }

    /// The names of the entities whose rows are parts of the composite key.
    private var ownersInKey: [String] {
        (model.entities[entity].compositeKey?.parts ?? []).compactMap { part in
            guard case .relationship(let index) = part else { return nil }
            return model.entities[model.entities[entity].relationships[index].destination].name
        }
    }

    /// Checks, if the payload has several lists, that each list with records has one with a readable key.
    ///
    /// - Throws: ``SyncError`` `noRecords`.
    func requireRecords(ofEach roots: [RootList], of model: SyncModel) throws {
        guard roots.count > 1 else { return }
        for (index, root) in roots.enumerated() where root.records > 0 && root.readable == 0 {
            let name = self.model.entities[root.entity].name
            let found = try Self.noKey(in: root.records, isSingleRecord: root.isSingleRecord, of: name, model)
            throw SyncError(
                .noRecords, "no record can be read: \(found)", entity: name,
                path: labels.indices.contains(index) ? labels[index] : nil)
        }
    }

    /// Returns the text that no record of a list has a readable key, with the JSON key of each part.
    private static func noKey(
        in count: Int, isSingleRecord: Bool, of entity: String, _ model: SyncModel
    ) throws -> String {
        let parts = try model.primaryKeyParts(of: entity).map(\.remote)
        let key = parts.isEmpty ? "key" : parts.joined(separator: "', '")
        return isSingleRecord || count == 1
            ? "the record has no readable '\(key)'" : "none of \(count) has a readable '\(key)'"
    }

    /// Returns the first diagnostic of a primary key of the wrong type; nil if there is none.
    func unfitKey(of model: SyncModel) throws -> SyncDiagnostic? {
        let name = self.model.entities[entity].name
        let keys = try model.primaryKeyParts(of: name).map(\.remote)
        return diagnostics.first { diagnostic in
            diagnostic.kind == .typeMismatch && diagnostic.entity == name
                && keys.contains { diagnostic.path.hasSuffix(".\($0)") }
        }
    }
}

// MARK: - PayloadGraphBuilder+DetectedFormat

// If the payload does not have the format that the options state, errors name the likely format.
extension PayloadGraphBuilder {
    /// Returns the error with the likely format of the payload, if it can be detected.
    func recognized(_ error: SyncError, _ head: PayloadPrefix) -> SyncError {
        guard error.mayBeOfForm else { return error }
        guard error.code != .malformedJSON else {
            if case .ndjson = layout.form { return error.looking(like: head, readAsLines: true) }
            return error.looking(like: head, readAsLines: false)
        }
        return recognized(error, head.value)
    }

    /// Returns the error with the likely format of a payload that is a JSON value, if it can be detected.
    func recognized(_ error: SyncError, _ value: JSONValue?) -> SyncError {
        guard layout.isPlain, case .locations = layout.form, error.mayBeOfForm, let value else { return error }
        if let form = document(value) { return error.looking(like: form) }
        var found: JSONValue? = value
        for key in layout.keyPath { found = found?[key] }
        return error.looking(like: found.flatMap(form))
    }

    private func document(_ value: JSONValue) -> DetectedFormat? {
        guard let shape = PayloadFormatDetector(of: value), shape == .jsonAPI || shape == .graphQL else { return nil }
        return shape.detectedFormat
    }

    private func form(of value: JSONValue) -> DetectedFormat? {
        guard case .object(let members) = value else { return nil }
        switch PayloadFormatDetector(of: value) {
        case .keyed: return keyed(members)
        case .lists(let names): return entities(names)
        default: return nil
        }
    }

    /// Returns the format of an object whose members are records; nil if the object is not of that format. Members
    /// count as records if each of the first 20 is an object with an attribute of the entity.
    private func keyed(_ members: [JSONValue.Member]) -> DetectedFormat? {
        let entity = model.compiled.entities[layout.lists[0].entity]
        let names = model.compiled.names(of: entity)
        let sample = members.prefix(20)
        let areRecords = sample.allSatisfy { member in
            guard case .object(let fields) = member.value else { return false }
            return fields.contains { names.attribute(forKey: $0.key) != nil }
        }
        // If an object key is the key of an attribute or relationship, the object is a single record.
        guard areRecords, !sample.contains(where: { isMember($0.key, of: entity) }) else { return nil }
        guard let slot = entity.keySlot else { return .keyed(namesFitKey: false) }
        let type = model.compiled[entity.table].attributes[slot].type
        let fits = sample.allSatisfy { member in
            guard let key = Coercion.storedValue(.string(member.key), as: type), !key.isNull else { return false }
            // If a record has its primary key as well, the key must be equal to the object key.
            guard case .object(let fields) = member.value,
                let said = fields.first(where: { names.attribute(forKey: $0.key)?.slot == slot })?.value
            else { return true }
            return Coercion.storedValue(said, as: type) == key
        }
        return .keyed(namesFitKey: fits)
    }

    private func isMember(_ key: String, of entity: CompiledEntity) -> Bool {
        if model.compiled.names(of: entity).attribute(forKey: key) != nil { return true }
        let rule = model.compiled.rules(of: entity).keys
        return entity.relationships.contains { AttributeNaming.keys(for: $0.relationship, rule).contains(key) }
    }

    /// Returns the format of several lists if at least two of them have the name of an entity; otherwise nil.
    private func entities(_ lists: [String]) -> DetectedFormat? {
        var found: [String: String] = [:]
        for list in lists {
            let words = Inflection.words(list)
            let singular = words.dropLast() + words.suffix(1).map(Inflection.singular)
            let names = [list, words.joined(), singular.joined()].map { $0.lowercased() }
            let entity = model.compiled.entities.first { $0.isKeyed && names.contains($0.name.lowercased()) }
            if let entity { found[list] = entity.name }
        }
        return found.count > 1 ? .entities(found) : nil
    }
}

extension SyncError {
    /// Whether a wrong format can be the cause of the error.
    fileprivate var mayBeOfForm: Bool {
        switch code {
        case .malformedJSON, .noRecords, .recordExpected, .keyPathNotFound: true
        default: false
        }
    }
}

// MARK: - PayloadFormatDetector+DetectedFormat

extension PayloadFormatDetector {
    /// The format that the payload most likely has, without knowledge of the model.
    package var detectedFormat: DetectedFormat {
        switch self {
        case .jsonAPI: .jsonAPI
        case .graphQL: .graphQL
        case .keyed: .keyed(namesFitKey: nil)
        case .lists(let names):
            .entities(
                Dictionary(names.prefix(8).map { ($0, Inflection.entityName($0, isList: true)) }) { first, _ in first })
        }
    }
}
