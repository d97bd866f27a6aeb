import Foundation

/// The likely format of a document that is not one list of records.
package enum PayloadFormatDetector: Sendable, Hashable {
    /// JSON:API: a member `jsonapi`, or `data` with resources, which have `type`, `id`, and `attributes` or
    /// `relationships`.
    case jsonAPI
    /// GraphQL: a connection, `data` that contains a connection, or null as `data` and an error with a message.
    case graphQL
    /// An object whose members are records.
    case keyed
    /// An object with several lists of records, with their names.
    case lists([String])

    /// The largest number of members or elements that are examined.
    private static let sampleSize = 100

    /// Detects the format of a value; nil for a list, a record, or anything else.
    package init?(of value: JSONValue) {
        guard case .object(let members) = value else { return nil }
        if Self.isJSONAPI(value) {
            self = .jsonAPI
        } else if Self.isGraphQL(value) {
            self = .graphQL
        } else if Self.isKeyed(members) {
            self = .keyed
        } else if case let lists = Self.lists(in: members), lists.count > 1 {
            self = .lists(lists)
        } else {
            return nil
        }
    }

    /// Returns whether a value has the member `jsonapi`, or a resource or a nonempty list of resources as `data`.
    package static func isJSONAPI(_ value: JSONValue) -> Bool {
        if value["jsonapi"] != nil { return true }
        switch value["data"] {
        case .array(let resources)?: return !resources.isEmpty && resources.prefix(sampleSize).allSatisfy(isResource)
        case let resource?: return isResource(resource)
        case nil: return false
        }
    }

    private static func isResource(_ value: JSONValue) -> Bool {
        guard case .string? = value["type"], value["id"] != nil else { return false }
        return value["attributes"] != nil || value["relationships"] != nil
    }

    /// Returns whether a value is a connection, has a connection in `data`, or has null as `data` and an error with a
    /// message.
    package static func isGraphQL(_ value: JSONValue) -> Bool {
        if isConnection(value) { return true }
        if case .object(let fields)? = value["data"] { return fields.contains { hasConnection($0.value, depth: 3) } }
        guard value["data"] == .null, case .array(let errors)? = value["errors"] else { return false }
        return errors.contains { $0["message"] != nil }
    }

    private static func hasConnection(_ value: JSONValue, depth: Int) -> Bool {
        if isConnection(value) { return true }
        guard depth > 0, case .object(let members) = value else { return false }
        return members.prefix(sampleSize).contains { hasConnection($0.value, depth: depth - 1) }
    }

    /// Returns whether a value is probably a GraphQL connection. Either `edges` is a list of objects with a `node`, or
    /// `nodes` is a list and the other keys are standard.
    package static func isConnection(_ value: JSONValue) -> Bool {
        if case .array(let edges)? = value["edges"] { return edges.prefix(sampleSize).allSatisfy { $0["node"] != nil } }
        guard case .array? = value["nodes"] else { return false }
        guard case .object(let members) = value else { return false }
        return members.allSatisfy { ["nodes", "pageInfo", "totalCount", "__typename"].contains($0.key) }
    }

    /// Returns whether the members of an object are probably records. There must be at least two members, and all must
    /// be objects with a common key.
    package static func isKeyed(_ members: [JSONValue.Member]) -> Bool {
        guard members.count > 1 else { return false }
        var common: Set<String>?
        for member in members.prefix(sampleSize) {
            guard case .object(let record) = member.value else { return false }
            let keys = Set(record.map(\.key))
            common = common?.intersection(keys) ?? keys
        }
        return common?.isEmpty == false
    }

    /// Returns the names of the members that are lists whose first element is an object.
    package static func lists(in members: [JSONValue.Member]) -> [String] {
        members.filter { member in
            guard case .array(let elements) = member.value, let first = elements.first else { return false }
            if case .object = first { return true }
            return false
        }.map(\.key)
    }
}

/// The first bytes of a payload, for detecting its format if it cannot be read.
package struct PayloadPrefix: Sendable {
    /// The largest number of bytes that are examined.
    package static let size = 1 << 16

    private let bytes: ArraySlice<UInt8>
    private let isWhole: Bool

    /// Creates a prefix from the first bytes.
    ///
    /// - Parameter isWhole: Whether the bytes are the whole payload.
    package init(_ bytes: some Collection<UInt8>, isWhole: Bool = true) {
        let mark: [UInt8] = [0xEF, 0xBB, 0xBF]
        let start = Array(bytes.prefix(Self.size))
        self.isWhole = isWhole && bytes.count <= Self.size
        self.bytes = (start.starts(with: mark) ? start.dropFirst(3) : start[...]).drop(while: Self.isBlank)
    }

    private static func isBlank(_ byte: UInt8) -> Bool { [.blank, .tab, .newline, .carriageReturn].contains(byte) }

    /// The likely format of the payload, if it is not one JSON document; nil if no such format is detected.
    package var detectedFormat: DetectedFormat? {
        guard let first = bytes.first else { return nil }
        switch first {
        case UInt8(ascii: "<"): return markup
        case UInt8(ascii: "{"), UInt8(ascii: "["): return areJSONLines ? .ndjson : nil
        default: return isYAML ? .yaml : isCSV ? .csv : nil
        }
    }

    // MARK: Text

    private var markup: DetectedFormat? {
        let text = String(decoding: bytes.prefix(4096), as: UTF8.self).lowercased()
        if ["<!doctype html", "<html", "<head", "<body"].contains(where: text.contains) { return .html }
        guard let second = text.unicodeScalars.dropFirst().first else { return nil }
        return "?!".unicodeScalars.contains(second) || second.properties.isAlphabetic ? .xml : nil
    }

    /// The complete lines that are not blank.
    private var lines: [ArraySlice<UInt8>] {
        var lines = bytes.split(separator: .newline, omittingEmptySubsequences: false)
        if !isWhole { lines.removeLast() }
        return lines.filter { !$0.allSatisfy(Self.isBlank) }
    }

    /// Whether the first two lines are objects.
    private var areJSONLines: Bool {
        let lines = lines.prefix(2)
        return lines.count == 2
            && lines.allSatisfy {
                if case .object? = try? JSONValue(parsing: Data($0)) { return true }
                return false
            }
    }

    /// Whether the first lines are those of YAML: a header, keys with values, or elements.
    private var isYAML: Bool {
        let lines = self.lines.prefix(20).map { String(decoding: $0, as: UTF8.self) }.filter { !$0.hasPrefix("#") }
        guard let first = lines.first, lines.count > 1 else { return false }
        if first.hasPrefix("%YAML") || first.trimmed == "---" { return true }
        return lines.prefix(3).allSatisfy { line in
            let line = line.trimmed
            if line.hasPrefix("- ") || line == "-" { return true }
            let key = line.prefix { $0.isLetter || $0.isNumber || $0 == "_" || $0 == "-" }
            let rest = line.dropFirst(key.count)
            return !key.isEmpty && (rest == ":" || rest.hasPrefix(": "))
        }
    }

    /// Whether the first lines have an equal number of columns, which is at least two.
    private var isCSV: Bool {
        let lines = lines.prefix(5)
        guard lines.count > 1 else { return false }
        return [UInt8(ascii: ","), UInt8(ascii: ";"), .tab].contains { separator in
            let counts = Set(lines.map { Self.count(of: separator, in: $0) })
            return counts.count == 1 && !counts.contains(0)
        }
    }

    private static func count(of separator: UInt8, in line: ArraySlice<UInt8>) -> Int {
        var isQuoted = false
        var count = 0
        for byte in line {
            if byte == .quote { isQuoted.toggle() }
            if byte == separator, !isQuoted { count += 1 }
        }
        return count
    }

    // MARK: JSON

    /// The JSON value of the payload, or of its beginning; nil if it is not JSON.
    package var value: JSONValue? {
        if isWhole { return try? JSONValue(parsing: Data(bytes)) }
        return closed.flatMap { try? JSONValue(parsing: Data($0)) }
    }

    /// The text up to the last comma, with all open containers closed; nil if it has no comma.
    private var closed: [UInt8]? {
        var open: [UInt8] = []
        var isText = false
        var isEscaped = false
        var end: (place: Int, open: [UInt8])?
        for (place, byte) in zip(bytes.indices, bytes) {
            if isText {
                if byte == .quote, !isEscaped { isText = false }
                isEscaped = byte == .backslash && !isEscaped
                continue
            }
            switch byte {
            case .quote: isText = true
            case UInt8(ascii: "{"): open.append(UInt8(ascii: "}"))
            case UInt8(ascii: "["): open.append(UInt8(ascii: "]"))
            case UInt8(ascii: "}"), UInt8(ascii: "]"): _ = open.popLast()
            case UInt8(ascii: ","): end = (place, open)
            default: break
            }
        }
        return end.map { Array(bytes[..<$0.place]) + $0.open.reversed() }
    }
}

extension String {
    fileprivate var trimmed: String { trimmingCharacters(in: .whitespaces) }
}

// MARK: - SyncError+DetectedFormat

extension SyncError {
    /// Returns the error with the likely format of the payload, if there is one.
    package func looking(like form: DetectedFormat?) -> SyncError {
        guard let form else { return self }
        var error = self
        error.detectedFormat = form
        // In these formats the locations of the records are fixed, so the error suggests no key paths.
        if form == .jsonAPI || form == .graphQL { error.keyPaths = [] }
        return error
    }

    /// Returns the error with the likely format of a payload that could not be parsed.
    ///
    /// - Parameter readAsLines: Whether the payload was read as NDJSON, so that this format is not suggested.
    package func looking(like head: PayloadPrefix, readAsLines: Bool) -> SyncError {
        let form = head.detectedFormat
        return readAsLines && form == .ndjson ? self : looking(like: form)
    }
}

// MARK: - SyncError+Service

extension SyncError {
    /// The largest number of service errors that are listed.
    private static let mostErrors = 20

    /// Creates an error from the `errors` of a document; nil if there are none.
    init?(errorsOfService value: JSONValue) {
        guard case .array(let errors) = value, !errors.isEmpty else { return nil }
        let told = errors.prefix(Self.mostErrors).enumerated().map { index, error in
            SyncDiagnostic(.serviceError, path: "errors[\(index)]", message: Self.text(of: error))
        }
        let count = errors.count == 1 ? "an error" : "\(errors.count) errors"
        self.init(
            .errorDocument, "the payload contains \(count) of the service: \(told[0].message)", path: "errors",
            problems: errors.count == 1 ? [] : told)
    }

    /// Returns the readable members of an error in JSON:API or GraphQL.
    private static func text(of error: JSONValue) -> String {
        let texts = ["status", "code", "title", "message", "detail"].compactMap { key -> String? in
            guard case .string(let text)? = error[key], !text.isEmpty else { return nil }
            return text
        }
        return texts.isEmpty ? "the error has no message" : texts.joined(separator: ": ")
    }
}
