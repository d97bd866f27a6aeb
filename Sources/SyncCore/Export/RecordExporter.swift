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
        var output = RecordValue()
        try write(row, as: entity.id, after: nil, depth: 2, to: &output)
        return output.value
    }

    /// Appends a row as a record, for an array of records or NDJSON.
    package mutating func append(_ row: ExportRow, of entity: CompiledEntity, to text: inout ExportText) throws {
        try text.append { try write(row, as: entity.id, after: nil, depth: 2, to: &$0) }
    }

    /// Appends a row as a member of an object whose members are records.
    ///
    /// - Parameters:
    ///   - name: The object key, as ``objectKey(of:_:namedBy:)`` returns it.
    ///   - slot: The slot of the attribute whose value is the object key.
    package mutating func append(
        _ row: ExportRow, of entity: CompiledEntity, named name: String, by slot: Int, to text: inout ExportText
    ) throws {
        try text.append(name) { try write(row, as: entity.id, after: nil, omitting: slot, depth: 2, to: &$0) }
    }

    /// Returns the object key of a row.
    ///
    /// - Parameter slot: The slot of the attribute whose value is the object key.
    /// - Throws: ``SyncError`` `typeMismatch` if the value of the attribute is null or cannot be an object key.
    package func objectKey(of row: ExportRow, _ entity: CompiledEntity, namedBy slot: Int) throws -> String {
        if let name = name(of: row, slot) { return name }
        let attribute = model.compiled[entity.table].attributes[slot].name
        throw SyncError(
            .typeMismatch, "cannot key a row by '\(attribute)': the value is null", entity: entity.name)
    }

    /// Writes the JSON object of a row.
    ///
    /// - Parameters:
    ///   - destination: The index of the entity that the call or the relationship to the row names.
    ///   - followed: The relationship that led to the row; nil for a root row.
    ///   - slot: The slot of the attribute whose value is the object key; nil for another row. The record omits the
    ///     attribute, unless it is in a nested object.
    ///   - depth: The nesting level of the object.
    private mutating func write(
        _ row: ExportRow, as destination: Int, after followed: CompiledRelationship?, omitting slot: Int? = nil,
        depth: Int, to output: inout some RecordOutput
    ) throws {
        open.append(row.identity)
        defer { open.removeLast() }
        let isNested = options.relationships == .nested && followed != nil
        let shape = try shape(
            .init(entity: row.entity.id, destination: destination, isNested: isNested))
        _ = try write(shape.fields, row, after: followed, omitting: slot, depth: depth, to: &output)
    }

    private mutating func shape(_ key: ExportSchemaKey) throws -> ExportSchema {
        if let shape = shapes[key] { return shape }
        let shape = try ExportSchemaBuilder.shape(key, of: model, options)
        shapes[key] = shape
        return shape
    }

    /// Writes an object with the members of a row. Returns whether it has members.
    private mutating func write(
        _ fields: [ExportSchema.Field], _ row: ExportRow, after followed: CompiledRelationship?, omitting omitted: Int?,
        depth: Int, to output: inout some RecordOutput
    ) throws -> Bool {
        let object = output.beginObject()
        for field in fields {
            let member = output.beginMember(field)
            let isWritten: Bool
            switch field.content {
            case .attribute(let slot, let conversion, let isLink):
                let value = row.values[slot]
                // A sync would remove the link because of a null ID, even if the export omits the relationship.
                isWritten =
                    slot != omitted && row.omittedSlots?.contains(slot) != true && !(isLink && value.isNull)
                    && values.write(value, conversion, levels: JSONValue.maximumDepth - depth, to: &output)
            case .kind(let name):
                output.write(string: name)
                isWritten = true
            case .relationship(let relationship):
                isWritten = try write(relationship, of: row, after: followed, depth: depth + 1, to: &output)
            case .object(let inner):
                isWritten =
                    try depth < JSONValue.maximumDepth
                    && write(inner, row, after: followed, omitting: nil, depth: depth + 1, to: &output)
            }
            if !isWritten { output.removeMember(from: member) }
        }
        return output.endObject(from: object)
    }

    // MARK: Relationships

    /// Writes the value of a relationship. Returns false if the export omits the relationship.
    ///
    /// - Parameter depth: The nesting level of the value.
    private mutating func write(
        _ relationship: CompiledRelationship, of row: ExportRow, after followed: CompiledRelationship?, depth: Int,
        to output: inout some RecordOutput
    ) throws -> Bool {
        if let followed, leadsBack(relationship, from: followed) { return false }
        if let reference = source.reference(row, along: relationship) {
            output.write(reference)
            return true
        }
        let isKeyPart = model.compiled.isKeyPart(relationship)
        if isKeyPart, options.relationships == .none { return try writeKey(of: row, along: relationship, to: &output) }
        let level = relationship.isToMany ? depth + 1 : depth
        guard level <= JSONValue.maximumDepth else { return false }
        let targets = try source.targets(of: row, along: relationship)
        guard try isWhole(targets, of: row, relationship) else {
            return try isKeyPart && writeKey(of: row, along: relationship, to: &output)
        }
        guard relationship.isToMany else {
            guard let target = targets.first else { return false }
            try write(target, as: relationship.destination, after: relationship, depth: level, to: &output)
            return true
        }
        try write(targets, along: relationship, depth: level, to: &output)
        return true
    }

    /// Writes the destination rows of a to-many relationship.
    ///
    /// - Parameter depth: The nesting level of the rows.
    private mutating func write(
        _ targets: [ExportRow], along relationship: CompiledRelationship, depth: Int, to output: inout some RecordOutput
    ) throws {
        let destination = relationship.destination
        if let (slot, names) = names(of: targets, along: relationship) {
            let object = output.beginObject()
            for (name, target) in zip(names, targets) {
                _ = output.beginMember(name)
                try write(target, as: destination, after: relationship, omitting: slot, depth: depth, to: &output)
            }
            _ = output.endObject(from: object)
        } else if options.relationships == .nested {
            // An object whose object keys are the indexes: `{"0": …, "1": …}`
            let object = output.beginObject()
            for (index, target) in targets.enumerated() {
                _ = output.beginMember("\(index)")
                try write(target, as: destination, after: relationship, depth: depth, to: &output)
            }
            _ = output.endObject(from: object)
        } else {
            let array = output.beginArray()
            for target in targets {
                output.beginElement()
                try write(target, as: destination, after: relationship, depth: depth, to: &output)
            }
            output.endArray(from: array)
        }
    }

    /// Writes the key of the referenced row of a relationship that is part of the primary key. Returns false without
    /// such a row.
    private func writeKey(
        of row: ExportRow, along relationship: CompiledRelationship, to output: inout some RecordOutput
    ) throws -> Bool {
        guard let target = try source.targets(of: row, along: relationship).first else { return false }
        output.write(target.key.json)
        return true
    }

    /// Returns the object keys of destination rows, and the slot of the attribute that has them. Returns nil if the
    /// relationship has no `keyedBy`, if a name is missing or repeated, or if the form of relationships is not
    /// ``ExportOptions/Relationships/array``.
    private func names(
        of targets: [ExportRow], along relationship: CompiledRelationship
    ) -> (slot: Int, names: [String])? {
        guard options.relationships == .array,
            let slot = relationship.relationship.keyedBy?.slot(
                in: model.compiled.entities[relationship.destination], of: model.compiled)
        else { return nil }
        // Strings are compared byte for byte, as in JSON.
        var seen: Set<PrimaryKeyValue> = []
        let names = targets.compactMap { name(of: $0, slot) }.filter { seen.insert(.text($0)).inserted }
        return names.count == targets.count ? (slot, names) : nil
    }

    /// Returns the value of an attribute as an object key; nil if the value is null or cannot be a name.
    private func name(of row: ExportRow, _ slot: Int) -> String? {
        let conversion = model.conversion(of: model.compiled[row.entity.table].attributes[slot])
        return switch values.json(row.values[slot], conversion) {
        case .string(let text): text
        case .number(let text): text
        case .bool(let flag): flag ? "true" : "false"
        case nil, .null, .array, .object: nil
        }
    }

    /// Returns whether all destination rows can be exported and no links to them are pending.
    private func isWhole(
        _ targets: [ExportRow], of row: ExportRow, _ relationship: CompiledRelationship
    ) throws -> Bool {
        if targets.contains(where: { open.contains($0.identity) }) { return false }
        guard source.hasPendingReferences else { return true }
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
    /// The slots of the attributes that the record omits; nil if it omits none.
    package let omittedSlots: Set<Int>?
    /// The rows that the source read together with the row, or other data of the source.
    package let group: AnyObject
    /// The index of the row in its group.
    package let index: Int

    package init(
        entity: CompiledEntity, identity: ExportedRowID, key: PrimaryKeyValue, values: [StoredValue],
        omitting omittedSlots: Set<Int>? = nil, group: AnyObject, index: Int
    ) {
        self.entity = entity
        self.identity = identity
        self.key = key
        self.values = values
        self.omittedSlots = omittedSlots
        self.group = group
        self.index = index
    }
}

/// A source of rows for an export.
package protocol ExportSource {
    /// Returns the destination rows of a relationship, in the order of the relationship. A to-one relationship has at
    /// most one destination row.
    func targets(of row: ExportRow, along relationship: CompiledRelationship) throws -> [ExportRow]
    /// Whether any relationship may have pending references.
    var hasPendingReferences: Bool { get }
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
