import Foundation
public import SyncCore
public import SyncSQLite

/// The result of validating a model, a payload or a store.
///
/// ```swift
/// let examination = try await Sync.examine(json, inEntity: "User", stack: stack)
/// for finding in examination.findings { print(finding.path ?? "", finding.message, finding.advice) }
/// ```
public struct SyncExamination: Sendable, Hashable, Codable {
    /// The findings, grouped by kind. Kinds that lose data come first; findings of one kind are in the order found.
    public private(set) var findings: [SyncExamination.Finding]

    init(_ findings: [SyncExamination.Finding]) {
        let byKind = Dictionary(grouping: findings, by: \.kind)
        self.findings = SyncExamination.Finding.Kind.allCases.flatMap { byKind[$0] ?? [] }
    }

    /// Validates a model: names, inverses, transformers and exported members.
    public init(of model: SyncModel) {
        self.init(
            KeyNameValidator(model.compiled).findings + InverseValidator(model.compiled).findings
                + ConversionValidator(model).findings)
    }

    /// Whether data is lost or missing. See ``SyncExamination/Finding/Kind/losesData``.
    public var losesData: Bool { findings.contains { $0.kind.losesData } }

    /// Returns a result with added findings.
    func adding(_ others: [SyncExamination.Finding]) -> SyncExamination { SyncExamination(findings + others) }
}

extension SyncExamination {
    /// One problem, with its place and a suggestion.
    public struct Finding: Sendable, Hashable, Codable {
        /// The kind of a finding: stable, and meant for programs.
        public enum Kind: String, Sendable, Hashable, CaseIterable, Codable {
            /// A key of the payload is not read into any attribute or relationship.
            case unmappedKey
            /// A value does not fit the type of its attribute.
            case valueDoesNotFit
            /// A record of an entity with a primary key has no readable or complete key.
            case recordWithoutKey
            /// A JSON value is neither an object nor an ID as its relationship requires.
            case shapeDoesNotFit
            /// A record or row lacks a value that its entity requires.
            case requiredValueMissing
            /// A record has the key of a row of another entity.
            case entityMismatch
            /// The discriminator or type of a record or reference names no entity of the model.
            case unknownKind
            /// A record under a name has another value for the attribute of that name.
            case contradictingName
            /// A record is inconsistent with an earlier one with the same key.
            case contradictingRecords
            /// Several keys of one record are read into the same attribute or relationship, with different values.
            case conflictingKeys
            /// The store is damaged, or has dangling links.
            case damage
            /// Keys have another JSON type than the key attribute. They are converted.
            case keyOfAnotherType
            /// No record of the payload has a value for an attribute.
            case attributeNeverSeen
            /// A reference to a row that is not stored yet. It is resolved when the row arrives.
            case unresolvedReference
            /// A JSON key may be read into several attributes or relationships.
            case ambiguousName
            /// A relationship may lack its inverse.
            case missingInverse
            /// The model names a transformer that is not registered. Values are not transformed.
            case missingTransformer
            /// Exports omit an attribute or relationship although the model does not exclude it.
            case leftOutOfExports

            /// Whether the finding means lost or missing data of the payload or the store. Other findings are
            /// suggestions.
            public var losesData: Bool {
                switch self {
                case .unmappedKey, .valueDoesNotFit, .recordWithoutKey, .shapeDoesNotFit, .requiredValueMissing,
                    .entityMismatch, .unknownKind, .contradictingName, .contradictingRecords, .conflictingKeys,
                    .damage:
                    true
                case .keyOfAnotherType, .attributeNeverSeen, .unresolvedReference, .ambiguousName, .missingInverse,
                    .missingTransformer, .leftOutOfExports:
                    false
                }
            }
        }

        /// The kind of the finding.
        public var kind: Kind
        /// The affected entity, if there is one.
        public var entity: String?
        /// The first place: a JSON path in the payload (`[3].notes[0].created_at`) or in the model
        /// (`entities.User.relationships.notes`); nil if there is none.
        public var path: String?
        /// A description of the problem.
        public var message: String
        /// A suggestion to fix it.
        public var advice: String
        /// The number of occurrences.
        public var count: Int

        /// Creates a finding.
        public init(_ kind: Kind, entity: String?, path: String?, message: String, advice: String, count: Int = 1) {
            self.kind = kind
            self.entity = entity
            self.path = path
            self.message = message
            self.advice = advice
            self.count = count
        }
    }
}

// MARK: - SyncExamination.Finding+Report

extension SyncExamination.Finding {
    /// Creates a finding from a diagnostic of a plan, with a suggestion.
    init(_ diagnostic: SyncResult.Diagnostic) {
        let (kind, advice): (Kind, String) =
            switch diagnostic.kind {
            case .valueDoesNotFit:
                (.valueDoesNotFit, "change the attribute's type or name a transformer; the stored value stays as it is")
            case .recordWithoutKey, .keyCannotBeMade:
                (
                    .recordWithoutKey,
                    "name the JSON key of the primary key with \"remoteKey\", or mark another attribute"
                )
            case .deletionsSkipped:
                (
                    .recordWithoutKey,
                    "mend the record; --deletes-beside-unread and deletesBesideUnread delete what is left out all the same"
                )
            case .keyPartMissing:
                (
                    .recordWithoutKey,
                    "sync the row that its key is made of too, before or in the same payload, or name it as the parent"
                )
            case .shapeDoesNotFit: (.shapeDoesNotFit, "check \"many\" of the relationship; the links stay as they are")
            case .requiredValueMissing: (.requiredValueMissing, "make the attribute optional or give it a default")
            case .linksToMissingRows:
                (.damage, "import: it removes them; and have whatever deletes rows do so with foreign keys on")
            case .unknownKind:
                (.unknownKind, "give the kind an entity, in \"discriminator\" or as its \"type\", or skip it knowingly")
            case .contradictingName:
                (.contradictingName, "see which is right; the name under which the record stands is what is stored")
            case .contradictingRecord:
                (
                    .contradictingRecords,
                    "see which is right: the one that comes last is stored; --strict and isStrict refuse such a payload"
                )
            case .entityMismatch:
                (
                    .entityMismatch,
                    "sync the record as the entity its row is of; a row that shall be of another one has to be deleted first"
                )
            }
        self.init(
            kind, entity: diagnostic.entity, path: diagnostic.path, message: diagnostic.message, advice: advice)
    }

    /// Creates a finding for a pending reference.
    init(_ reference: SyncResult.UnresolvedReference, path: String?) {
        self.init(
            .unresolvedReference, entity: reference.entity, path: path,
            message: "\(reference.entity) \(reference.key) names \(reference.target) as its "
                + "\(reference.relationship), which is not stored",
            advice: "sync the row it names too, before or after; the link waits for it")
    }
}

// MARK: - Payload

extension SyncExamination {
    /// Validates a payload against a model.
    ///
    /// - Parameter result: The plan of the payload, which has shown that the payload can be read.
    init(
        _ json: Data, of entity: String, in model: SyncModel, hasParent: Bool, options: SyncOptions,
        dryRun result: SyncResult
    ) throws {
        let compiled = try model.compiled.entity(named: entity)
        var walk = PayloadValidator(
            model.compiled, hasParent: hasParent, findingPlacesOf: result.unresolved)
        try json.withUnsafeBytes { raw in
            let bytes = raw.bindMemory(to: UInt8.self)
            let layout = try PayloadLayout(options, of: compiled, in: model.compiled)
            // Resources state their entities while they are mapped, so the plan has all of their findings.
            guard layout.types == nil else { return walk.addUnmapped(result.unmappedKeys) }
            walk.readsConnections = layout.readsConnections
            walk.path.labels = layout.lists.map(\.label)
            var reader = layout.reader(bytes)
            var tape = JSONTape()
            while try reader.next(into: &tape) {
                let list = layout.lists[reader.list]
                walk.examineRoot(
                    tape, at: reader.recordToken, of: model.compiled.entities[list.entity], bytes,
                    index: reader.recordIndex, root: layout.isPlain ? nil : .init(reader.recordPlace, tape),
                    nameSlot: reader.nameToken < 0 ? -1 : list.nameSlot)
            }
        }
        self = SyncExamination(of: model).adding(walk.findings(with: result))
    }
}

// MARK: - DataStack+Examination

extension DataStack {
    /// Validates the store: rows without required values, pending references, dangling links, damage that SQLite
    /// reports, and problems of the model.
    ///
    /// - Throws: ``SyncError`` `storeFailure`.
    public func examine() async throws -> SyncExamination {
        let dangling = try await danglingLinks().map {
            SyncExamination.Finding(
                .damage, entity: nil, path: nil, message: $0,
                advice:
                    "import: a sync that meets such a link removes all of them; whatever left it there should delete "
                    + "rows with foreign keys on")
        }
        let broken = try await brokenPages().map {
            SyncExamination.Finding(
                .damage, entity: nil, path: nil, message: $0,
                advice: "restore a copy, or make a new database and import again")
        }
        let waiting = try await unresolvedReferences().map { SyncExamination.Finding($0, path: nil) }
        return SyncExamination(of: model).adding(dangling + broken + (try await missingValues()) + waiting)
    }

    /// Returns findings for required values that are missing. Keys are left out, because a temporary key reads as nil.
    private func missingValues() async throws -> [SyncExamination.Finding] {
        var findings: [SyncExamination.Finding] = []
        for entity in model.compiled.entities {
            let attributes = entity.slots.filter { !entity.keySlots.contains($0) }
                .map { model.compiled[entity.table].attributes[$0] }
            let required =
                attributes.filter { !$0.isOptional }.map { ($0.name, "attributes") }
                + entity.relationships.filter { !$0.relationship.isOptional }.map { ($0.name, "relationships") }
            for (name, group) in required {
                let count = try await count(entity.name, where: .attribute(name) == nil)
                guard count > 0 else { continue }
                findings.append(
                    SyncExamination.Finding(
                        .requiredValueMissing, entity: entity.name, path: "entities.\(entity.name).\(group).\(name)",
                        message: "\(count) \(entity.name) row\(count == 1 ? " has" : "s have") no \(name), "
                            + "which is not optional",
                        advice: "sync rows that have it, or make it optional", count: count))
            }
        }
        return findings
    }
}
