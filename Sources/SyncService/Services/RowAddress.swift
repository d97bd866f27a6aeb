public import Foundation
public import SyncCore

/// The part of a URL that identifies a record. The built-in services convert IDs to paths with this type.
///
/// For some IDs, the URL would not identify the record. An empty ID gives the URL of the list, and `..` gives the path
/// above the list. An ID with a slash may give the path of another record. A request to such a URL could change or
/// delete other records, so the initializer throws an error for these IDs:
///
/// ```swift
/// do {
///     let url = try client.url(["tasks"] + RowAddress(id).parts)
/// } catch let refusal as RowAddress.Refusal {
///     return .rejected(refusal.description)
/// }
/// ```
public struct RowAddress: Sendable, Hashable {
    /// The unescaped components of the path: one for each part of a composite ID, or one for any other ID.
    public let parts: [String]

    /// The reason why an ID cannot be part of a URL.
    public struct Refusal: LocalizedError, Sendable, Hashable, CustomStringConvertible {
        /// A message with the first 100 characters of the ID, and the reason.
        public let description: String
        /// The value of ``description``, for use as `localizedDescription`.
        public var errorDescription: String? { description }

        fileprivate init(_ id: JSONValue, _ reason: String) {
            description = "the ID \(id.description.prefix(100)) cannot be used in a URL: \(reason)"
        }
    }

    /// Creates the address of the record with the given ID.
    ///
    /// - Throws: ``Refusal`` for an ID that is empty, blank, null, `.` or `..`. Also ``Refusal`` for an ID with a
    ///   slash, a backslash, a control character or an escape such as `%2F`. The same rules apply to each part of a
    ///   composite ID, with one exception. A part may contain slashes or backslashes, as in `a/b`, if no segment is
    ///   empty, blank, `.` or `..`.
    public init(_ id: JSONValue) throws {
        parts = try Self.parts(of: id, in: id)
        guard case .array = id else {
            guard !parts[0].utf8.contains(where: Self.isSlash) else { throw Refusal(id, "it has a slash") }
            return
        }
    }

    private static func parts(of element: JSONValue, in id: JSONValue) throws -> [String] {
        guard case .array(let elements) = element else { return [try part(element, of: id)] }
        guard !elements.isEmpty else { throw Refusal(id, "it is empty") }
        return try elements.flatMap { try parts(of: $0, in: id) }
    }

    private static func part(_ element: JSONValue, of id: JSONValue) throws -> String {
        let text = text(of: element)
        guard element != .null, !text.allSatisfy(\.isWhitespace) else { throw Refusal(id, "it is empty") }
        guard !text.unicodeScalars.contains(where: { $0.properties.generalCategory == .control }) else {
            throw Refusal(id, "it has a control character")
        }
        guard !hasEscape(Array(text.utf8)) else { throw Refusal(id, "it has an escape such as '%2F'") }
        for segment in text.utf8.split(omittingEmptySubsequences: false, whereSeparator: isSlash) {
            let name = String(decoding: segment, as: UTF8.self).trimmingCharacters(in: .whitespaces)
            guard !name.isEmpty else {
                throw Refusal(id, "it begins or ends with a slash, or has two slashes in a row")
            }
            guard name != ".", name != ".." else { throw Refusal(id, "'\(name)' leads to another path") }
        }
        return text
    }

    private static func isSlash(_ byte: UInt8) -> Bool { byte == UInt8(ascii: "/") || byte == UInt8(ascii: "\\") }

    /// Returns whether a text has an escape such as `%2F`. A service that decodes escapes twice would read another ID.
    private static func hasEscape(_ bytes: [UInt8]) -> Bool {
        bytes.indices.contains { place in
            bytes[place] == UInt8(ascii: "%") && place + 2 < bytes.count
                && bytes[(place + 1)...(place + 2)].allSatisfy { Character(Unicode.Scalar($0)).isHexDigit }
        }
    }

    /// Returns the text of a string or number, or the JSON of any other ID.
    static func text(of id: JSONValue) -> String {
        switch id {
        case .string(let text), .number(let text): text
        default: String(decoding: CanonicalJSON.bytes(id), as: UTF8.self)
        }
    }
}
