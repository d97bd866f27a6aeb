import Foundation
public import SyncCore
public import SyncSQLite

/// What is wrong, or worth a look, with a model, a payload or a store.
///
/// ```swift
/// let examination = try await Sync.examine(json, inEntity: "User", stack: stack)
/// for finding in examination.findings { print(finding.path ?? "", finding.message, finding.advice) }
/// ```
public struct SyncExamination: Sendable, Hashable, Codable {
    /// What was found, by kind, those that lose data first; within a kind in the order found.
    public private(set) var findings: [SyncExamination.Finding]

    init(_ findings: [SyncExamination.Finding]) {
        let byKind = Dictionary(grouping: findings, by: \.kind)
        self.findings = SyncExamination.Finding.Kind.allCases.flatMap { byKind[$0] ?? [] }
    }

    /// The names and inverses of a model, and what is done with its values.
    public init(of model: SyncModel) {
        self.init(
            KeyNameValidator(model.compiled).findings + InverseValidator(model.compiled).findings
                + ConversionValidator(model).findings)
    }

    /// Whether something is lost or missing. See ``SyncExamination/Finding/Kind/losesData``.
    public var losesData: Bool { findings.contains { $0.kind.losesData } }

    /// Both together.
    func adding(_ others: [SyncExamination.Finding]) -> SyncExamination { SyncExamination(findings + others) }
}

extension SyncExamination {
    /// One thing that an examination found, with its place and what to change.
    public struct Finding: Sendable, Hashable, Codable {
        /// What kind of thing it is, stable and meant for programs.
        public enum Kind: String, Sendable, Hashable, CaseIterable, Codable {
            /// A key of the payload that no attribute and no relationship takes.
            case unmappedKey
            /// A value that does not fit the type of its attribute.
            case valueDoesNotFit
            /// A record of a keyed entity without a readable key.
            case recordWithoutKey
            /// JSON that fits neither objects nor ids of its relationship.
            case shapeDoesNotFit
            /// A record or a row that lacks a value its entity requires.
            case requiredValueMissing
            /// A record whose key belongs to a row of another entity.
            case entityMismatch
            /// A record or a reference of a kind that the model does not know.
            case unknownKind
            /// A record that says another value than the name under which it stands.
            case contradictingName
            /// A record that says something else of its row than an earlier one of the same key.
            case contradictingRecords
            /// Several keys of one record fill the same attribute with different values.
            case conflictingKeys
            /// A store that is not sound.
            case damage
            /// Keys written as another type than that of the key attribute; they are converted.
            case keyOfAnotherType
            /// An attribute that no record of the payload gives.
            case attributeNeverSeen
            /// A reference to a row that is not stored yet; it is linked when the row arrives.
            case unresolvedReference
            /// A JSON key that several attributes or relationships could be read from.
            case ambiguousName
            /// A relationship that may lack its inverse.
            case missingInverse
            /// A transformer that the model names and nobody registered: values are read without it.
            case missingTransformer
            /// An attribute or a relationship that exports leave out although the model does not say so.
            case leftOutOfExports

            /// Whether something of the payload or the store is lost or missing. The others are worth a look.
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

        /// What kind of thing it is.
        public var kind: Kind
        /// The entity it is about, if it is about one.
        public var entity: String?
        /// Its first place: a JSON path in the payload (`[3].notes[0].created_at`) or in the model
        /// (`entities.User.relationships.notes`); nil for what has none.
        public var path: String?
        /// What was found.
        public var message: String
        /// What to change.
        public var advice: String
        /// How often it was found.
        public var count: Int

        /// A finding with its place.
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
    /// What a dry run reports, with what to change.
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

    /// A reference to a row that is not stored.
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
    /// A payload against a model, with the result of its dry run, which has shown that it can be read.
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
            // Resources say what they are as they are mapped: the dry run has it all.
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
    /// What is wrong with the store, or worth a look: rows without a value they require, references that wait for their
    /// rows, what SQLite finds damaged, and what the model leaves open.
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

    /// Keys are left out: a local one reads as nil.
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
