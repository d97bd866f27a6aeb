/// A problem in a payload, a store or a model.
///
/// ``SyncResult/diagnostics`` lists the problems that did not stop a sync, such as skipped records.
/// ``SyncError/problems`` lists the problems that an error summarizes.
public struct SyncDiagnostic: Sendable, Hashable, Codable {
    /// The kind of a diagnostic. The raw values are stable, so programs can compare them. Kinds that report lost or
    /// missing data come first.
    public enum Kind: String, Sendable, Hashable, CaseIterable, Codable {
        /// No attribute or relationship reads a key of the payload. `count` is the number of records with the key. In
        /// the result of a sync, `key` and `path` have the key, with dots between the keys of nested objects.
        case unmappedKey
        /// A value does not fit the type of its attribute, or an ID does not fit the key of its entity. The sync
        /// ignores the value or ID.
        case typeMismatch
        /// A record has no readable primary key, or only a part of a composite key. The sync skips the record.
        case missingPrimaryKey
        /// A root record has an unreadable key, such as a key of the wrong type or only a part of a composite key. It
        /// may describe any row of its entity, so the sync deletes no omitted rows of the entity. Correct the record,
        /// or set ``SyncOptions/deletesBesideUnread``.
        case deletionsSkipped
        /// A nested record has no key, and the sync cannot generate a key of this type. The sync skips the record.
        case cannotGenerateKey
        /// The key of a new row contains the key of a row that is not stored. The sync rejects the record.
        case missingKeyPart
        /// A value of a relationship does not fit it, such as a list for a to-one relationship. The links stay
        /// unchanged. Also: a resource identifier has no type or no ID, and the sync skips the identifier.
        case invalidRelationshipValue
        /// Values of a Swift type have loaded rows of a to-many relationship, and ``SyncOperations`` allow no change of
        /// to-many relationships. The sync ignores these rows.
        case ignoredRelationship
        /// The record of a new row lacks a required value, and the sync skips the record. Validation and migrations
        /// also report stored rows that lack a required value.
        case missingRequiredValue
        /// The row with this key is of another entity in the store or in the payload, or the entity of a new row is
        /// abstract. The sync skips the record.
        case entityMismatch
        /// The discriminator value of a record, or the type of a resource or reference, names no entity that is possible
        /// there. Also: the entity of a record is abstract and the record has no discriminator value, or a resource has
        /// no type. The sync skips the record, the resource or the reference.
        case unknownDiscriminatorValue
        /// A value inside a record differs from the object key of the record, or from the `id` of its JSON:API
        /// resource. The sync stores the object key, or the `id`.
        case objectKeyMismatch
        /// A record differs from an earlier record with the same key. The sync stores the later value. Only validation
        /// reports this diagnostic; a sync counts the records in ``SyncResult/inconsistentRecordCount``.
        case inconsistentRecords
        /// Several JSON keys of one record belong to the same attribute or relationship and have different values. Only
        /// validation reports this diagnostic.
        case duplicateKeys
        /// Stored links reference rows that do not exist. A sync that reports this diagnostic has removed the links.
        case danglingLinks
        /// SQLite reports that the database is damaged.
        case integrityViolation
        /// The model is inconsistent, or differs from the store.
        case invalidModel
        /// A migration would lose stored data.
        case dataLoss
        /// An existing table does not fit the model, or the database uses a name that the model needs. If SQL can
        /// change the table, `fixSQL` has the statements.
        case incompatibleTable
        /// An error in the `errors` of a JSON:API or GraphQL document.
        case serviceError
        /// The keys of records have another JSON type than the key attribute. The sync converts them.
        case convertedKeyType
        /// No record of the payload has a value for an attribute.
        case unusedAttribute
        /// The payload or a stored row references a row that is not stored yet. A later sync that inserts the row adds
        /// the link.
        case pendingReference
        /// A JSON key may belong to several attributes or relationships.
        case ambiguousKey
        /// The model may lack the inverse of a relationship.
        case missingInverse
        /// The model names a transformer that is not registered, so syncs do not transform the values.
        case missingTransformer
        /// Exports omit an attribute or relationship although the model does not exclude it.
        case notExported

        /// Whether data of the payload or the store is lost or missing. Other diagnostics are suggestions.
        package var losesData: Bool {
            switch self {
            case .unmappedKey, .typeMismatch, .missingPrimaryKey, .deletionsSkipped, .cannotGenerateKey,
                .missingKeyPart,
                .invalidRelationshipValue, .ignoredRelationship, .missingRequiredValue, .entityMismatch,
                .unknownDiscriminatorValue,
                .objectKeyMismatch, .inconsistentRecords, .duplicateKeys, .danglingLinks, .integrityViolation,
                .invalidModel, .dataLoss, .incompatibleTable, .serviceError:
                true
            case .convertedKeyType, .unusedAttribute, .pendingReference, .ambiguousKey, .missingInverse,
                .missingTransformer, .notExported:
                false
            }
        }
    }

    /// The kind of the diagnostic.
    public var kind: Kind
    /// The entity; nil if it is not known, or if the problem concerns no single entity.
    public var entity: String?
    /// The primary key of the row as text; nil if it is not known. For an unmapped key in a result, this is the JSON
    /// key.
    public var key: String?
    /// The location of the first occurrence, such as a JSON path in the payload (`[3].notes[0].created_at`) or in the
    /// model (`entities.User.relationships.notes`). Empty if it is not known.
    public var path: String
    /// A description of the problem, which may say how the call handled it.
    public var message: String
    /// How to fix the problem; nil if there is no suggestion. Validation makes more suggestions than a sync.
    public var suggestion: String?
    /// The SQL that fixes the problem; nil if SQL cannot fix it. Several problems may have the same statements. Run
    /// these once.
    public var fixSQL: String?
    /// The number of occurrences.
    public var count: Int

    package init(
        _ kind: Kind, entity: String? = nil, key: String? = nil, path: String = "", message: String,
        suggestion: String? = nil, fixSQL: String? = nil, count: Int = 1
    ) {
        self.kind = kind
        self.entity = entity
        self.key = key
        self.path = path
        self.message = message
        self.suggestion = suggestion
        self.fixSQL = fixSQL
        self.count = count
    }
}

extension SyncDiagnostic {
    /// Creates a diagnostic for a JSON key that no attribute or relationship of an entity reads.
    package static func unmapped(_ key: String, of entity: String, count: Int) -> SyncDiagnostic {
        SyncDiagnostic(
            .unmappedKey, entity: entity, key: key, path: key,
            message: "\(entity) has no attribute or relationship for the key '\(key)'", count: count)
    }
}
