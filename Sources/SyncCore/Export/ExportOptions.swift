public import Foundation

/// Options of an export.
///
/// With the default options, a sync of the exported JSON changes nothing.
public struct ExportOptions: Sendable, Hashable {
    /// The form of relationships.
    public enum Relationships: String, Sendable, Hashable, CaseIterable {
        /// A to-one relationship is an object, a to-many an array of objects: `{"notes": [{"id": 1}]}`.
        case array
        /// The nested attributes of Rails: `{"notes_attributes": {"0": {"id": 1}}}`. Inside them, the key of the
        /// attribute `destroy` is `_destroy`.
        case nested
        /// Relationships are omitted.
        case none
    }

    /// The format of dates.
    public enum DateFormat: Sendable, Hashable {
        /// The ``SyncModel/Attribute/format`` of each attribute; ISO 8601 if it has none.
        case attribute
        /// `2024-02-29T18:29:59.999Z`. Milliseconds are omitted if they are zero. In time zones other than UTC the text
        /// ends with the offset, `+01:00`.
        case iso8601
        /// A pattern of Unicode Technical Standard 35, such as `yyyy-MM-dd`.
        case pattern(String)
    }

    /// The spelling of keys that are not given by the model. If it is nil, the spelling of the model applies, or else
    /// snake_case.
    package var keyCase: KeyCase?
    /// The form of relationships.
    package var relationships: Relationships
    /// The format of dates.
    package var dateFormat: DateFormat
    /// The time zone of dates. Attributes with their own format are always in UTC.
    package var timeZone: TimeZone
    /// The attribute whose values are the member names, if the records are to be members of an object: `{"AD": {…}}`.
    package var keyedBy: KeyedBy?
    /// Whether the export includes attributes and relationships that are not exportable.
    package var exportsAll = false

    /// Creates options. By default keys and dates are as in the model, else snake_case and ISO 8601 in UTC, and
    /// relationships are objects and arrays.
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

/// An attribute or relationship that an export omits although it is exportable.
package struct ExportOmission: Hashable {
    enum Reason {
        /// Its transformer cannot convert values back to JSON.
        case noExportingTransformer
        /// Each key that it could be read from belongs to another attribute or relationship.
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
                    "another member uses its remote key",
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
    /// Returns the attributes and relationships that an export of an entity omits although they are exportable,
    /// including those of nested rows.
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
        var seen: Set<ExportShapeKey> = []
        var waiting = start.family.map { ExportShapeKey(entity: $0, destination: start.id, isNested: false) }
        while let key = waiting.popLast() {
            guard seen.insert(key).inserted else { continue }
            let shape = try ExportSchemaBuilder.shape(key, of: self, options)
            if !compiled.entities[key.entity].isAbstract { found += shape.omissions.filter { !found.contains($0) } }
            guard options.relationships != .none else { continue }
            for hop in compiled.entities[key.entity].relationships where hop.relationship.isExportable {
                waiting += compiled.entities[hop.destination].family.map {
                    ExportShapeKey(
                        entity: $0, destination: hop.destination, isNested: options.relationships == .nested)
                }
            }
        }
        return found.map(\.diagnostic)
    }
}
