import Foundation
import SyncCore

/// The conversion of Parse objects to records of the model, and of values to Parse types.
struct ParseRecords: Sendable {
    static let id = "objectId"
    /// The fields that only the server writes.
    private static let owned = [id, "createdAt", "updatedAt", "sessionToken"]

    /// A field of the model, and its key path in Parse objects.
    struct Field: Sendable {
        let member: ServiceEntity.Field
        let path: [String]
        var name: String { path[0] }
    }

    let entity: ServiceEntity
    let fields: [Field]
    private let classNames: [String: String]
    private let files: String

    /// Creates the conversion for an entity.
    ///
    /// - Parameter files: The prefix of the URLs of the server's files.
    init(_ entity: ServiceEntity, className: (String) -> String, files: String) {
        self.entity = entity
        self.files = files
        fields = entity.fields.map { member in
            Field(member: member, path: member.hasExplicitKey ? member.keyPath : [member.name])
        }
        var names: [String: String] = [:]
        for member in entity.fields {
            if let name = member.destination { names[name] = className(name) }
        }
        classNames = names
    }

    /// The fields of to-many relationships.
    var lists: [Field] { fields.filter { if case .references = $0.member.type { true } else { false } } }

    /// The key path of the ID in a record of the model.
    var keyPath: [String] { entity.keyPaths.first ?? [Self.id] }

    func className(of field: Field) -> String { field.member.destination.flatMap { classNames[$0] } ?? "" }

    func isOwned(_ field: Field) -> Bool { field.path.count == 1 && Self.owned.contains(field.name) }

    // MARK: Reading

    /// Converts a Parse object to a record of the model. A missing field gets the value that it stands for, if there is
    /// one.
    ///
    /// - Parameter lists: The IDs of relations, by the name of the field.
    func plain(_ record: JSONValue, lists: [String: [JSONValue]]) -> JSONValue {
        guard case .object(let members) = record else { return record }
        let known = Set(fields.map(\.name) + [Self.id])
        var result = JSONValue.object(
            members.filter { !known.contains($0.key) }.compactMap { member in
                Self.plain(member.value).map { JSONValue.Member(member.key, $0) }
            })
        if let id = record[Self.id] { result = result.setting(id, at: keyPath) }
        for field in fields {
            let value: JSONValue? =
                if let ids = lists[field.name] {
                    .array(ids)
                } else {
                    record.value(at: field.path).flatMap { Self.plain($0, field.member.type) }
                }
            if let value = value ?? field.member.nullValue { result = result.setting(value, at: field.member.keyPath) }
        }
        return result
    }

    private static func plain(_ value: JSONValue, _ content: ServiceEntity.FieldType) -> JSONValue? {
        switch content {
        case .value(.json), .value(.transformable): value
        case .references:
            if case .array(let elements) = value { .array(elements.compactMap(plain)) } else { JSONValue?.none }
        case .value, .converted, .reference: plain(value)
        }
    }

    /// Converts a value of a Parse type to plain JSON; returns nil for a relation, whose IDs are not in the object.
    private static func plain(_ value: JSONValue) -> JSONValue? {
        guard case .string(let type)? = value["__type"] else { return value }
        return switch type {
        case "Date": value["iso"]
        case "Bytes": value["base64"]
        case "Pointer", "Object": value[id]
        case "File": value["url"] ?? value["name"]
        case "Relation": JSONValue?.none
        default: value
        }
    }

    // MARK: Sending

    /// Converts a value to the Parse type of a field.
    func typed(_ value: JSONValue, _ field: Field) -> JSONValue {
        switch (field.member.type, value) {
        case (.value(.date), .string(let text)):
            guard let date = Date(isoText: text) else { return value }
            return ["__type": "Date", "iso": .string(date.parseText)]
        case (.value(.binary), .string): return ["__type": "Bytes", "base64": value]
        case (.value(.string), .string(let text)), (.value(.url), .string(let text)):
            guard text.hasPrefix(files), let name = text.lastPathPart else { return value }
            return ["__type": "File", "name": .string(name), "url": value]
        case (.reference, .string), (.reference, .number): return pointer(value, field)
        default: return value
        }
    }

    func pointer(_ id: JSONValue, _ field: Field) -> JSONValue {
        ["__type": "Pointer", "className": .string(className(of: field)), "objectId": id]
    }

    /// Adds `__type` to an object with the members of a Parse type: a geo point, a file, a date, or bytes.
    static func typed(object: JSONValue) -> JSONValue {
        guard case .object(let members) = object, object["__type"] == nil else { return object }
        let keys = Set(members.filter { $0.value != .null }.map(\.key))
        let type: String
        switch keys {
        case ["latitude", "longitude"]: type = "GeoPoint"
        case ["name", "url"]: type = "File"
        case ["iso"]: type = "Date"
        case ["base64"]: type = "Bytes"
        default: return object
        }
        return .object([.init("__type", .string(type))] + members)
    }
}

extension ServiceEntity.Field {
    fileprivate var destination: String? {
        switch type {
        case .reference(let name), .references(let name): name
        case .value, .converted: nil
        }
    }
}

extension Date {
    /// The date with milliseconds, as Parse always writes them: `2026-11-23T16:34:43.000Z`.
    var parseText: String {
        let text = DateText.string(clampedMilliseconds)
        return text.replacing(" ", with: "T") + "Z"
    }
}

extension String {
    /// The last component of the path of a URL, unescaped; nil if there is none.
    var lastPathPart: String? {
        let path = prefix { $0 != "?" && $0 != "#" }
        guard let part = path.split(separator: "/").last else { return nil }
        return String(part).removingPercentEncoding ?? String(part)
    }
}

// MARK: - Bodies of requests

// The bodies of requests, with the value types and operations of Parse.
extension ParseService {
    /// An outcome that the service knows without sending the change.
    struct ImmediateOutcome: LocalizedError {
        let outcome: PushOutcome
        var errorDescription: String? { "the row is not sent: \(outcome)" }
    }

    /// Returns the body of a create, without null fields and empty lists.
    func creation(_ operation: PushOperation) throws -> JSONValue {
        let records = records(of: operation.entity)
        var body = operation.record.without(at: records.keyPath)
        var fields = JSONValue.object([])
        for field in records.fields {
            guard let value = body.value(at: field.member.keyPath) else { continue }
            body = body.without(at: field.member.keyPath)
            if value == .null || value == .array([]) || records.isOwned(field) { continue }
            if case (.references, .array(let ids)) = (field.member.type, value) {
                let pointers = JSONValue.array(ids.map { records.pointer($0, field) })
                fields = fields.setting(
                    isArray(field, of: operation.entity) ? pointers : ["__op": "AddRelation", "objects": pointers],
                    at: field.path)
            } else {
                fields = fields.setting(records.typed(value, field), at: field.path)
            }
        }
        return try records.withObjects(in: fields).adding(body.settingNulls(deleting: false))
    }

    /// Returns the body of an update.
    ///
    /// - Throws: ``ImmediateOutcome`` if the change is not to be sent; ``ServiceError`` of the requests that the body
    ///   needs.
    func update(_ operation: PushOperation) async throws -> JSONValue {
        let records = records(of: operation.entity)
        var body = operation.record.without(at: records.keyPath)
        let changed = records.fields.filter { field in
            body.value(at: field.member.keyPath) != nil && !records.isOwned(field)
        }
        var current = JSONValue.object([])
        if changed.contains(where: { $0.needsCurrent }), let id = operation.id {
            guard let record = try await raw([id], of: operation.entity).first else {
                throw ImmediateOutcome(outcome: .notFound)
            }
            current = record
        }
        var fields = JSONValue.object([])
        for field in records.fields where body.value(at: field.member.keyPath) != nil {
            let value = body.value(at: field.member.keyPath) ?? .null
            body = body.without(at: field.member.keyPath)
            guard !records.isOwned(field) else { continue }
            switch (field.member.type, value) {
            case (.references, .array(let ids)):
                let change = try await references(to: ids, field, current, operation)
                if let change { fields = fields.setting(change, at: [field.name]) }
            case _ where field.path.count > 1:
                // Parse replaces objects as a whole.
                let object = fields[field.name] ?? current[field.name] ?? .object([])
                fields = fields.setting(
                    object.setting(records.typed(value, field), at: field.path.dropFirst()), at: [field.name])
            case (_, .null): fields = fields.setting(["__op": "Delete"], at: [field.name])
            default: fields = fields.setting(records.typed(value, field), at: [field.name])
            }
        }
        return try records.withObjects(in: fields).adding(body.settingNulls(deleting: true))
    }

    /// Returns the value of a field that changes a list to the given IDs; nil if nothing changes.
    private func references(
        to ids: [JSONValue], _ field: ParseRecords.Field, _ current: JSONValue, _ operation: PushOperation
    ) async throws -> JSONValue? {
        let records = records(of: operation.entity)
        recordKind(field, current, of: operation.entity)
        if isArray(field, of: operation.entity) { return .array(ids.map { records.pointer($0, field) }) }
        var known: [JSONValue] = []
        if current[field.name] != nil, let id = operation.id {
            known = try await related(to: id, field, of: operation.entity)
        }
        func change(_ name: String, _ ids: [JSONValue]) -> JSONValue? {
            ids.isEmpty
                ? JSONValue?.none
                : ["__op": .string(name), "objects": .array(ids.map { records.pointer($0, field) })]
        }
        let changes = [
            change("AddRelation", ids.filter { !known.contains($0) }),
            change("RemoveRelation", known.filter { !ids.contains($0) }),
        ].compactMap(\.self)
        return changes.count < 2 ? changes.first : ["__op": "Batch", "ops": .array(changes)]
    }
}

// The class of an object defines whether a to-many field is a relation or an array of pointers. Parse omits fields
// without a value. The kind of a field is therefore unknown until an object has a value for the field.
extension ParseService {
    /// Returns whether a to-many field is an array; nil if this process has not seen its kind.
    func observedArray(_ field: ParseRecords.Field, of entity: String) -> Bool? {
        arrays.value[[className(of: entity), field.name]]
    }

    private func recordArray(_ field: ParseRecords.Field, of entity: String, _ isArray: Bool?) {
        arrays.withLock { $0[[className(of: entity), field.name]] = isArray }
    }

    /// Returns whether a to-many field is an array. A field of unknown kind is an array if it is ordered, because a
    /// relation has no order.
    private func isArray(_ field: ParseRecords.Field, of entity: String) -> Bool {
        observedArray(field, of: entity) ?? field.member.isOrdered
    }

    /// Records the kind of a to-many field if an object has a value for the field.
    func recordKind(_ field: ParseRecords.Field, _ record: JSONValue, of entity: String) {
        switch record[field.name] {
        case .array?: recordArray(field, of: entity, true)
        case let value? where value["__type"] == "Relation": recordArray(field, of: entity, false)
        default: break
        }
    }

    /// Returns the to-many fields of a change whose kind is unknown.
    func guessedLists(_ operation: PushOperation) -> [ParseRecords.Field] {
        records(of: operation.entity).lists.filter { field in
            guard let value = operation.record.value(at: field.member.keyPath), value != .array([]) else {
                return false
            }
            return observedArray(field, of: operation.entity) == nil
        }
    }

    /// Records the opposite of the assumed kind of to-many fields.
    ///
    /// - Parameter isKnown: False to record the kind as unknown, because the opposite was wrong too.
    func recordOppositeKind(_ fields: [ParseRecords.Field], of entity: String, isKnown: Bool) {
        for field in fields {
            recordArray(field, of: entity, isKnown ? !field.member.isOrdered : nil)
        }
    }
}

extension ParseRecords.Field {
    /// Whether the body of a change depends on the current value of the field at the server.
    fileprivate var needsCurrent: Bool {
        if case .references = member.type { true } else { path.count > 1 }
    }
}

extension ParseRecords {
    /// Completes objects whose members are fields of the model: adds their Parse type, or deletes an object without
    /// values.
    ///
    /// - Throws: ``ParseService/ImmediateOutcome`` for a geo point with only one coordinate.
    fileprivate func withObjects(in body: JSONValue) throws -> JSONValue {
        var body = body
        for name in Set(fields.filter { $0.path.count > 1 }.map(\.name)).sorted() {
            guard let object = body[name], case .object(let members) = object, object["__op"] == nil else { continue }
            let values = members.filter { $0.value != .null && $0.key != "__type" }
            if values.isEmpty {
                body = body.setting(["__op": "Delete"], at: [name])
            } else if let reason = Self.isIncomplete(object, values.map(\.key)) {
                throw ParseService.ImmediateOutcome(outcome: .rejected("'\(name)' \(reason)"))
            } else {
                body = body.setting(Self.typed(object: .object(members.filter { $0.value != .null })), at: [name])
            }
        }
        return body
    }

    private static func isIncomplete(_ object: JSONValue, _ keys: [String]) -> String? {
        let isPlace = object["__type"] == "GeoPoint" || Set(keys).isSubset(of: ["latitude", "longitude"])
        return isPlace && Set(keys) != ["latitude", "longitude"]
            ? "is a GeoPoint: set both latitude and longitude, or neither" : nil
    }
}

extension JSONValue {
    /// Replaces or removes null members.
    ///
    /// - Parameter deletes: Whether a null member becomes a delete operation. If false, the result omits the member.
    fileprivate func settingNulls(deleting deletes: Bool) -> JSONValue {
        guard case .object(let members) = self else { return self }
        return .object(
            members.compactMap { member in
                guard member.value == .null else { return member }
                return deletes ? Member(member.key, ["__op": "Delete"]) : nil
            })
    }

    /// Returns the object with the members of another one.
    fileprivate func adding(_ other: JSONValue) -> JSONValue {
        guard case .object(let members) = other else { return self }
        return members.reduce(self) { $0.setting($1.value, at: [$1.key]) }
    }
}
