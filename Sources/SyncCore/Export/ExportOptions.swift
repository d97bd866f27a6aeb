public import Foundation

/// The options of an export.
///
/// If all rows of the store come from syncs, a complete export with default options can be synced back without changing
/// the store.
public struct ExportOptions: Sendable, Hashable {
    /// The form of relationships in exported records.
    public enum Relationships: String, Sendable, Hashable, CaseIterable {
        /// A to-one relationship is an object, and a to-many relationship is an array of objects, as in
        /// `{"notes": [{"id": 1}]}`. If the model sets `keyedBy` for a to-many relationship, the value can be an object
        /// whose members are the records.
        case array
        /// Relationships are nested attributes as in Rails, such as `{"notes_attributes": {"0": {"id": 1}}}`. In nested
        /// records, an attribute `destroy` without a remote key has the key `_destroy`.
        case nested
        /// Relationships are omitted, except for relationships that are part of the primary key. The value of such a
        /// relationship is the key of the referenced row.
        case none
    }

    /// The format of dates in exported records.
    public enum DateFormat: Sendable, Hashable {
        /// The format that the model sets for the attribute, or ISO 8601 if the model sets no format.
        case attribute
        /// ISO 8601, such as `2024-02-29T18:29:59.999Z`. Milliseconds of zero are omitted. The string ends with `Z` or
        /// with the offset of the time zone, such as `+01:00`.
        case iso8601
        /// A date pattern of Unicode Technical Standard 35, such as `yyyy-MM-dd`. `Docs/MappingDates.md` lists the
        /// supported letters. An export with another pattern throws ``SyncError`` `invalidOption`.
        case pattern(String)
    }

    /// The spelling of keys for which the model sets no `remoteKey`. If the value is nil, the spelling of the entity or
    /// the model applies, or else snake_case.
    package var keyCase: KeyCase?
    /// The form of relationships.
    package var relationships: Relationships
    /// The format of dates.
    package var dateFormat: DateFormat
    /// The time zone of dates. Dates in a format that the model sets are in UTC.
    package var timeZone: TimeZone
    /// The attribute whose values are the object keys, if the export writes the records as members of an object, as in
    /// `{"AD": {…}}`. The value is nil for an array. Only exports of JSON text use this option.
    package var keyedBy: KeyedBy?
    /// Whether the export includes attributes and relationships that the model excludes from exports.
    package var exportsAll = false

    /// Creates options.
    ///
    /// By default, keys have the spelling and dates have the format that the model sets. If the model sets none, keys
    /// are in snake_case, and dates are in ISO 8601 and UTC. Relationships are objects and arrays.
    ///
    /// - Parameters:
    ///   - keyCase: The spelling of the keys of attributes and relationships for which the model sets no remote key. If
    ///     the value is nil, the spelling of the entity or the model applies, or else snake_case.
    ///   - relationships: The form of relationships.
    ///   - dateFormat: The format of dates.
    ///   - timeZone: The time zone of dates. Dates in a format that the model sets are in UTC.
    ///   - keyedBy: The attribute whose values are the object keys, if the export writes records as members of an
    ///     object, as in `{"AD": {…}}`; nil for an array. Only exports of JSON text use this option.
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

    /// Checks the pattern of dates.
    ///
    /// - Throws: ``SyncError`` `invalidOption`.
    package func validate() throws {
        guard case .pattern(let pattern) = dateFormat else { return }
        do { try DatePattern.checkLetters(pattern) } catch {
            throw SyncError(.invalidOption, "'\(pattern)' is not a date pattern: \(error.message)")
        }
    }
}

/// An attribute or relationship that an export omits, and that the model does not exclude from exports.
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
    /// Returns a diagnostic for each attribute and relationship that an export omits, and that the model does not
    /// exclude from exports. Attributes and relationships of nested rows are included.
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
