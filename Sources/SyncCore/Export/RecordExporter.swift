package import Foundation

/// Exports rows as JSON.
///
/// A record contains the records of related rows. The exporter omits the following:
///
/// - A relationship that leads back: the inverse of the relationship that led to the row, and any relationship to an
///   enclosing row.
/// - A list with an enclosing row, because a sync would read a partial list as a complete list.
/// - A relationship with pending references, for the same reason.
/// - A value that exceeds the nesting limit of the JSON reader.
///
/// If the record of a referenced row cannot be nested, a relationship that is part of the primary key has the key of
/// that row as its value.
package struct RecordExporter {
    private let model: SyncModel
    private let options: ExportOptions
    private let values: ExportValues
    private let source: any ExportSource
    private var shapes: [ExportSchemaKey: ExportSchema] = [:]
    /// The row that is being exported and its enclosing rows, outermost first.
    private var open: [ExportedRowID] = []

    package init(model: SyncModel, options: ExportOptions, source: some ExportSource) {
        self.model = model
        self.options = options
        self.source = source
        values = ExportValues(options)
    }

    /// Returns a row as a record, for an array of records.
    package mutating func record(_ row: ExportRow, of entity: CompiledEntity) throws -> JSONValue {
        try object(row, as: entity.id, after: nil, depth: 2)
    }

    /// Returns a row as a member of an object whose members are records.
    ///
    /// - Parameter slot: The slot of the attribute whose value is the object key.
    /// - Throws: ``SyncError`` `typeMismatch` if the value of the attribute is null or cannot be an object key.
    package mutating func member(
        _ row: ExportRow, of entity: CompiledEntity, namedBy slot: Int
    ) throws -> JSONValue.Member {
        guard let name = name(of: row, slot) else {
            let attribute = model.compiled[entity.table].attributes[slot].name
            throw SyncError(
                .typeMismatch, "cannot key a row by '\(attribute)': the value is null",
                entity: entity.name)
        }
        let record = try object(row, as: entity.id, after: nil, depth: 2)
        return .init(name, record.excluding(try fieldKey(slot, of: row, as: entity.id)))
    }

    /// Returns the JSON object of a row.
    ///
    /// - Parameters:
    ///   - destination: The index of the entity that the call or the relationship to the row names.
    ///   - followed: The relationship that led to the row; nil for a root row.
    ///   - depth: The nesting level of the object.
    private mutating func object(
        _ row: ExportRow, as destination: Int, after followed: CompiledRelationship?, depth: Int
    ) throws -> JSONValue {
        open.append(row.identity)
        defer { open.removeLast() }
        let isNested = options.relationships == .nested && followed != nil
        let shape = try shape(
            .init(entity: row.entity.id, destination: destination, isNested: isNested))
        return .object(try members(shape.fields, row, row.values, after: followed, depth: depth))
    }

    private mutating func shape(_ key: ExportSchemaKey) throws -> ExportSchema {
        if let shape = shapes[key] { return shape }
        let shape = try ExportSchemaBuilder.shape(key, of: model, options)
        shapes[key] = shape
        return shape
    }

    private mutating func members(
        _ fields: [ExportSchema.Field], _ row: ExportRow, _ values: [StoredValue],
        after followed: CompiledRelationship?, depth: Int
    ) throws -> [JSONValue.Member] {
        var members: [JSONValue.Member] = []
        members.reserveCapacity(fields.count)
        for field in fields {
            let value: JSONValue?
            switch field.content {
            case .attribute(let slot, let conversion, let isLink):
                // A sync would remove the link because of a null ID, even if the export omits the relationship.
                if isLink, values[slot].isNull { continue }
                value = json(values[slot], conversion, depth: depth)
            case .kind(let name): value = .string(name)
            case .relationship(let relationship):
                value = try targets(of: row, along: relationship, after: followed, depth: depth + 1)
            case .object(let inner):
                guard depth < JSONValue.maximumDepth else { continue }
                let inside = try self.members(inner, row, values, after: followed, depth: depth + 1)
                guard !inside.isEmpty else { continue }
                value = .object(inside)
            }
            if let value { members.append(.init(field.key, value)) }
        }
        return members
    }

    // MARK: Attributes

    /// Returns the JSON of a value; nil if its conversion fails, or if the value is nested too deeply.
    ///
    /// - Parameter depth: The nesting level of the object with the value.
    private func json(_ value: StoredValue, _ conversion: ValueConversion?, depth: Int) -> JSONValue? {
        guard let json = values.json(value, conversion), json.isNested(atMost: JSONValue.maximumDepth - depth) else {
            return nil
        }
        return json
    }

    // MARK: Relationships

    /// Returns the JSON of a relationship; nil if the export omits the relationship.
    ///
    /// - Parameter depth: The nesting level of the value.
    private mutating func targets(
        of row: ExportRow, along relationship: CompiledRelationship, after followed: CompiledRelationship?,
        depth: Int
    ) throws -> JSONValue? {
        if let followed, leadsBack(relationship, from: followed) { return nil }
        if let reference = source.reference(row, along: relationship) { return reference }
        let isKeyPart = model.compiled.isKeyPart(relationship)
        if isKeyPart, options.relationships == .none { return try key(of: row, along: relationship) }
        let level = relationship.isToMany ? depth + 1 : depth
        guard level <= JSONValue.maximumDepth else { return nil }
        let targets = try source.targets(of: row, along: relationship)
        guard try isWhole(targets, of: row, relationship) else {
            return isKeyPart ? try key(of: row, along: relationship) : nil
        }
        guard relationship.isToMany else {
            guard let target = targets.first else { return nil }
            return try object(target, as: relationship.destination, after: relationship, depth: level)
        }
        if let named = try namedTargets(targets, along: relationship, depth: level) { return named }
        var elements: [JSONValue] = []
        elements.reserveCapacity(targets.count)
        for target in targets {
            elements.append(try object(target, as: relationship.destination, after: relationship, depth: level))
        }
        return options.relationships == .nested ? .numbered(elements) : .array(elements)
    }

    /// Returns the key of the referenced row of a relationship that is part of the primary key; nil without such a row.
    private func key(of row: ExportRow, along relationship: CompiledRelationship) throws -> JSONValue? {
        try source.targets(of: row, along: relationship).first?.key.json
    }

    /// Returns the destination rows as members of an object. Returns nil if the relationship has no `keyedBy`, if a
    /// name is missing or repeated, or if the form of relationships is not ``ExportOptions/Relationships/array``.
    private mutating func namedTargets(
        _ targets: [ExportRow], along relationship: CompiledRelationship, depth: Int
    ) throws -> JSONValue? {
        guard options.relationships == .array,
            let slot = relationship.relationship.keyedBy?.slot(
                in: model.compiled.entities[relationship.destination], of: model.compiled)
        else { return nil }
        // Strings are compared byte for byte, as in JSON.
        var seen: Set<PrimaryKeyValue> = []
        let names = targets.compactMap { name(of: $0, slot) }.filter { seen.insert(.text($0)).inserted }
        guard names.count == targets.count else { return nil }
        return .object(
            try zip(names, targets).map { name, target in
                let record = try object(target, as: relationship.destination, after: relationship, depth: depth)
                return .init(name, record.excluding(try fieldKey(slot, of: target, as: relationship.destination)))
            })
    }

    /// Returns the value of an attribute as an object key; nil if the value is null or cannot be a name.
    mutating func name(of row: ExportRow, _ slot: Int) -> String? {
        let attribute = model.compiled[row.entity.table].attributes[slot]
        let value = row.values[slot]
        guard let json = json(value, model.conversion(of: attribute), depth: 1) else { return nil }
        return switch json {
        case .string(let text): text
        case .number(let text): text
        case .bool(let flag): flag ? "true" : "false"
        default: nil
        }
    }

    /// Returns the key in the record of the attribute whose value is the object key; nil if the record itself has no
    /// such member.
    private mutating func fieldKey(_ slot: Int, of row: ExportRow, as destination: Int) throws -> String? {
        let shape = try shape(.init(entity: row.entity.id, destination: destination, isNested: false))
        return shape.fields.first { field in
            guard case .attribute(slot, _, _) = field.content else { return false }
            return true
        }?.key
    }

    /// Returns whether all destination rows can be exported and no links to them are pending.
    private func isWhole(
        _ targets: [ExportRow], of row: ExportRow, _ relationship: CompiledRelationship
    ) throws -> Bool {
        if targets.contains(where: { open.contains($0.identity) }) { return false }
        if try source.isPending(row, along: relationship.name) { return false }
        let other = model.compiled[relationship.link].side(relationship.end.other)
        guard !other.isToMany, let inverse = other.relationship?.name else { return true }
        return try !targets.contains { try source.isPending($0, along: inverse) }
    }

    private func leadsBack(_ relationship: CompiledRelationship, from followed: CompiledRelationship) -> Bool {
        guard relationship.link == followed.link else { return false }
        return relationship.end != followed.end || model.compiled[relationship.link].isSymmetric
    }
}

extension JSONValue {
    /// The deepest nesting of objects and arrays that the reader accepts.
    fileprivate static let maximumDepth = 512

    /// Returns the elements as an object whose object keys are the indexes: `{"0": …, "1": …}`
    fileprivate static func numbered(_ elements: [JSONValue]) -> JSONValue {
        .object(elements.enumerated().map { Member("\($0.offset)", $0.element) })
    }

    fileprivate func excluding(_ key: String?) -> JSONValue {
        guard let key, case .object(let members) = self else { return self }
        return .object(members.filter { !$0.key.utf8.elementsEqual(key.utf8) })
    }

    fileprivate func isNested(atMost levels: Int) -> Bool {
        switch self {
        case .null, .bool, .number, .string: true
        case .array(let elements): levels > 0 && elements.allSatisfy { $0.isNested(atMost: levels - 1) }
        case .object(let members): levels > 0 && members.allSatisfy { $0.value.isNested(atMost: levels - 1) }
        }
    }
}

/// A row that an export reads. It is a class, because records share rows.
package final class ExportRow {
    /// The entity of the row, which may be a subentity of the requested entity.
    package let entity: CompiledEntity
    /// The identity of the row, unique over all entities.
    package let identity: ExportedRowID
    /// The primary key of the row.
    package let key: PrimaryKeyValue
    /// One value for each attribute of the inheritance hierarchy, in the order of the slots. A temporary key is null.
    package let values: [StoredValue]
    /// The rows that the source read together with the row, or other data of the source.
    package let group: AnyObject
    /// The index of the row in its group.
    package let index: Int

    package init(
        entity: CompiledEntity, identity: ExportedRowID, key: PrimaryKeyValue, values: [StoredValue],
        group: AnyObject, index: Int
    ) {
        self.entity = entity
        self.identity = identity
        self.key = key
        self.values = values
        self.group = group
        self.index = index
    }
}

/// A source of rows for an export.
package protocol ExportSource {
    /// Returns the destination rows of a relationship, in the order of the relationship. A to-one relationship has at
    /// most one destination row.
    func targets(of row: ExportRow, along relationship: CompiledRelationship) throws -> [ExportRow]
    /// Returns whether a relationship has pending references.
    func isPending(_ row: ExportRow, along relationship: String) throws -> Bool
    /// Returns the JSON of a relationship if the source has only the keys of the destination rows. Otherwise, returns
    /// nil.
    func reference(_ row: ExportRow, along relationship: CompiledRelationship) -> JSONValue?
}

extension ExportSource {
    package func reference(_ row: ExportRow, along relationship: CompiledRelationship) -> JSONValue? { nil }
}

/// The identity of a row: its table and its key.
package struct ExportedRowID: Hashable {
    let table: TableID
    let key: PrimaryKeyValue

    package init(table: TableID, key: PrimaryKeyValue) {
        self.table = table
        self.key = key
    }
}

/// Writes exported records as text: an array or object with one record per line, or NDJSON.
package struct ExportText {
    private let form: PayloadFormat
    private var bytes: [UInt8] = []
    private var hasRecords = false
    /// Whether the records are members of an object.
    private let isObject: Bool

    package init(_ form: PayloadFormat, isObject: Bool = false) {
        self.form = form
        self.isObject = isObject
    }

    /// The number of bytes written since the last call of ``removeAll()``.
    package var count: Int { bytes.count }

    package mutating func append(_ record: JSONValue) {
        begin()
        JSONText.append(record, to: &bytes)
        if form == .ndjson { bytes.append(.newline) }
        hasRecords = true
    }

    package mutating func append(_ member: JSONValue.Member) {
        begin()
        JSONText.append(quoted: member.key, to: &bytes)
        bytes += ": ".utf8
        JSONText.append(member.value, to: &bytes)
        hasRecords = true
    }

    private mutating func begin() {
        if form != .ndjson { bytes += (hasRecords ? ",\n  " : isObject ? "{\n  " : "[\n  ").utf8 }
    }

    /// Writes the end of the text.
    package mutating func end() {
        guard form != .ndjson else { return }
        if isObject {
            bytes += (hasRecords ? "\n}\n" : "{}\n").utf8
        } else {
            bytes += (hasRecords ? "\n]\n" : "[]\n").utf8
        }
    }

    /// Removes and returns the text written since the last call.
    package mutating func removeAll() -> Data {
        defer { bytes.removeAll(keepingCapacity: true) }
        return Data(bytes)
    }
}

/// Writes dates in the format and time zone of the options.
struct ExportDates {
    private let timeZone: TimeZone
    private let formatter: DateFormatter?

    init(_ options: ExportOptions) {
        timeZone = options.timeZone
        guard case .pattern(let pattern) = options.dateFormat else {
            formatter = nil
            return
        }
        let formatter = DateFormatter()
        formatter.locale = Locale(identifier: "en_US_POSIX")
        formatter.timeZone = timeZone
        // Use the proleptic Gregorian calendar, as the reader does.
        formatter.gregorianStartDate = .distantPast
        formatter.dateFormat = pattern
        self.formatter = formatter
    }

    func text(_ date: Date) -> JSONValue {
        guard let milliseconds = date.milliseconds else { return .null }
        if let formatter { return .string(formatter.string(from: Date(milliseconds: milliseconds))) }
        return .string(local(milliseconds, offset: timeZone.secondsFromGMT(for: date)))
    }

    /// Returns the text of a time with a UTC offset.
    ///
    /// The text is in UTC if the local time is out of range, or if the offset is not a whole number of minutes, as
    /// before standard time.
    private func local(_ milliseconds: Int64, offset: Int) -> String {
        let shifted = milliseconds + Int64(offset) * 1000
        guard offset != 0, offset % 60 == 0, DateText.range.contains(shifted) else { return DateText.iso(milliseconds) }
        let minutes = abs(offset) / 60
        let sign = offset < 0 ? "-" : "+"
        return DateText.iso(shifted).dropLast() + sign + Self.twoDigits(minutes / 60) + ":"
            + Self.twoDigits(minutes % 60)
    }

    private static func twoDigits(_ value: Int) -> String { value < 10 ? "0\(value)" : "\(value)" }
}
