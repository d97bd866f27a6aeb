public import Foundation

/// The options of an export.
///
/// If a sync wrote all rows of the store, a sync of their complete export with the default options changes nothing.
public struct ExportOptions: Sendable, Hashable {
    /// The form of relationships.
    public enum Relationships: String, Sendable, Hashable, CaseIterable {
        /// A to-one relationship is an object, and a to-many relationship an array of objects:
        /// `{"notes": [{"id": 1}]}`. If the model sets `keyedBy` for a to-many relationship, the value can be an object
        /// whose members are the records.
        case array
        /// Relationships are nested attributes as in Rails: `{"notes_attributes": {"0": {"id": 1}}}`. In nested rows,
        /// the key of an attribute `destroy` is `_destroy`.
        case nested
        /// Relationships are omitted, except those that are part of the primary key. Each of these is the key of the
        /// referenced row.
        case none
    }

    /// The format of dates.
    public enum DateFormat: Sendable, Hashable {
        /// The format that the model sets for each attribute, or ISO 8601 if it sets none.
        case attribute
        /// ISO 8601: `2024-02-29T18:29:59.999Z`. Milliseconds are omitted if they are zero. In time zones other than
        /// UTC, the text ends with the offset, such as `+01:00`.
        case iso8601
        /// A date pattern of Unicode Technical Standard 35, such as `yyyy-MM-dd`.
        case pattern(String)
    }

    /// The spelling of keys for which the model sets no `remoteKey`. If it is nil, the spelling of the entity or the
    /// model applies, or else snake_case.
    package var keyCase: KeyCase?
    /// The form of relationships.
    package var relationships: Relationships
    /// The format of dates.
    package var dateFormat: DateFormat
    /// The time zone of dates. Dates in the format that the model sets for their attribute are in UTC.
    package var timeZone: TimeZone
    /// The attribute whose values are the object keys, if the export writes the records as members of an object:
    /// `{"AD": {…}}`. Nil for an array. Only exports of JSON text use it.
    package var keyedBy: KeyedBy?
    /// Whether the export includes attributes and relationships that the model excludes from exports.
    package var exportsAll = false

    /// Creates options.
    ///
    /// By default keys and dates have the formats that the model sets, or else snake_case and ISO 8601 in UTC.
    /// Relationships are objects and arrays.
    public init(
        keyCase: KeyCase? = nil, relationships: Relationships = .array, dateFormat: DateFormat = .attribute,
        timeZone: TimeZone = .gmt, keyedBy: KeyedBy? = nil
    ) {
        self.keyCase = keyCase
        self.relationships = relationships
        self.dateFormat = dateFormat
        self.timeZone = timeZone
        self.keyedBy = keyedBy
    }
}

/// An attribute or relationship that an export omits although the model does not exclude it.
package struct ExportOmission: Hashable {
    enum Reason {
        /// The values cannot be converted back to JSON.
        case noExportingTransformer
        /// Another attribute or relationship uses each possible key.
        case noKey
    }

    let entity: CompiledEntity
    package let member: String
    let reason: Reason

    init(_ entity: CompiledEntity, _ member: String, _ reason: Reason) {
        self.entity = entity
        self.member = member
        self.reason = reason
    }

    package static func == (left: ExportOmission, right: ExportOmission) -> Bool {
        left.entity.id == right.entity.id && left.member == right.member && left.reason == right.reason
    }

    package func hash(into hasher: inout Hasher) {
        hasher.combine(entity.id)
        hasher.combine(member)
    }

    /// The omission as a diagnostic with a suggestion.
    package var diagnostic: SyncDiagnostic {
        let group = entity.slotByName[member] == nil ? "relationships" : "attributes"
        let (cause, suggestion) =
            switch reason {
            case .noExportingTransformer:
                (
                    "its transformer cannot be reversed",
                    "add an exporting function to the transformer, or set \"export\": false"
                )
            case .noKey:
                (
                    "another attribute or relationship has the same remote key",
                    "set a remoteKey for one of the two, or set \"export\": false"
                )
            }
        return SyncDiagnostic(
            .notExported, entity: entity.name, path: "entities.\(entity.name).\(group).\(member)",
            message: "\(entity.name).\(member) is not exported: \(cause)", suggestion: suggestion)
    }
}

// MARK: - SyncModel+ExportOmissions

extension SyncModel {
    /// Returns a diagnostic for each attribute and relationship that an export of an entity omits although the model
    /// does not exclude it. Includes those of nested rows.
    ///
    /// ```swift
    /// for omission in try stack.model.exportOmissions(of: "User") { print(omission.path, omission.message) }
    /// ```
    /// - Throws: ``SyncError`` `unknownEntity`.
    package func exportOmissions(
        of entity: String, options: ExportOptions = ExportOptions()
    ) throws -> [SyncDiagnostic] {
        let start = try compiled.entity(named: entity)
        var found: [ExportOmission] = []
        var seen: Set<ExportSchemaKey> = []
        var waiting = start.family.map { ExportSchemaKey(entity: $0, destination: start.id, isNested: false) }
        while let key = waiting.popLast() {
            guard seen.insert(key).inserted else { continue }
            let shape = try ExportSchemaBuilder.shape(key, of: self, options)
            if !compiled.entities[key.entity].isAbstract { found += shape.omissions.filter { !found.contains($0) } }
            guard options.relationships != .none else { continue }
            for hop in compiled.entities[key.entity].relationships where hop.relationship.isExported {
                waiting += compiled.entities[hop.destination].family.map {
                    ExportSchemaKey(
                        entity: $0, destination: hop.destination, isNested: options.relationships == .nested)
                }
            }
        }
        return found.map(\.diagnostic)
    }
}
