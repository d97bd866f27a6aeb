import SyncCore

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
        object.note(plain, id: id)
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
