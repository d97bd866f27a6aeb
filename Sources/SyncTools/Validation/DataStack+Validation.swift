import Foundation
import Sync
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
    /// The diagnostics report rows without required values, pending references, dangling links, and damage that SQLite
    /// finds. The result also contains the diagnostics of `SyncModel.validate()`.
    ///
    /// - Throws: `SyncError` `databaseError`, `databaseBusy`, `modelMismatch`, `incompatibleTables` or `storeClosed`.
    public func validate() async throws -> [SyncDiagnostic] {
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
            .integrityViolation, .invalidModel, .dataLoss, .incompatibleTable, .serviceError:
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
