import Foundation
import SyncCore

/// Turns records of a class into what the model reads, and what is sent into values of Parse's kinds.
struct ParseRecords: Sendable {
    static let id = "objectId"
    /// What the server gives, and nobody else.
    private static let owned = [id, "createdAt", "updatedAt", "sessionToken"]

    /// A member, and where Parse has it.
    struct Field: Sendable {
        let member: ServedEntity.Member
        let path: [String]
        var name: String { path[0] }
    }

    let entity: ServedEntity
    let fields: [Field]
    private let classNames: [String: String]
    private let files: String

    /// - Parameter files: How the addresses of the server's files begin.
    init(_ entity: ServedEntity, className: (String) -> String, files: String) {
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

    private static func plain(_ value: JSONValue, _ content: ServedEntity.Content) -> JSONValue? {
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

extension ServedEntity.Member {
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
