/// Walks a payload as the mapper does and notes which keys fill nothing, which attributes are never given, and how keys
/// are written. It knows no store: what a dry run reports is added to it.
struct PayloadExamination {
    private struct Seen: Hashable {
        let entity: Int
        let name: String
    }

    private let model: CompiledModel
    private var reached: [Int] = []
    private var filled: Set<Seen> = []
    private var findings: [Finding] = []
    private var places: [Seen: Int] = [:]
    /// Where a reference by id first stands, by relationship and key.
    private var references: [String: String] = [:]

    init(_ records: [JSONValue], of entity: CompiledEntity, in model: CompiledModel) {
        self.model = model
        for (index, record) in records.enumerated() { examine(record, of: entity, at: "[\(index)]") }
    }

    /// What was found, with what a dry run of the same payload reports.
    func findings(with result: SyncResult) -> [Finding] {
        findings + neverSeen + result.diagnostics.map(Self.finding)
            + result.unresolved.map { reference in
                Finding(
                    .unresolvedReference, entity: reference.entity,
                    path: references["\(reference.entity).\(reference.relationship)=\(reference.target)"],
                    message: "\(reference.entity) \(reference.key) names \(reference.target) as its "
                        + "\(reference.relationship), which is not stored",
                    advice: "sync the row it names too, before or after; the link waits for it")
            }
    }

    private var neverSeen: [Finding] {
        reached.flatMap { id in
            let entity = model.entities[id]
            return entity.slots.map { model.trees[entity.tree].attributes[$0] }
                .filter { !filled.contains(Seen(entity: id, name: $0.name)) }
                .map { attribute in
                    Finding(
                        .attributeNeverSeen, entity: entity.name,
                        path: "entities.\(entity.name).attributes.\(attribute.name)",
                        message: "no record gives \(entity.name).\(attribute.name)",
                        advice: "if the JSON has it under another key, name that key with \"remoteKey\"")
                }
        }
    }

    // MARK: Records

    private mutating func examine(_ record: JSONValue, of entity: CompiledEntity, at path: String) {
        guard case .object(let members) = record else { return }
        if !reached.contains(entity.id) { reached.append(entity.id) }
        var values: [Int: (key: String, value: JSONValue)] = [:]
        examine(members, below: [], of: entity, at: path, &values)
    }

    private mutating func examine(
        _ members: [JSONValue.Member], below prefix: [String], of entity: CompiledEntity, at path: String,
        _ values: inout [Int: (key: String, value: JSONValue)]
    ) {
        let resolver = KeyResolver(model: model, entity: entity)
        for member in members {
            let place = "\(path).\(member.key)"
            var nested: [[String]] = []
            let targets = resolver.targets(of: member.key, path: prefix) { path, _ in
                nested.append(path)
                return nested.count - 1
            }
            if targets.isEmpty { noteUnmapped((prefix + [member.key]).joined(separator: "."), entity, at: place) }
            for target in targets {
                switch target {
                case .attribute(let slot, _): note(member, in: slot, of: entity, at: place, &values)
                case .relationship(let index, _), .ids(let index, _):
                    examine(member.value, by: entity.relationships[index], of: entity, at: place)
                case .nested(let table):
                    guard case .object(let inner) = member.value else { continue }
                    examine(inner, below: nested[table], of: entity, at: place, &values)
                }
            }
        }
    }

    private mutating func note(
        _ member: JSONValue.Member, in slot: Int, of entity: CompiledEntity, at path: String,
        _ values: inout [Int: (key: String, value: JSONValue)]
    ) {
        let attribute = model.trees[entity.tree].attributes[slot]
        filled.insert(Seen(entity: entity.id, name: attribute.name))
        if let earlier = values[slot], earlier.key != member.key, earlier.value != member.value {
            note(
                .conflictingKeys, "\(attribute.name) \(earlier.key) \(member.key)", entity, at: path,
                "'\(earlier.key)' and '\(member.key)' both fill \(entity.name).\(attribute.name), with different values",
                "give the attribute the remoteKey that is to count, and the other value an attribute of its own")
        }
        values[slot] = (member.key, member.value)
        if slot == entity.keySlot { noteKey(member.value, entity, at: path) }
    }

    private mutating func examine(
        _ value: JSONValue, by hop: CompiledRelationship, of entity: CompiledEntity, at path: String
    ) {
        let destination = model.entities[hop.destination]
        switch value {
        case .object: examine(value, of: destination, at: path)
        case .array(let elements):
            for (index, element) in elements.enumerated() {
                if case .array = element { continue }
                examine(element, by: hop, of: entity, at: "\(path)[\(index)]")
            }
        case .number, .string:
            noteKey(value, destination, at: path)
            let name = "\(entity.name).\(hop.name)=\(keyText(value, destination))"
            if references[name] == nil { references[name] = path }
        case .null, .bool: break
        }
    }

    // MARK: Findings

    private mutating func noteUnmapped(_ key: String, _ entity: CompiledEntity, at path: String) {
        let nearest = NearestName.of(key, in: entity, of: model)
        note(
            .unmappedKey, key, entity, at: path, "nothing in \(entity.name) takes the key '\(key)'",
            nearest.map { "did you mean '\($0)'? If so, give it the remoteKey '\(key)'" }
                ?? "add an attribute for it, or let it be")
    }

    /// A key that is written as a text where keys are numbers, or the other way round.
    private mutating func noteKey(_ value: JSONValue, _ entity: CompiledEntity, at path: String) {
        guard let slot = entity.keySlot else { return }
        let attribute = model.trees[entity.tree].attributes[slot]
        let isNumeric = [.integer, .double, .decimal].contains(attribute.type)
        let found: String
        switch value {
        case .string where isNumeric: found = "a string"
        case .number where attribute.type == .string: found = "a number"
        default: return
        }
        guard let stored = Coercion.storedValue(value, as: attribute.type), !stored.isNull else { return }
        note(
            .keyOfAnotherType, found, entity, at: path,
            "a key of \(entity.name) is written as \(found); \(attribute.name) is of type \(attribute.type.rawValue)",
            "nothing is lost while every key can be converted; if some cannot, change the attribute's type")
    }

    private func keyText(_ value: JSONValue, _ entity: CompiledEntity) -> String {
        guard let slot = entity.keySlot,
            let stored = Coercion.storedValue(value, as: model.trees[entity.tree].attributes[slot].type)
        else { return "" }
        return switch stored.jsonForm {
        case .string(let text), .number(let text): text
        default: ""
        }
    }

    /// Keeps the first place, counts the others.
    private mutating func note(
        _ kind: Finding.Kind, _ what: String, _ entity: CompiledEntity, at path: String, _ message: String,
        _ advice: String
    ) {
        let seen = Seen(entity: entity.id, name: "\(kind.rawValue) \(what)")
        if let place = places[seen] { return findings[place].count += 1 }
        places[seen] = findings.count
        findings.append(Finding(kind, entity: entity.name, path: path, message: message, advice: advice))
    }

    private static func finding(_ diagnostic: Diagnostic) -> Finding {
        let (kind, advice): (Finding.Kind, String) =
            switch diagnostic.kind {
            case .valueDoesNotFit:
                (.valueDoesNotFit, "change the attribute's type or name a transformer; the stored value stays as it is")
            case .recordWithoutKey, .keyCannotBeMade:
                (
                    .recordWithoutKey,
                    "name the JSON key of the primary key with \"remoteKey\", or mark another attribute"
                )
            case .shapeDoesNotFit: (.shapeDoesNotFit, "check \"many\" of the relationship; the links stay as they are")
            case .requiredValueMissing: (.requiredValueMissing, "make the attribute optional or give it a default")
            case .entityMismatch: (.entityMismatch, "sync the record as the entity its row is of")
            case .linksToMissingRows:
                (.damage, "import: it removes them; and have whatever deletes rows do so with foreign keys on")
            case .fingerprintsDamaged: (.damage, "import: it makes them anew")
            }
        return Finding(
            kind, entity: diagnostic.entity, path: diagnostic.path, message: diagnostic.message, advice: advice)
    }
}

extension Examination {
    /// A payload against a model, with the result of its dry run.
    package init(
        _ payload: JSONValue, of entity: String, in model: Model, dryRun result: SyncResult
    ) throws {
        let records = if case .array(let elements) = payload { elements } else { [payload] }
        let compiled = try model.compiled.entity(named: entity)
        let walk = PayloadExamination(records, of: compiled, in: model.compiled)
        self = Examination(of: model).adding(walk.findings(with: result))
    }
}
