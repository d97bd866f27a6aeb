/// A problem in a payload, a store or a model.
///
/// ``SyncResult/diagnostics`` lists the problems that did not stop a sync, such as skipped records.
/// ``SyncError/problems`` lists the problems that an error summarizes.
public struct SyncDiagnostic: Sendable, Hashable, Codable {
    /// The kind of a diagnostic. The raw values do not change between versions.
    public enum Kind: String, Sendable, Hashable, CaseIterable, Codable {
        /// A JSON key of the payload matches no attribute or relationship. ``SyncDiagnostic/count`` is the number of
        /// occurrences of the key. In the result of a sync, ``SyncDiagnostic/key`` and ``SyncDiagnostic/path`` contain
        /// the JSON key, with dots between the keys of nested objects.
        case unmappedKey
        /// A value does not fit the type of its attribute or Swift property, or an ID does not fit the type of the
        /// primary key. This kind also applies to a value or ID that the store cannot keep. The sync ignores the value or
        /// the ID.
        case typeMismatch
        /// A record has no readable primary key, or only part of a composite key. The sync skips the record.
        case missingPrimaryKey
        /// A root record has an unreadable key, such as a key of the wrong type or only part of a composite key. The
        /// record could describe any row of its entity, so the sync deleted no omitted rows of that entity. Correct the
        /// record, or set ``SyncOptions/deletesBesideUnread``.
        ///
        /// This kind also applies if a page of a ``PagedImport`` is a single object instead of an array, and no
        /// predicate or parent sets the scope. The import then deletes no omitted rows of the entity.
        case deletionsSkipped
        /// A nested record without a key describes a new row, and the sync cannot generate a key of the required type.
        /// The sync skips the record.
        case cannotGenerateKey
        /// The key of a new row contains the key of another row, and that other row does not exist. The sync skips the
        /// record.
        case missingKeyPart
        /// The value of a relationship has the wrong form, such as a list for a to-one relationship. The links stay
        /// unchanged. This kind also applies to a JSON:API resource identifier that lacks a type or an ID. The sync
        /// skips the identifier.
        case invalidRelationshipValue
        /// A Swift value has loaded rows of a to-many relationship, but the ``SyncOperations`` of the call do not allow
        /// changes of to-many relationships. The sync ignores the loaded rows.
        case ignoredRelationship
        /// The record of a new row lacks a required value, and the sync skips the record. Validation and migrations
        /// also report stored rows that lack a required value.
        case missingRequiredValue
        /// A row with the key of the record belongs to another entity, in the store or in the payload. This kind also
        /// applies if the entity of a new row is abstract. The sync skips the record.
        case entityMismatch
        /// A discriminator value or JSON:API type is unknown, or names an entity that the payload or relationship does
        /// not allow. This kind also applies if a JSON:API resource has no type, or a record of an abstract entity has
        /// no discriminator value. The sync skips the record, the resource or the reference.
        case unknownDiscriminatorValue
        /// A value inside a record differs from the object key of the record, or from the `id` of the JSON:API
        /// resource. The sync stores the object key or the `id`.
        case objectKeyMismatch
        /// A record has other values than an earlier record with the same key. A sync stores the later values. Only
        /// validation reports this diagnostic. A sync counts inconsistent records in
        /// ``SyncResult/inconsistentRecordCount``.
        case inconsistentRecords
        /// Several JSON keys of one record match the same attribute or relationship, and their values differ. Only
        /// validation reports this diagnostic.
        case duplicateKeys
        /// The store has links to rows that do not exist. A sync that reports this diagnostic has removed the links.
        case danglingLinks
        /// The deletion of rows also deleted or changed rows of a table that is not in the model, by a foreign key with
        /// `ON DELETE CASCADE`, `SET NULL` or `SET DEFAULT`. ``SyncDiagnostic/path`` names the foreign key.
        case foreignKeyAction
        /// A row of a table that is not in the model references a row to be deleted, so the sync will throw
        /// ``SyncError`` `deletionDenied`. Only a plan reports this diagnostic.
        case deniedDeletion
        /// SQLite reports that the database is damaged.
        case integrityViolation
        /// The model is inconsistent.
        case invalidModel
        /// The model differs from that of the store, so a migration changes a table. Only the report of a migration
        /// has this kind.
        case tableChange
        /// A migration would lose stored data.
        case dataLoss
        /// A table of the app is missing or does not fit the model. This kind also applies if the database already uses
        /// a name that the model needs. If SQL can fix the problem, ``SyncDiagnostic/fixSQL`` contains the statements.
        case incompatibleTable
        /// A JSON:API payload or GraphQL response contains an error in its member `errors`.
        case serviceError
        /// A primary key is a string in the payload and a number in the model, or the reverse. A sync converts the
        /// key.
        case convertedKeyType
        /// No record of the payload has a key that matches the attribute.
        case unusedAttribute
        /// The payload or a stored row references a row that is not stored yet. A later sync adds the link when it
        /// inserts the referenced row. Only validation reports this diagnostic.
        case pendingReference
        /// A JSON key matches several attributes or relationships of an entity.
        case ambiguousKey
        /// A relationship without an inverse possibly needs an inverse.
        case missingInverse
        /// The model names a transformer that is not registered. Syncs do not apply the transformer.
        case missingTransformer
        /// Exports omit an attribute or relationship that the model does not exclude from exports.
        case notExported
    }

    /// The kind of the diagnostic.
    public var kind: Kind
    /// The name of the entity; nil if the entity is not known, or if the problem concerns several entities or none.
    public var entity: String?
    /// The primary key of the row that the problem concerns, as a string; nil if no key is known. For
    /// ``Kind/unmappedKey`` in the result of a sync, the property contains the JSON key.
    public var key: String?
    /// The location where the problem first occurs, such as a JSON path in the payload (`[3].notes[0].created_at`) or
    /// in the model (`entities.User.relationships.notes`). The string is empty if the location is not known. For
    /// ``Kind/unmappedKey`` in the result of a sync, the property contains the JSON key.
    public var path: String
    /// A description of the problem, and in some cases of the effect of the problem.
    public var message: String
    /// A suggestion for fixing the problem; nil if there is none. Validation makes more suggestions than a sync.
    public var suggestion: String?
    /// The SQL that fixes the problem; nil if SQL cannot fix the problem. If several diagnostics have the same SQL, run
    /// the SQL only once.
    public var fixSQL: String?
    /// The number of occurrences of the problem; 1 if occurrences are not counted.
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
    /// Creates a diagnostic for a JSON key that matches no attribute or relationship of an entity.
    package static func unmapped(_ key: String, of entity: String, count: Int) -> SyncDiagnostic {
        SyncDiagnostic(
            .unmappedKey, entity: entity, key: key, path: key,
            message: "\(entity) has no attribute or relationship for the key '\(key)'", count: count)
    }
}

extension SyncDiagnostic: CustomStringConvertible {
    /// The diagnostic on one line, without the SQL, such as
    /// `typeMismatch (User 2, at [1].age): a string does not fit age, an integer`.
    public var description: String {
        // For an unmapped key, `key` is the JSON key, which the path repeats.
        let row = kind == .unmappedKey ? nil : key
        let places = [[entity, row].compactMap(\.self).joined(separator: " "), path.isEmpty ? "" : "at \(path)"]
        let place = places.filter { !$0.isEmpty }.joined(separator: ", ")
        var text = kind.rawValue + (place.isEmpty ? "" : " (\(place))") + ": " + message
        if count > 1 { text += " (\(count) times)" }
        if let suggestion { text += "; \(suggestion)" }
        return text
    }
}
