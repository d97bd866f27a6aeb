public import Foundation
import Sync
public import SyncCalls
public import SyncCore
public import SyncSQLite

extension SyncModel {
    /// Returns the diagnostics of the model. The diagnostics report ambiguous JSON keys, missing inverses, missing
    /// transformers, and attributes and relationships that exports cannot include.
    public func validate() -> [SyncDiagnostic] {
        (KeyNameValidator(compiled).findings + InverseValidator(compiled).findings + ConversionValidator(self).findings)
            .groupedByKind
    }
}

extension DataStack {
    /// Validates the store, and writes nothing.
    ///
    /// The diagnostics report rows without required values, pending references, dangling links, missing tables and
    /// columns, and damage that SQLite finds. The result also contains the diagnostics of `SyncModel.validate()`.
    ///
    /// - Throws: `SyncError` `databaseError`, `databaseBusy`, `modelMismatch`, `incompatibleTables` or `storeClosed`.
    public func validate() async throws -> [SyncDiagnostic] {
        let missing = try await missingColumns().map {
            SyncDiagnostic(
                .integrityViolation, message: $0,
                suggestion: "another program removed it: add it again by SQL, or restore a backup")
        }
        if !missing.isEmpty { return (model.validate() + missing).groupedByKind }
        let dangling = try await danglingLinks().map {
            SyncDiagnostic(
                .danglingLinks, message: $0,
                suggestion: "an import removes dangling links; delete rows only with foreign keys enabled")
        }
        let broken = try await brokenPages().map {
            SyncDiagnostic(
                .integrityViolation, message: $0,
                suggestion: "restore a backup, or create a new database and import again")
        }
        let pending = try await pendingReferences().map { SyncDiagnostic($0, path: "") }
        return (model.validate() + dangling + broken + (try await missingValues()) + pending).groupedByKind
    }

    /// Returns diagnostics for missing required values. Primary keys are not checked, because a temporary key reads as
    /// nil.
    private func missingValues() async throws -> [SyncDiagnostic] {
        var findings: [SyncDiagnostic] = []
        for entity in model.compiled.entities {
            let attributes = entity.slots.filter { !entity.keySlots.contains($0) }
                .map { model.compiled[entity.table].attributes[$0] }
            let required =
                attributes.filter { !$0.isOptional }.map { ($0.name, "attributes") }
                + entity.relationships.filter { !$0.relationship.isOptional }.map { ($0.name, "relationships") }
            for (name, group) in required {
                let count = try await count(entity.name, where: RowPredicate(isNil: name))
                guard count > 0 else { continue }
                findings.append(
                    SyncDiagnostic(
                        .missingRequiredValue, entity: entity.name, path: "entities.\(entity.name).\(group).\(name)",
                        message: "\(count) \(entity.name) row\(count == 1 ? " has" : "s have") no \(name), "
                            + "which is not optional",
                        suggestion: "sync rows that have it, or make it optional", count: count))
            }
        }
        return findings
    }
}

extension SyncDiagnostic.Kind {
    /// Whether data of the payload or the store is lost or missing. Other diagnostics are suggestions.
    package var losesData: Bool {
        switch self {
        case .unmappedKey, .typeMismatch, .missingPrimaryKey, .deletionsSkipped, .cannotGenerateKey, .missingKeyPart,
            .invalidRelationshipValue, .ignoredRelationship, .missingRequiredValue, .entityMismatch,
            .unknownDiscriminatorValue, .objectKeyMismatch, .inconsistentRecords, .duplicateKeys, .danglingLinks,
            .foreignKeyAction, .deniedDeletion, .integrityViolation, .invalidModel, .dataLoss, .incompatibleTable,
            .serviceError:
            true
        case .tableChange, .convertedKeyType, .unusedAttribute, .pendingReference, .ambiguousKey, .missingInverse,
            .missingTransformer, .notExported:
            false
        }
    }
}

extension [SyncDiagnostic] {
    /// Whether any diagnostic means lost or missing data.
    package var losesData: Bool { contains { $0.kind.losesData } }

    /// The diagnostics by kind. Kinds that lose data come first; diagnostics of one kind keep their order.
    var groupedByKind: [SyncDiagnostic] {
        let byKind = Dictionary(grouping: self, by: \.kind)
        return SyncDiagnostic.Kind.allCases.flatMap { byKind[$0] ?? [] }
    }
}

// MARK: - Suggestions

extension SyncDiagnostic {
    /// The diagnostic with the suggestion for its kind, unless it already has a suggestion.
    var withSuggestion: SyncDiagnostic {
        var diagnostic = self
        diagnostic.suggestion = suggestion ?? kind.suggestion
        return diagnostic
    }

    /// Creates a diagnostic for a pending reference.
    init(_ reference: SyncResult.Link, path: String) {
        self.init(
            .pendingReference, entity: reference.entity, path: path,
            message: "\(reference.entity) \(reference.key): the row \(reference.target), referenced by "
                + "'\(reference.relationship)', is not stored",
            suggestion: "sync the referenced row too, before or after; the link is pending until then")
    }
}

extension SyncDiagnostic.Kind {
    /// The suggestion for diagnostics of a plan; nil for kinds without one.
    fileprivate var suggestion: String? {
        switch self {
        case .typeMismatch: "change the attribute's type or add a transformer; the stored value is unchanged"
        case .missingPrimaryKey, .cannotGenerateKey:
            "set the \"remoteKey\" of the primary key, or choose another primary key"
        case .deletionsSkipped:
            "fix the record; --deletes-beside-unread and deletesBesideUnread delete the omitted rows anyway"
        case .missingKeyPart:
            "sync the row that the key references in an earlier payload or in the same one, or name it as the parent"
        case .invalidRelationshipValue: "check \"many\" of the relationship; the links are unchanged"
        case .missingRequiredValue: "make the attribute optional or add a default"
        case .danglingLinks: "an import removes them; delete rows only with foreign keys enabled"
        case .unknownDiscriminatorValue:
            "add the value to the \"discriminator\" or as the \"type\" of an entity, or ignore such records"
        case .objectKeyMismatch: "check which is right; the object key is stored"
        case .inconsistentRecords:
            "check which is right; the last one is stored. --strict and isStrict reject such a payload"
        case .entityMismatch:
            "sync the record as the entity of its row, or delete the row first"
        default: nil
        }
    }
}

// MARK: - Payload

extension [SyncDiagnostic] {
    /// Validates a payload against a model.
    ///
    /// - Parameter result: The plan of the payload. The payload can be read, because its plan did not fail.
    init(
        validating json: Data, of entity: String, in model: SyncModel, hasParent: Bool, options: SyncOptions,
        dryRun result: SyncResult
    ) throws {
        let compiled = try model.compiled.entity(named: entity)
        var walk = PayloadValidator(
            model.compiled, hasParent: hasParent, locating: result.pendingReferences)
        try json.withUnsafeBytes { raw in
            let bytes = raw.bindMemory(to: UInt8.self)
            let layout = try PayloadLayout(options, of: compiled, in: model.compiled)
            // The entities of JSON:API resources are known only after mapping, so the plan has all diagnostics.
            guard layout.types == nil else { return walk.addUnmapped(result.unmappedKeys) }
            walk.readsConnections = layout.readsConnections
            walk.path.labels = layout.lists.map(\.label)
            var reader = layout.reader(bytes)
            var tape = JSONTape()
            while try reader.next(into: &tape) {
                let list = layout.lists[reader.list]
                walk.examineRoot(
                    tape, at: reader.recordToken, of: model.compiled.entities[list.entity], bytes,
                    index: reader.recordIndex, root: layout.isPlain ? nil : .init(reader.tokenLocation, tape),
                    nameSlot: reader.nameToken < 0 ? -1 : list.nameSlot)
            }
        }
        self = (model.validate() + walk.findings(with: result)).groupedByKind
    }
}

// MARK: - Payloads

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
