import Sync
import SyncCore

@testable import SyncTesting

/// Writes the lists of a payload as keyed objects, by a member of their records, if the model or the step has
/// `keyedBy`. The reference store takes the original payload.
///
/// Additional members depend only on the record, so that a case is always the same.
struct PropertyLayout {
    let model: SyncModel

    private var compiled: CompiledModel { model.compiled }

    /// Returns the payload of a step as one value.
    func root(of step: PropertyCase.Step) throws -> JSONValue {
        let entity = try compiled.entity(named: step.entity)
        guard case .array = step.root else { return record(step.root, as: entity) }
        return records(step.payload, of: entity, keyedBy: step.keyedBy)
    }

    /// Returns some records of a step as one value.
    func records(_ records: [JSONValue], of step: PropertyCase.Step) throws -> JSONValue {
        self.records(records, of: try compiled.entity(named: step.entity), keyedBy: step.keyedBy)
    }

    /// Returns the payload of a step as lines.
    func lines(of step: PropertyCase.Step) throws -> [UInt8] {
        let entity = try compiled.entity(named: step.entity)
        return step.payload.reduce(into: []) { text, line in
            JSONText.append(record(line, as: entity), to: &text)
            text.append(UInt8(ascii: "\n"))
        }
    }

    // MARK: Lists

    private func records(_ records: [JSONValue], of entity: CompiledEntity, keyedBy names: KeyedBy?) -> JSONValue {
        let laidOut = records.map { record($0, as: entity) }
        guard let slot = names?.slot(in: entity, of: model.compiled), let members = members(laidOut, slot, of: entity)
        else { return .array(laidOut) }
        return .object(members)
    }

    /// Returns the records by the values of an attribute; nil if one lacks it or a value is repeated.
    private func members(_ records: [JSONValue], _ slot: Int, of entity: CompiledEntity) -> [JSONValue.Member]? {
        let name = compiled[entity.table].attributes[slot].name
        var members: [JSONValue.Member] = []
        for record in records {
            if record == .null { continue }
            guard case .object(var rest) = record, let index = rest.firstIndex(where: { $0.key == name }),
                let text = rest[index].value.memberName, !members.contains(where: { $0.key == text })
            else { return nil }
            let value = rest.remove(at: index).value
            // The member name takes precedence over the record.
            switch (rest.count + members.count) % 6 {
            case 0: rest.append(.init(name, value))
            case 1: rest.insert(.init(name, "other"), at: 0)
            case 2: rest.append(.init(name, .null))
            default: break
            }
            members.append(.init(text, .object(rest)))
        }
        return members
    }

    // MARK: Records

    private func record(_ record: JSONValue, as asked: CompiledEntity) -> JSONValue {
        let store = ReferenceStore(model: model)
        guard case .object(var members) = record, let entity = store.entity(of: record, as: asked) else {
            return record
        }
        for relationship in entity.relationships {
            let objects = AttributeNaming.objectKeys(for: relationship.relationship)[0]
            let ids = AttributeNaming.idKeys(for: relationship.relationship)[0]
            guard let destination = store.entity(beside: relationship, in: record) else { continue }
            for index in members.indices where [objects, ids].contains(members[index].key) {
                switch members[index].value {
                case .object where !relationship.isToMany && members[index].key == objects:
                    members[index].value = self.record(members[index].value, as: destination)
                case .array(let elements) where relationship.isToMany && elements.contains { $0.isRecord }:
                    guard members[index].key == objects else { continue }
                    members[index].value = records(
                        elements, of: destination, keyedBy: relationship.relationship.keyedBy)
                case .array(let elements) where relationship.isToMany:
                    guard let flags = flags(elements, relationship, destination) else { continue }
                    members[index] = .init(objects, .object(flags))
                default: break
                }
            }
        }
        return .object(members)
    }

    /// Returns IDs as member names with the value `true`.
    private func flags(
        _ ids: [JSONValue], _ relationship: CompiledRelationship, _ destination: CompiledEntity
    ) -> [JSONValue.Member]? {
        guard !ids.isEmpty, let slot = destination.keySlot,
            relationship.relationship.keyedBy?.slot(in: destination, of: model.compiled) == slot
        else { return nil }
        let names = ids.compactMap(\.memberName)
        guard names.count == ids.count, Set(names).count == names.count else { return nil }
        return names.map { .init($0, .bool(true)) }
    }
}

extension JSONValue {
    fileprivate var isRecord: Bool {
        guard case .object = self else { return false }
        return true
    }

    /// The value as a member name.
    fileprivate var memberName: String? {
        switch self {
        case .string(let text): text
        case .number(let text): text
        default: nil
        }
    }
}
