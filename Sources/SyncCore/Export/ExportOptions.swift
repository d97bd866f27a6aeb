public import Foundation

/// How rows are turned into JSON.
///
/// With the defaults, what a sync stored is exported as JSON that the same sync finds nothing to change in.
public struct ExportOptions: Sendable, Hashable {
    /// What becomes of relationships.
    public enum Relationships: String, Sendable, Hashable, CaseIterable {
        /// A to-one is an object, a to-many an array of objects: `{"notes": [{"id": 1}]}`.
        case array
        /// As Rails takes them: `{"notes_attributes": {"0": {"id": 1}}}`. Inside, the attribute `destroy` is
        /// called `_destroy`.
        case nested
        /// They are left out.
        case none
    }

    /// How dates are written.
    public enum DateFormat: Sendable, Hashable {
        /// As the ``SyncModel/Attribute/format`` of each attribute says, and ISO 8601 where it has none.
        case attribute
        /// `2024-02-29T18:29:59.999Z`, the milliseconds only when they are not zero. In a time zone other than UTC
        /// it ends in the zone's offset, `+01:00`.
        case iso8601
        /// A pattern of Unicode Technical Standard 35, as in `yyyy-MM-dd`.
        case pattern(String)
    }

    /// How keys are spelled, other than those the model gives; nil for as the model says, and for snake_case if it does
    /// not.
    public var keyCase: KeyCase?
    /// What becomes of relationships.
    public var relationships: Relationships
    /// How dates are written.
    public var dateFormat: DateFormat
    /// The time zone dates are written in, but for those of attributes with a format of their own, which is in UTC.
    public var timeZone: TimeZone
    /// Set to have text with the records as members of an object, `{"AD": {…}}`: the attribute whose values are the names.
    public var keyedBy: KeyedBy?
    /// Whether what the model does not export is exported too.
    package var exportsAll = false

    /// Options with their defaults: keys and dates as the model says, else snake_case and ISO 8601 in UTC; relationships
    /// as objects and arrays.
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

/// An attribute or a relationship that an export leaves out although the model does not say so.
public struct ExportOmission: Sendable, Hashable {
    /// Why it is left out.
    public enum Reason: String, Sendable, Hashable, CaseIterable, Codable {
        /// What its transformer makes of JSON cannot be turned back: give that an `exporting` direction.
        case noWayBack
        /// Every key from which it would be read again is taken by another: give it a remote key.
        case noKey
    }

    /// The entity whose rows lack it.
    public var entity: String
    /// The attribute or relationship.
    public var member: String
    /// Why it is left out.
    public var reason: Reason

    init(_ entity: CompiledEntity, _ member: String, _ reason: Reason) {
        self.entity = entity.name
        self.member = member
        self.reason = reason
    }
}

extension ExportOmission: CustomStringConvertible {
    /// `User.secret is left out of exports: there is no way back from what its transformer makes`
    public var description: String {
        switch reason {
        case .noWayBack:
            "\(entity).\(member) is left out of exports: there is no way back from what a transformer makes of it"
        case .noKey: "\(entity).\(member) is left out of exports: another member has the key it would be read from"
        }
    }
}

// MARK: - SyncModel+ExportOmissions

extension SyncModel {
    /// What an export of an entity's rows leaves out although the model does not say so, in the rows it leads to as well.
    ///
    /// ```swift
    /// for omission in try stack.model.exportOmissions(of: "User") { print(omission) }
    /// ```
    /// - Throws: ``SyncError`` `unknownEntity`.
    public func exportOmissions(
        of entity: String, options: ExportOptions = ExportOptions()
    ) throws -> [ExportOmission] {
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
        return found
    }
}
