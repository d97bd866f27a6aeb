/// A problem that does not stop a call: in a payload, a store or a model.
///
/// A sync lists what it skipped (``SyncResult/diagnostics``), an error lists its problems (``SyncError/problems``), and validation
/// adds suggestions.
public struct SyncDiagnostic: Sendable, Hashable, Codable {
    /// The kind of a diagnostic: stable, for programs. Kinds that lose data come first.
    public enum Kind: String, Sendable, Hashable, CaseIterable, Codable {
        /// A key of the payload is not read into any attribute or relationship. `key` has dots between the keys of nested objects;
        /// `count` is the number of records.
        case unmappedKey
        /// A value does not fit the type of its attribute. The stored value stays.
        case typeMismatch
        /// A record has no readable or complete key, and its entity has a primary key. The sync skips the record.
        case missingPrimaryKey
        /// The key of a root record cannot be read. The record may describe any row, so the sync deletes no omitted
        /// rows. Correct the record, or set ``SyncOptions/deletesBesideUnread``.
        case deletionsSkipped
        /// A nested record has no key, and keys of its entity cannot be generated. The sync skips the record.
        case cannotGenerateKey
        /// The key of a new row contains the key of a row that is not stored. The sync rejects the record.
        case missingKeyPart
        /// A value of a relationship is neither a record nor an ID, nor a list of them. The links stay.
        case invalidRelationshipValue
        /// A record for a new row, or a stored row, lacks a required value. The sync rejects the record.
        case missingRequiredValue
        /// The stored row with this key is of another entity. The sync skips the record.
        case entityMismatch
        /// The discriminator value of a record, or the type of a reference, is unknown to the model. The sync skips it.
        case unknownDiscriminatorValue
        /// A record has a value that differs from its member name, or from the members of its resource. The name, or the
        /// resource, applies.
        case objectKeyMismatch
        /// A record differs from an earlier record with the same key. The later value is stored. Only validation reports the
        /// place; ``SyncResult/contradictions`` has the count.
        case inconsistentRecords
        /// Several keys of one record are read into the same attribute or relationship, with different values.
        case duplicateKeys
        /// Stored links reference rows that are not stored. A sync that reaches them removes the links.
        case danglingLinks
        /// SQLite reports that the database is damaged.
        case integrityViolation
        /// The model is inconsistent, or differs from the store.
        case invalidModel
        /// A migration would lose stored data.
        case dataLoss
        /// A table of an app's database cannot be synced as it is. `fixSQL` changes it, where SQL can.
        case incompatibleTable
        /// The payload is a document with errors instead of data, such as that of a GraphQL or JSON:API service.
        case serviceError
        /// Keys have another JSON type than the key attribute. They are converted.
        case convertedKeyType
        /// No record of the payload has a value for an attribute.
        case unusedAttribute
        /// A reference to a row that is not stored yet. It is resolved when the row arrives.
        case pendingReference
        /// A JSON key may be read into several attributes or relationships.
        case ambiguousKey
        /// A relationship may lack its inverse.
        case missingInverse
        /// The model names a transformer that is not registered. Values are not transformed.
        case missingTransformer
        /// Exports omit an attribute or relationship although the model does not exclude it.
        case notExported

        /// Whether data of the payload or the store is lost or missing. Other diagnostics are suggestions.
        package var losesData: Bool {
            switch self {
            case .unmappedKey, .typeMismatch, .missingPrimaryKey, .deletionsSkipped, .cannotGenerateKey,
                .missingKeyPart,
                .invalidRelationshipValue, .missingRequiredValue, .entityMismatch, .unknownDiscriminatorValue,
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
    /// The entity; nil if the problem belongs to none.
    public var entity: String?
    /// The key of the row as text, if it is known; of an unmapped key, that key.
    public var key: String?
    /// The first place: a JSON path in the payload (`[3].notes[0].created_at`) or in the model
    /// (`entities.User.relationships.notes`), or an XML element. Empty for the store or the payload as a whole.
    public var path: String
    /// The problem, and what the call did about it.
    public var message: String
    /// How to fix it; nil if the message says so, or if only validation has a suggestion.
    public var suggestion: String?
    /// The SQL that fixes it; nil if none does. Problems of one table may share statements, which are run once.
    public var fixSQL: String?
    /// The number of occurrences.
    public var count: Int

    /// Creates a diagnostic.
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
    /// Creates a diagnostic for a key that records of an entity have and that the model maps to nothing.
    package static func unmapped(_ key: String, of entity: String, count: Int) -> SyncDiagnostic {
        SyncDiagnostic(
            .unmappedKey, entity: entity, key: key, path: key,
            message: "\(entity) has no attribute or relationship for the key '\(key)'", count: count)
    }
}
