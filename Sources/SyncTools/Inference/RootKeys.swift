import SyncCore

/// Which keys identify the root records of each entity: those that the caller names, else those that are called like keys,
/// else what the values show.
struct RootKeys {
    private let samples: [InferenceSample]
    private(set) var remarks: [InferenceRemark] = []

    init(_ samples: [InferenceSample]) { self.samples = samples }

    /// The key of the records of an entity; nil if its samples admit that there is none.
    ///
    /// - Throws: ``SyncError`` `noRecords`, `primaryKeyMissing` with what could be one.
    mutating func key(of entity: String, _ object: ObservedObject, named: [String]?) throws -> [String]? {
        guard object.count > 0 else {
            throw SyncError(.noRecords, "there are no records from which a model could be inferred", entity: entity)
        }
        if let named {
            // Where there are several lists, a key is named for those that have it.
            let isForSome = samples.contains { !$0.entities.isEmpty }
            if named.allSatisfy({ object.members[$0]?.isKeyOfSome == true }) { return named }
            guard isForSome else {
                if samples.contains(where: \.admitsNoKey) { return nil }
                throw missing(named, in: object, of: entity, ". There is \(Self.list(object.keys))")
            }
        }
        if let key = wordedKey(of: object) { return try sound(key, in: object, of: entity) }
        if samples.contains(where: \.admitsNoKey) { return nil }
        if let shape = object.shape {
            throw missing(["id"], in: object, of: entity, "").looking(like: shape.likelyForm)
        }
        return try search(for: entity, object)
    }

    private func wordedKey(of object: ObservedObject) -> String? {
        object.names.names(in: object.keys).first { name in
            guard let value = object.members[name], value.isKeyOfSome else { return false }
            // A key by another name than id tells all of them apart, or it is none.
            return KeyNames.ids.contains(name) || value.isKeyOfAll(object.count)
        }
    }

    /// A key is no key if its values stand for different things: then the type of these is a part of it, or it is looked for
    /// another one.
    private mutating func sound(_ key: String, in object: ObservedObject, of entity: String) throws -> [String] {
        guard object.things.contradictions > 0 else { return [key] }
        if object.things.mixesKinds, let type = ["type", "__typename"].first(where: { isKind($0, object) }) {
            remarks.append(
                .init(
                    key: "'\(type)' and '\(key)': the same '\(key)' stands for things of several types", of: entity))
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
            let evidence = "\(Self.list(keys)) \(keys.count > 1 ? "are" : "is") unique in all \(count(object))"
            if samples.contains(where: \.sample.infersKey) {
                remarks.append(.init(key: "what the values show: \(evidence)", of: entity))
                return keys
            }
            let option = keys.map { ShellWord.quoted($0) }.joined(separator: ",")
            throw missing(["id"], in: object, of: entity, "; \(evidence): --primary-key \(option)")
        }
        throw missing(["id"], in: object, of: entity, text(outcome, object))
    }

    private func text(_ outcome: KeySearch.Outcome, _ object: ObservedObject) -> String {
        let known = ". There is \(Self.list(object.keys))"
        switch outcome {
        case .unique: return known
        case .tooFew: return "; name one with --primary-key" + known
        case .none: return ", and none that could: a key is a text or a whole number that every record has" + known
        case .nearest(let keys, let alone):
            return ", and no one, two or three keys are unique; the nearest is \(Self.list(keys)): "
                + "\(Self.grouped(alone)) of \(Self.grouped(object.count)) records" + known
        }
    }

    private func count(_ object: ObservedObject) -> String { "\(Self.grouped(object.count)) records" }

    /// 34,006
    private static func grouped(_ number: Int) -> String {
        let digits = String(number)
        return digits.enumerated().reduce(into: "") { text, digit in
            if digit.offset > 0, (digits.count - digit.offset) % 3 == 0 { text += "," }
            text.append(digit.element)
        }
    }

    private static func list(_ keys: [String]) -> String { ShortList(keys.map { "'\($0)'" }).text }

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
    /// Whether it can be a key of the records that have it.
    var isKeyOfSome: Bool { lists == 0 && singles == 0 && scalars.keyType != nil }

    /// Whether all of so many records have it.
    func isKeyOfAll(_ count: Int) -> Bool { isKeyOfSome && scalars.nulls == 0 && scalars.count >= count }
}
