import Foundation
import SyncCore

/// Turns records of a class into what the model reads, and what is sent into values of Parse's kinds.
struct ParseRecords: Sendable {
    static let id = "objectId"
    /// What the server gives, and nobody else.
    private static let owned = [id, "createdAt", "updatedAt", "sessionToken"]

    /// A member, and where Parse has it.
    struct Field: Sendable {
        let member: ServiceEntity.Field
        let path: [String]
        var name: String { path[0] }
    }

    let entity: ServiceEntity
    let fields: [Field]
    private let classNames: [String: String]
    private let files: String

    /// - Parameter files: How the addresses of the server's files begin.
    init(_ entity: ServiceEntity, className: (String) -> String, files: String) {
        self.entity = entity
        self.files = files
        fields = entity.members.map { member in
            Field(member: member, path: member.isNamedByModel ? member.path : [member.name])
        }
        var names: [String: String] = [:]
        for member in entity.members {
            if let name = member.destination { names[name] = className(name) }
        }
        classNames = names
    }

    /// The fields that are lists of other rows.
    var lists: [Field] { fields.filter { if case .references = $0.member.content { true } else { false } } }

    /// The keys that lead to the id in a record of the model's.
    var keyPath: [String] { entity.keyPaths.first ?? [Self.id] }

    func className(of field: Field) -> String { field.member.destination.flatMap { classNames[$0] } ?? "" }

    func isOwned(_ field: Field) -> Bool { field.path.count == 1 && Self.owned.contains(field.name) }

    // MARK: Reading

    /// A record as the model reads it. What the class has no value of is said to have none.
    ///
    /// - Parameter lists: The ids that relations lead to, by field.
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
                    record.value(at: field.path).flatMap { Self.plain($0, field.member.content) }
                }
            if let value = value ?? field.member.absence { result = result.setting(value, at: field.member.path) }
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

    /// A value of Parse's own kinds as plain JSON; nil for a relation, which says nothing by itself.
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

    /// A value as Parse has it.
    func typed(_ value: JSONValue, _ field: Field) -> JSONValue {
        switch (field.member.content, value) {
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

    /// An object that was put together of members, as the kind of value that has those: a place, a file, a date, bytes.
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
        switch content {
        case .reference(let name), .references(let name): name
        case .value, .converted: nil
        }
    }
}

extension Date {
    /// `2026-11-23T16:34:43.000Z`: Parse writes the milliseconds always.
    var parseText: String {
        let text = DateText.string(milliseconds)
        return text.replacing(" ", with: "T") + "Z"
    }
}

extension String {
    /// What follows the last slash of an address, not escaped.
    var lastPathPart: String? {
        let path = prefix { $0 != "?" && $0 != "#" }
        guard let part = path.split(separator: "/").last else { return nil }
        return String(part).removingPercentEncoding ?? String(part)
    }
}

// MARK: - ParseService+Bodies

// What is sent of a row, as values and operations of Parse's.
extension ParseService {
    /// That a row is not sent, and what that means for it.
    struct ImmediateOutcome: LocalizedError {
        let outcome: PushOutcome
        var errorDescription: String? { "the row is not sent: \(outcome)" }
    }

    /// A new row: what has no value is left out.
    func creation(_ operation: PushOperation) throws -> JSONValue {
        let records = records(of: operation.entity)
        var body = operation.body.without(at: records.keyPath)
        var fields = JSONValue.object([])
        for field in records.fields {
            guard let value = body.value(at: field.member.path) else { continue }
            body = body.without(at: field.member.path)
            if value == .null || value == .array([]) || records.isOwned(field) { continue }
            if case (.references, .array(let ids)) = (field.member.content, value) {
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

    /// The fields that change.
    ///
    /// - Throws: ``Settled``; ``ServiceError`` of what has to be asked before.
    func update(_ operation: PushOperation) async throws -> JSONValue {
        let records = records(of: operation.entity)
        var body = operation.body.without(at: records.keyPath)
        let changed = records.fields.filter { field in
            body.value(at: field.member.path) != nil && !records.isOwned(field)
        }
        var current = JSONValue.object([])
        if changed.contains(where: { $0.needsCurrent }), let id = operation.id {
            guard let record = try await raw([id], of: operation.entity).first else {
                throw ImmediateOutcome(outcome: .gone)
            }
            current = record
        }
        var fields = JSONValue.object([])
        for field in records.fields where body.value(at: field.member.path) != nil {
            let value = body.value(at: field.member.path) ?? .null
            body = body.without(at: field.member.path)
            guard !records.isOwned(field) else { continue }
            switch (field.member.content, value) {
            case (.references, .array(let ids)):
                let change = try await references(to: ids, field, current, operation)
                if let change { fields = fields.setting(change, at: [field.name]) }
            case _ where field.path.count > 1:
                // A part of an object: it is replaced as a whole.
                let object = fields[field.name] ?? current[field.name] ?? .object([])
                fields = fields.setting(
                    object.setting(records.typed(value, field), at: field.path.dropFirst()), at: [field.name])
            case (_, .null): fields = fields.setting(["__op": "Delete"], at: [field.name])
            default: fields = fields.setting(records.typed(value, field), at: [field.name])
            }
        }
        return try records.withObjects(in: fields).adding(body.settingNulls(deleting: true))
    }

    /// What makes a list of other rows the one that is wanted; nil if it is that one.
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

// Lists of other rows are relations or arrays of pointers, as the class has them. Parse says of a field without a value nothing, not
// even its kind.
extension ParseService {
    /// Whether a list is an array; nil for one whose kind nobody has seen.
    func observedArray(_ field: ParseRecords.Field, of entity: String) -> Bool? {
        arrays.value[[className(of: entity), field.name]]
    }

    private func recordArray(_ field: ParseRecords.Field, of entity: String, _ isArray: Bool?) {
        arrays.withLock { $0[[className(of: entity), field.name]] = isArray }
    }

    /// Whether a list is an array: as far as that was seen, or else one whose order counts, since a relation has none.
    private func isArray(_ field: ParseRecords.Field, of entity: String) -> Bool {
        observedArray(field, of: entity) ?? field.member.isOrdered
    }

    /// Notes what a record says of the kind of a list.
    func recordKind(_ field: ParseRecords.Field, _ record: JSONValue, of entity: String) {
        switch record[field.name] {
        case .array?: recordArray(field, of: entity, true)
        case let value? where value["__type"] == "Relation": recordArray(field, of: entity, false)
        default: break
        }
    }

    /// The lists that an operation says something of, and whose kind nobody has seen.
    func guessedLists(_ operation: PushOperation) -> [ParseRecords.Field] {
        records(of: operation.entity).lists.filter { field in
            guard let value = operation.body.value(at: field.member.path), value != .array([]) else { return false }
            return observedArray(field, of: operation.entity) == nil
        }
    }

    /// Takes lists for what they were not taken for; for unknown again where that was wrong too.
    func recordOppositeKind(_ fields: [ParseRecords.Field], of entity: String, isKnown: Bool) {
        for field in fields {
            recordArray(field, of: entity, isKnown ? !field.member.isOrdered : nil)
        }
    }
}

extension ParseRecords.Field {
    /// Whether what is there has a say in what is sent.
    fileprivate var needsCurrent: Bool {
        if case .references = member.content { true } else { path.count > 1 }
    }
}

extension ParseRecords {
    /// Fields with the objects that were put together of members: those that have no value left are deleted.
    ///
    /// - Throws: ``ParseService/Settled`` for half a place.
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
            ? "is a place: it needs a latitude and a longitude, or neither" : nil
    }
}

extension JSONValue {
    /// Members that nothing is known of; those without a value are deleted, or left out.
    fileprivate func settingNulls(deleting deletes: Bool) -> JSONValue {
        guard case .object(let members) = self else { return self }
        return .object(
            members.compactMap { member in
                guard member.value == .null else { return member }
                return deletes ? Member(member.key, ["__op": "Delete"]) : nil
            })
    }

    /// With the members of another object.
    fileprivate func adding(_ other: JSONValue) -> JSONValue {
        guard case .object(let members) = other else { return self }
        return members.reduce(self) { $0.setting($1.value, at: [$1.key]) }
    }
}
