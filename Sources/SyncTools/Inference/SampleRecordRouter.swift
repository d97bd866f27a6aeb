import SyncCore

/// A router that assigns the records of a sample to the entities of a model. It reads keys as the mapper does.
///
/// A record inside a relationship of the model is a record of the destination, and a discriminator selects the
/// subentity. The router separates such records from the records that contain them. It removes discriminators and
/// ignored keys. A member of an object that a remote key leads into gets its path as the key: `contact.mail`.
struct SampleRecordRouter {
    /// A record with the entity of the model that it belongs to.
    struct Record {
        var entity: String
        var value: JSONValue
    }

    private let model: CompiledModel
    private let kinds: DiscriminatorResolver
    private var tables: KeyTables
    private let isGraphQL: Bool

    init(_ model: CompiledModel, _ form: PayloadFormat) {
        self.model = model
        isGraphQL = form == .graphQL
        kinds = DiscriminatorResolver(model)
        tables = KeyTables(model)
    }

    /// Returns a record, followed by the records inside it. Returns nil if the model does not have the entity.
    mutating func records(of value: JSONValue, as entity: String) -> [Record]? {
        guard let id = model.entityID(entity) else { return nil }
        var records: [Record] = []
        route(value, as: id, &records)
        return records
    }

    private mutating func route(_ record: JSONValue, as asked: Int, _ records: inout [Record]) {
        guard case .object(let members) = record else { return }
        let entity = model.entities[kind(of: record, as: asked)]
        let place = records.count
        records.append(Record(entity: entity.name, value: .null))
        let rest = kept(members, in: entity.id, of: entity, &records)
        records[place].value = .object(rest)
    }

    private mutating func route(
        _ value: JSONValue, by hop: CompiledRelationship, as destination: Int, _ records: inout [Record]
    ) {
        let value = listed(value, of: hop)
        guard case .array(let elements) = value else { return route(value, as: destination, &records) }
        for element in elements { route(element, as: destination, &records) }
    }

    /// Returns the members of an object that are not records of another entity, not discriminators and not ignored.
    ///
    /// - Parameter table: The index of the key table of the object.
    private mutating func kept(
        _ members: [JSONValue.Member], in table: Int, of entity: CompiledEntity, _ records: inout [Record]
    ) -> [JSONValue.Member] {
        let path = tables.all[table].path
        let destinations = destinations(beside: members, in: table, of: entity)
        let ignored = model.rules(of: entity).ignored
        let entries = members.map { entry($0.key, table) }
        // The number of members that fill each attribute. Of several, the weaker get their own attributes.
        var readers: [Int: Int] = [:]
        for entry in entries {
            for case .attribute(let slot, _) in tables.all[table].targets[entry] { readers[slot, default: 0] += 1 }
        }
        var kept: [JSONValue.Member] = []
        for (member, entry) in zip(members, entries) {
            let key = path.isEmpty ? member.key : RemoteKeyPath.text(path + [member.key])
            let targets = tables.all[table].targets[entry]
            if targets.isEmpty {
                if member.key.isEmpty || (isGraphQL && member.key == "__typename") { continue }
                let plain = isGraphQL ? member.value.withoutConnections() : member.value
                let value = Self.value(plain, without: ignored, at: path + [member.key])
                if let value { kept.append(.init(key, value)) }
            }
            for target in targets {
                switch target {
                case .attribute(let slot, _):
                    if case .object = member.value, tables.isOnlyAround(slot, entry, table) { continue }
                    let attribute = model[entity.table].attributes[slot]
                    let isKept = readers[slot] ?? 0 > 1 || model.keyNames(of: entity).contains(attribute.name)
                    kept.append(.init(key, isKept ? member.value : Self.value(member.value, for: attribute)))
                case .relationship(let index, _), .ids(let index, _):
                    let hop = entity.relationships[index]
                    // A reference can be a part of the primary key.
                    if member.value.isScalar { kept.append(.init(key, member.value)) }
                    route(member.value, by: hop, as: destinations[index] ?? hop.destination, &records)
                case .nested(let nested):
                    guard case .object(let members) = member.value else { continue }
                    kept += self.kept(members, in: nested, of: entity, &records)
                case .kind, .ignored: break
                }
            }
        }
        return kept
    }

    /// Returns the value that inference sees of an attribute: null for a value that fits the type of the model, so that
    /// inference does not widen the type.
    private static func value(_ value: JSONValue, for attribute: SyncModel.Attribute) -> JSONValue {
        if attribute.isTypeOpen { return value }
        return Coercion.storedValue(value, as: attribute.type) == nil ? withoutRecords(value) : .null
    }

    /// Returns the value of an attribute, with a mixed list in place of objects. Inference takes such a list for plain
    /// data, and not for rows.
    private static func withoutRecords(_ value: JSONValue) -> JSONValue {
        switch value {
        case .object: .array([.bool(true)])
        case .array(let elements) where !elements.allSatisfy(\.isScalar): .array([.bool(true)])
        default: value
        }
    }

    private mutating func entry(_ key: String, _ table: Int) -> Int {
        let bytes = Array(key.utf8)
        return bytes.withUnsafeBufferPointer { tables.entry(Self.token(of: $0), table, after: -1, $0) }
    }

    private static func token(of text: UnsafeBufferPointer<UInt8>) -> JSONTape.Token {
        JSONTape.Token(kind: .string, offset: 0, length: UInt32(truncatingIfNeeded: text.count))
    }

    /// Converts an object whose members are records to a list of records that contain their object keys. Members that
    /// are not objects are omitted. A value of a relationship without `keyedBy` stays unchanged.
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

    /// Returns a value without ignored members; nil if all its members are ignored.
    private static func value(_ value: JSONValue, without ignored: IgnoredKeys, at path: [String]) -> JSONValue? {
        if ignored.isEmpty { return value }
        switch value {
        case .array(let elements):
            return .array(elements.map { self.value($0, without: ignored, at: path) ?? .object([]) })
        case .object(let members):
            let kept = members.compactMap { member in
                ignored.contains(member.key, path: path)
                    ? nil
                    : self.value(member.value, without: ignored, at: path + [member.key])
                        .map { JSONValue.Member(member.key, $0) }
            }
            return kept.isEmpty && !members.isEmpty ? nil : .object(kept)
        default: return value
        }
    }

    // MARK: Discriminators

    /// Returns the entity of a record. An unknown discriminator value selects no subentity.
    private func kind(of record: JSONValue, as asked: Int) -> Int {
        var entity = asked
        var owner = -1
        while let found = model.discriminator(of: entity), found.owner != owner {
            owner = found.owner
            var named: JSONValue? = record
            for key in found.discriminator.key.split(separator: ".", omittingEmptySubsequences: false) {
                named = named?[String(key)]
            }
            guard let value = named, let next = self.entity(named: value, of: entity) else { break }
            entity = next
        }
        return entity
    }

    /// Returns the entities that discriminators beside relationships select, by the index of the relationship.
    private mutating func destinations(
        beside members: [JSONValue.Member], in table: Int, of entity: CompiledEntity
    ) -> [Int: Int] {
        guard model.hasDiscriminators else { return [:] }
        var found: [Int: Int] = [:]
        for member in members {
            let entry = entry(member.key, table)
            for case .kind(let index) in tables.all[table].targets[entry] where index >= 0 {
                found[index] = self.entity(named: member.value, of: entity.relationships[index].destination)
            }
        }
        return found
    }

    private func entity(named value: JSONValue, of destination: Int) -> Int? {
        guard let text = value.keyText else { return nil }
        let bytes = Array(text.utf8)
        return bytes.withUnsafeBufferPointer { bytes -> Int? in
            guard case .entity(let found) = kinds.entity(beside: Self.token(of: bytes), of: destination, bytes)
            else { return nil }
            return found
        }
    }
}
