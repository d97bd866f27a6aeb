import SyncCore

/// A validator that finds JSON keys that may be read into several attributes or relationships of an entity.
struct KeyNameValidator {
    private let model: CompiledModel

    init(_ model: CompiledModel) { self.model = model }

    var findings: [SyncDiagnostic] { model.entities.flatMap(findings(in:)) }

    private func findings(in entity: CompiledEntity) -> [SyncDiagnostic] {
        var claims: [(key: String, owners: [String])] = []
        var indexes: [String: Int] = [:]
        for (name, keys) in owners(in: entity) {
            for key in keys {
                if let index = indexes[key] {
                    // The keys of one owner are consecutive.
                    if claims[index].owners.last != name { claims[index].owners.append(name) }
                } else {
                    indexes[key] = claims.count
                    claims.append((key, [name]))
                }
            }
        }
        var reported: Set<[String]> = []
        return claims.compactMap { key, owners in
            guard owners.count > 1, reported.insert(owners).inserted else { return nil }
            let names = TruncatedList(owners).text(between: " and ")
            return SyncDiagnostic(
                .ambiguousKey, entity: entity.name, path: "entities.\(entity.name)",
                message: "the JSON key '\(key)' matches \(names)",
                suggestion: "rename one of them, or set another remoteKey")
        }
    }

    /// Returns all attributes and relationships with the keys that they may be read from.
    private func owners(in entity: CompiledEntity) -> [(String, [String])] {
        let hierarchy = model[entity.table]
        let rule = model.rules(of: entity).keys
        let attributes = entity.slots.map { hierarchy.attributes[$0] }.map { attribute in
            (
                attribute.name,
                [
                    attribute.remoteKey, attribute.name, rule?.key(for: attribute.name),
                    rule == .exact ? nil : Inflection.snakeCase(attribute.name),
                ].compactMap(\.self)
            )
        }
        let relationships = entity.relationships.map { hop in
            (hop.name, AttributeNaming.keys(for: hop.relationship, rule))
        }
        return attributes + relationships
    }
}

/// A validator that finds relationships without an inverse that may need one.
struct InverseValidator {
    /// The largest number of candidates in a message.
    private static let namedCandidates = 5

    private let model: CompiledModel
    /// The indexes of the relationships without an inverse, by entity and destination.
    private let open: [[Int: [Int]]]

    init(_ model: CompiledModel) {
        self.model = model
        open = model.entities.map { entity in
            let positions = entity.relationships.indices.filter { entity.relationships[$0].relationship.inverse == nil }
            return Dictionary(grouping: positions) { entity.relationships[$0].destination }
        }
    }

    var findings: [SyncDiagnostic] {
        model.entities.flatMap { entity in
            entity.relationships.filter { $0.owner == entity.id && $0.relationship.inverse == nil }
                .compactMap { finding($0, in: entity) }
        }
    }

    private func finding(_ hop: CompiledRelationship, in entity: CompiledEntity) -> SyncDiagnostic? {
        let destination = model.entities[hop.destination]
        let (candidates, count) = candidates(for: hop, in: destination)
        let name = "\(entity.name).\(hop.name)"
        let path = "entities.\(entity.name).relationships.\(hop.name)"
        if count == 0 {
            // Keyless rows belong to the row with the list, and are deleted with it.
            guard hop.isToMany, destination.isKeyed else { return nil }
            return SyncDiagnostic(
                .missingInverse, entity: entity.name, path: path,
                message:
                    "\(name) is a to-many relationship without an inverse, so it is many-to-many and a sync deletes none of its rows",
                suggestion:
                    "if a \(destination.name) has one \(entity.name), add a to-one relationship to \(destination.name) "
                    + "and name it as the inverse")
        }
        let others = TruncatedList(candidates, upTo: nil, of: count).text(between: " or ")
        return SyncDiagnostic(
            .missingInverse, entity: entity.name, path: path,
            message: "\(name) has no inverse, and \(others) could be it",
            suggestion: "name it with \"inverse\"; otherwise they are two associations")
    }

    /// Returns the names of the first candidates, and the number of all candidates.
    private func candidates(
        for hop: CompiledRelationship, in destination: CompiledEntity
    ) -> (names: [String], count: Int) {
        let owners = sequence(first: hop.owner) { model.entities[$0].parent }
        let lists = owners.compactMap { open[destination.id][$0] }
        let itself = destination.relationshipByName[hop.name].flatMap { position in
            destination.relationships[position].owner == hop.owner ? position : nil
        }
        let isListed =
            itself.map { position in
                let relationship = destination.relationships[position]
                return relationship.relationship.inverse == nil
                    && model.entity(hop.owner, isKindOf: relationship.destination)
            } ?? false
        let first = lists.flatMap { $0.prefix(Self.namedCandidates + 1) }.sorted().filter { $0 != itself }
        let names = first.prefix(Self.namedCandidates).map { position in
            let found = destination.relationships[position]
            return "\(model.entities[found.owner].name).\(found.name)"
        }
        return (names, lists.reduce(0) { $0 + $1.count } - (isListed ? 1 : 0))
    }
}

/// A validator that finds missing transformers, and members that exports omit although the model does not exclude them.
struct ConversionValidator {
    private let model: SyncModel

    init(_ model: SyncModel) { self.model = model }

    var findings: [SyncDiagnostic] { missing + notExported }

    private var missing: [SyncDiagnostic] {
        model.missingTransformers.map { missing in
            SyncDiagnostic(
                .missingTransformer, entity: missing.entity,
                path: "entities.\(missing.entity).attributes.\(missing.attribute).transformer",
                message: "\(missing.entity).\(missing.attribute) names the transformer '\(missing.name)', "
                    + "which is not registered: its values are stored untransformed",
                suggestion: "register it on the model, or use one of "
                    + StandardTransformer.allCases.map(\.rawValue).joined(separator: ", "))
        }
    }

    /// The diagnostics for omitted members. An attribute that subentities inherit has only one diagnostic.
    private var notExported: [SyncDiagnostic] {
        var seen: Set<String> = []
        return model.compiled.entities.flatMap { entity -> [SyncDiagnostic] in
            let key = ExportSchemaKey(entity: entity.id, destination: entity.id, isNested: false)
            let shape = try? ExportSchemaBuilder.shape(key, of: model, ExportOptions())
            return (shape?.omissions ?? []).compactMap { omission in
                let slot = entity.slotByName[omission.member]
                let owner = slot.map { "\(entity.table.index).\($0)" } ?? "\(entity.name).\(omission.member)"
                guard seen.insert(owner).inserted else { return nil }
                return omission.diagnostic
            }
        }
    }
}

/// A finder of the attribute or relationship whose name is most similar to a key.
struct SimilarNameFinder {
    /// The largest size of a key to compare, in UTF-8 bytes.
    private static let maximumLength = 200

    private let model: CompiledModel
    /// The number of pairs of characters that may still be compared. It is enough for hundreds of keys of a wide
    /// entity. Without a limit, suggestions for thousands of keys would take longer than all other checks.
    private var budget = 20_000_000
    private var candidates: [Int: [(name: String, characters: [Character])]] = [:]

    init(_ model: CompiledModel) { self.model = model }

    /// Returns the most similar name; nil if none is similar, if the key is too long, or if the budget is used up.
    mutating func name(like key: String, in entity: CompiledEntity) -> String? {
        let last = key.split(separator: ".").last.map(String.init) ?? key
        guard budget > 0, last.utf8.count <= Self.maximumLength else { return nil }
        let characters = Array(Inflection.snakeCase(last))
        var tolerance = max(1, characters.count / 3)
        var nearest: String?
        for candidate in candidates(entity) where abs(candidate.characters.count - characters.count) <= tolerance {
            budget -= characters.count * candidate.characters.count
            guard budget > 0 else { return nil }
            let distance = SimilarName.distance(characters, candidate.characters)
            guard distance <= tolerance else { continue }
            nearest = candidate.name
            tolerance = distance - 1
            if distance == 0 { break }
        }
        return nearest
    }

    private mutating func candidates(_ entity: CompiledEntity) -> [(name: String, characters: [Character])] {
        if let known = candidates[entity.id] { return known }
        let names = entity.slots.map { model[entity.table].attributes[$0].name } + entity.relationships.map(\.name)
        let found = names.map { ($0, Array(Inflection.snakeCase($0))) }
        candidates[entity.id] = found
        return found
    }
}
