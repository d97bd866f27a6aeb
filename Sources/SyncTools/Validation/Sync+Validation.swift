public import Foundation
import Sync
public import SyncCalls
public import SyncCore
import SyncSQLite

extension Sync {
    /// Validates a payload against a store, and writes nothing.
    ///
    /// The diagnostics report JSON keys without an attribute or relationship, attributes without values, and pending
    /// references. The diagnostics also report converted primary keys, and JSON keys that set one attribute or
    /// relationship to different values. The result also contains the diagnostics of the model and the diagnostics that
    /// a sync of the payload would report.
    ///
    /// - Parameters:
    ///   - json: The payload, in UTF-8 JSON.
    ///   - entity: The entity of the root records.
    ///   - stack: The store to validate against.
    ///   - parent: The row whose children the payload lists; nil for none.
    ///   - options: The options of the sync, such as the format of the payload. The deletion limit does not apply.
    /// - Throws: `SyncError` if a sync would fail. If the only cause is that no record has a readable key, the call
    ///   returns diagnostics instead.
    public static func validate(
        _ json: Data, inEntity entity: String, stack: some SyncStack, parent: SyncParent? = nil,
        options: SyncOptions = SyncOptions()
    ) async throws -> [SyncDiagnostic] {
        try await validate(json, SyncCall(entity, stack, nil, parent, .all, options))
    }

    /// Validates a payload against a temporary store. The store is empty except for the parent. For details, see
    /// ``validate(_:inEntity:stack:parent:options:)``.
    ///
    /// - Parameters:
    ///   - json: The payload, in UTF-8 JSON.
    ///   - entity: The entity of the root records.
    ///   - model: The model of the store. The validation skips missing transformers.
    ///   - parent: The row whose children the payload lists; nil for none.
    ///   - options: The options of the sync. The deletion limit does not apply.
    /// - Throws: `SyncError` if a sync would fail. If the only cause is that no record has a readable key, the call
    ///   returns diagnostics instead.
    public static func validate(
        _ json: Data, inEntity entity: String, model: SyncModel, parent: SyncParent? = nil,
        options: SyncOptions = SyncOptions()
    ) async throws -> [SyncDiagnostic] {
        let stack = try DataStack.inMemory(model, transformers: .optional)
        let call = SyncCall(entity, stack, nil, parent, .all, options)
        if let parent {
            // Errors in the parent's entity or relationship must come before the insertion of the parent.
            _ = try call.graphBuilder()
            try PlaceholderParent(stack: stack).make(model.compiled.entity(named: parent.entity), id: parent.id)
        }
        return try await validate(json, call)
    }

    private static func validate(_ json: Data, _ call: SyncCall) async throws -> [SyncDiagnostic] {
        let result = try await dryRun(json, call)
        return try await MappingThread.run {
            try [SyncDiagnostic](
                validating: json, of: call.entity, in: call.model, hasParent: call.parent != nil, options: call.options,
                dryRun: result)
        }
    }

    /// Plans a sync. If no record has a key, plans again without that error, so that the plan reports each record.
    /// Throws the error if it suggests another format or key path.
    private static func dryRun(_ json: Data, _ call: SyncCall) async throws -> SyncResult {
        var call = call
        call.options.resultDetail = .counts
        call.options.listsInconsistentRecords = true
        // Validation reports problems of the payload. How many rows a sync deletes is not one of them.
        call.options.deletionLimit = nil
        do {
            return try await call.changes(json, isDryRun: true)
        } catch let error as SyncError where error.isAboutRecordsAlone {
            call.options.admitsNoRecords = true
            return try await call.changes(json, isDryRun: true)
        }
    }

    /// Validates a payload with several entities. See ``validate(_:inEntity:stack:parent:options:)``.
    ///
    /// - Parameter entities: The entity of each list, by its dotted key path.
    /// - Throws: ``SyncError`` if a sync would fail, unless the only cause is that no record has a readable key.
    package static func validate(
        _ json: Data, inEntities entities: [String: String], stack: some SyncStack, options: SyncOptions = SyncOptions()
    ) async throws -> [SyncDiagnostic] {
        try await validate(json, SyncCall(entities, stack, .all, options))
    }
}

extension SyncError {
    /// Whether the payload has records that only lack keys. The error then suggests no other format or key path.
    fileprivate var isAboutRecordsAlone: Bool {
        code == .noRecords && path != nil && keyPaths.isEmpty && detectedFormat == nil
    }
}

/// An inserter of rows into the temporary store of a validation. The rows stand for rows that are already stored.
struct PlaceholderParent {
    let stack: DataStack

    /// Inserts the row with a key, and the rows whose keys are part of that key. Other required values are
    /// placeholders.
    ///
    /// - Returns: The row; nil if `id` is not a valid key of the entity, or if the entity and its subentities are
    ///   abstract.
    /// - Throws: ``SyncError`` if the row cannot be inserted.
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
        return try stack.insert(concrete.name, values: values, relationships: links)
    }

    /// Returns the attribute values of a key, and the rows that the key references, after inserting these rows.
    private func members(
        of entity: CompiledEntity, _ key: PrimaryKeyValue
    ) throws -> (values: [String: JSONValue], links: [String: [SyncRow]]) {
        let model = stack.model.compiled
        let names = model.keyNames(of: entity)
        guard case .composite(let keys) = key, let composite = entity.compositeKey else {
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
