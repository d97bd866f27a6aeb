import Foundation

// Errors of a payload that is something else than it was asked for say what it seems to be.
extension PayloadStaging {
    /// Adds to an error what the payload seems to be, if that can be told.
    func recognized(_ error: SyncError, _ head: PayloadHead) -> SyncError {
        guard error.mayBeOfForm else { return error }
        guard error.code != .malformedJSON else {
            if case .ndjson = layout.form { return error.looking(like: head, readAsLines: true) }
            return error.looking(like: head, readAsLines: false)
        }
        return recognized(error, head.value)
    }

    /// The same of a payload of values.
    func recognized(_ error: SyncError, _ value: JSONValue?) -> SyncError {
        guard case .json = layout.form, error.mayBeOfForm else { return error }
        guard let value else { return error }
        if let form = document(value) { return error.looking(like: form) }
        var found: JSONValue? = value
        for key in layout.keyPath { found = found?[key] }
        return error.looking(like: found.flatMap(form))
    }

    private func document(_ value: JSONValue) -> LikelyForm? {
        guard let shape = DocumentShape(of: value), shape == .jsonAPI || shape == .graphQL else { return nil }
        return shape.likelyForm
    }

    private func form(of value: JSONValue) -> LikelyForm? {
        guard case .object(let members) = value else { return nil }
        switch DocumentShape(of: value) {
        case .keyed: return keyed(members)
        case .lists(let names): return entities(names)
        default: return nil
        }
    }

    /// Members are records if each has what the entity knows; a part of one record has another name for each.
    private func keyed(_ members: [JSONValue.Member]) -> LikelyForm? {
        let entity = model.compiled.entities[layout.lists[0].entity]
        let names = model.compiled.names(of: entity)
        let sample = members.prefix(20)
        let areRecords = sample.allSatisfy { member in
            guard case .object(let fields) = member.value else { return false }
            return fields.contains { names.attribute(forKey: $0.key) != nil }
        }
        // A name that is a member of the entity stands for one thing of it.
        guard areRecords, !sample.contains(where: { isMember($0.key, of: entity) }) else { return nil }
        guard let slot = entity.keySlot else { return .keyed(namesFitKey: false) }
        let type = model.compiled[entity.table].attributes[slot].type
        let fits = sample.allSatisfy { member in
            guard let key = Coercion.storedValue(.string(member.key), as: type), !key.isNull else { return false }
            // Where the records say their key themselves, the names must be it.
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

    /// Lists are of several entities if at least two of them are named after one.
    private func entities(_ lists: [String]) -> LikelyForm? {
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
    /// Whether it may come of a payload of another form than was asked for.
    fileprivate var mayBeOfForm: Bool {
        switch code {
        case .malformedJSON, .noRecords, .recordExpected, .keyPathNotFound: true
        default: false
        }
    }
}
