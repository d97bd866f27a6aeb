public import Foundation
import Sync
public import SyncCalls
public import SyncCore
public import SyncSQLite

extension Sync {
    /// What is wrong with a payload, or worth a look: keys that nothing takes, values that do not fit, attributes never
    /// given, references to rows that are not there, and what the model leaves open. Writes nothing.
    ///
    /// - Parameters:
    ///   - json: UTF-8 JSON.
    ///   - entity: The entity its root records are of.
    ///   - stack: The store it would go to.
    ///   - parent: The row whose children the payload lists.
    ///   - relationship: The parent's relationship, if it has several to the entity.
    ///   - options: How the payload is laid out.
    /// - Throws: ``SyncError`` where the payload could not be synced at all.
    public static func examine(
        _ json: Data, inEntity entity: String, stack: DataStack, parent: Parent? = nil, relationship: String? = nil,
        options: SyncOptions = SyncOptions()
    ) async throws -> SyncExamination {
        try await examine(json, SyncCall(entity, stack, nil, parent, relationship, .all, options))
    }

    /// What is wrong with a payload, or worth a look, if it goes to a store that has nothing yet but the parent: as
    /// ``examine(_:inEntity:stack:parent:relationship:options:)``.
    ///
    /// - Parameter model: What the store would be made for. Values of transformers that are not registered on it are
    ///   taken as they come.
    /// - Throws: ``SyncError`` where the payload could not be synced at all.
    public static func examine(
        _ json: Data, inEntity entity: String, model: SyncModel, parent: Parent? = nil, relationship: String? = nil,
        options: SyncOptions = SyncOptions()
    ) async throws -> SyncExamination {
        let stack = try DataStack.inMemory(model, transformers: .optional)
        let call = SyncCall(entity, stack, nil, parent, relationship, .all, options)
        if let parent {
            // What is wrong with the parent's name is told before it is made.
            _ = try call.staging()
            try PlaceholderParent(stack: stack).make(model.compiled.entity(named: parent.entity), id: parent.id)
        }
        return try await examine(json, call)
    }

    private static func examine(_ json: Data, _ call: SyncCall) async throws -> SyncExamination {
        let result = try await dryRun(json, call)
        return try await MappingThread.run {
            try SyncExamination(
                json, of: call.entity, in: call.model, hasParent: call.parent != nil, options: call.options,
                dryRun: result)
        }
    }

    /// What a sync would do. Records none of which has a key are looked at one by one, unless they are not what was meant:
    /// an object around a list.
    private static func dryRun(_ json: Data, _ call: SyncCall) async throws -> SyncResult {
        var call = call
        call.options.collectsKeys = false
        call.options.explainsContradictions = true
        do {
            return try await call.dryRun(json)
        } catch let error as SyncError where error.isAboutRecordsAlone {
            call.options.admitsNoRecords = true
            return try await call.dryRun(json)
        }
    }

    /// What is wrong, or worth a look, with a payload of several entities: as
    /// ``examine(_:inEntity:stack:parent:relationship:options:)`` of one.
    ///
    /// - Parameter entities: The entity of each list, by the keys that lead to it, with dots between them.
    /// - Throws: ``SyncError`` where the payload could not be synced at all.
    public static func examine(
        _ json: Data, entities: [String: String], stack: DataStack, options: SyncOptions = SyncOptions()
    ) async throws -> SyncExamination {
        try await examine(json, SyncCall(entities, stack, .all, options))
    }
}

extension SyncError {
    /// Whether records are there, and lack their keys: the payload is not of another form, nor are they elsewhere in it.
    fileprivate var isAboutRecordsAlone: Bool {
        code == .noRecords && path != nil && keyPaths.isEmpty && likelyForm == nil
    }
}

/// Makes rows in a store that is there for an examination alone, as if they had been stored.
struct PlaceholderParent {
    let stack: DataStack

    /// Makes the row with this key, and those that its key is made of. What the model requires of it besides is made up.
    ///
    /// - Returns: Nil if `id` is no key of the entity.
    /// - Throws: ``SyncError`` `unknownEntity`.
    @discardableResult
    func make(_ entity: CompiledEntity, id: JSONValue) throws -> SyncRow? {
        let model = stack.model.compiled
        guard let concrete = entity.family.lazy.map({ model.entities[$0] }).first(where: { !$0.isAbstract }),
            let key = model.rowKey(id, of: concrete)?.recordKey(model.keyType(of: concrete.id))
        else { return nil }
        var (values, links) = try members(of: concrete, key)
        for attribute in concrete.slots.map({ model[concrete.table].attributes[$0] })
        where !attribute.isOptional && attribute.defaultValue == nil && values[attribute.name] == nil {
            values[attribute.name] = Self.anyValue(of: attribute.type)
        }
        return try stack.insert(concrete.name, values: values, links: links)
    }

    /// The attributes that a key is made of, and the rows.
    private func members(
        of entity: CompiledEntity, _ key: PrimaryKeyValue
    ) throws -> (values: [String: JSONValue], links: [String: [SyncRow]]) {
        let model = stack.model.compiled
        let names = model.keyNames(of: entity)
        guard case .parts(let keys) = key, let composite = entity.compositeKey else {
            return (names.first.map { [$0: key.json] } ?? [:], [:])
        }
        var (values, links): ([String: JSONValue], [String: [SyncRow]]) = ([:], [:])
        for (name, (part, key)) in zip(names, zip(composite.parts, keys)) {
            switch part {
            case .attribute: values[name] = key.json
            case .relationship(let index):
                let destination = model.entities[entity.relationships[index].destination]
                links[name] = try make(destination, id: key.json).map { [$0] }
            }
        }
        return (values, links)
    }

    private static func anyValue(of type: AttributeType) -> JSONValue {
        switch type {
        case .integer, .double, .decimal, .date: JSONValue(0)
        case .boolean: .bool(false)
        case .uuid: .string("00000000-0000-0000-0000-000000000000")
        case .url: .string("about:blank")
        case .string, .binary, .json, .transformable: .string("")
        }
    }
}
