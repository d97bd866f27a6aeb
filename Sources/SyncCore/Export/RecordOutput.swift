package import Foundation

/// The destination of exported records: JSON text or JSON values.
///
/// An exporter writes a record from its first member to its last. The functions that begin a member or an object return
/// a position of the output, which the functions that end or remove it receive.
protocol RecordOutput {
    /// Begins a member of the innermost open object. The value of the member is written next.
    mutating func beginMember(_ key: String) -> Int
    mutating func beginMember(_ field: ExportSchema.Field) -> Int
    /// Removes a member, and everything that was written after its beginning.
    mutating func removeMember(from position: Int)
    mutating func beginObject() -> Int
    /// Ends the innermost open object. Returns whether it has members.
    mutating func endObject(from position: Int) -> Bool
    mutating func beginArray() -> Int
    /// Begins an element of the innermost open array. The element is written next.
    mutating func beginElement()
    mutating func endArray(from position: Int)
    mutating func write(_ value: JSONValue)
    mutating func write(string: String)
    mutating func write(integer: Int64)
    /// Writes a date in ISO 8601, in milliseconds since 1970.
    mutating func write(date: Int64)
}

/// Writes exported records as compact JSON text.
struct RecordText: RecordOutput {
    var bytes: [UInt8] = []

    mutating func beginMember(_ key: String) -> Int {
        let position = bytes.count
        separateMember()
        JSONText.append(quoted: key, to: &bytes)
        bytes.append(.colon)
        return position
    }

    mutating func beginMember(_ field: ExportSchema.Field) -> Int {
        let position = bytes.count
        separateMember()
        bytes += field.keyText
        return position
    }

    private mutating func separateMember() {
        if bytes.last != .openBrace { bytes.append(.comma) }
    }

    mutating func removeMember(from position: Int) { bytes.removeSubrange(position...) }

    mutating func beginObject() -> Int {
        bytes.append(.openBrace)
        return bytes.count
    }

    mutating func endObject(from position: Int) -> Bool {
        defer { bytes.append(.closeBrace) }
        return bytes.count > position
    }

    mutating func beginArray() -> Int {
        bytes.append(.openBracket)
        return bytes.count
    }

    mutating func beginElement() {
        if bytes.last != .openBracket { bytes.append(.comma) }
    }

    mutating func endArray(from position: Int) { bytes.append(.closeBracket) }

    mutating func write(_ value: JSONValue) { JSONText.append(value, to: &bytes) }

    mutating func write(string: String) { JSONText.append(quoted: string, to: &bytes) }

    mutating func write(integer: Int64) { JSONText.append(integer, to: &bytes) }

    mutating func write(date: Int64) {
        bytes.append(.quote)
        DateText.append(iso: date, to: &bytes)
        bytes.append(.quote)
    }
}

/// Writes an exported record or value as a JSON value.
struct RecordValue: RecordOutput {
    /// The root, and after it the members and elements of the open objects and arrays. Elements have an empty key.
    private var members = [JSONValue.Member("", .null)]

    /// The value that was written.
    var value: JSONValue { members[0].value }

    mutating func beginMember(_ key: String) -> Int {
        members.append(.init(key, .null))
        return members.count - 1
    }

    mutating func beginMember(_ field: ExportSchema.Field) -> Int { beginMember(field.key) }

    mutating func removeMember(from position: Int) { members.removeSubrange(position...) }

    mutating func beginObject() -> Int { members.count }

    mutating func endObject(from position: Int) -> Bool {
        let own = Array(members[position...])
        members.removeSubrange(position...)
        write(.object(own))
        return !own.isEmpty
    }

    mutating func beginArray() -> Int { members.count }

    mutating func beginElement() { members.append(.init("", .null)) }

    mutating func endArray(from position: Int) {
        let elements = members[position...].map(\.value)
        members.removeSubrange(position...)
        write(.array(elements))
    }

    mutating func write(_ value: JSONValue) { members[members.count - 1].value = value }

    mutating func write(string: String) { write(.string(string)) }

    mutating func write(integer: Int64) { write(JSONValue(integer)) }

    mutating func write(date: Int64) { write(.string(DateText.iso(date))) }
}

/// Writes exported records as text: an array or object with one record per line, or NDJSON.
package struct ExportText {
    private let form: PayloadFormat
    private var text = RecordText()
    private var hasRecords = false
    /// Whether the records are members of an object.
    private let isObject: Bool

    package init(_ form: PayloadFormat, isObject: Bool = false) {
        self.form = form
        self.isObject = isObject
    }

    /// The number of bytes written since the last call of ``removeAll()``.
    package var count: Int { text.bytes.count }

    /// Writes one record.
    ///
    /// - Parameter key: The object key, if the records are members of an object.
    mutating func append(_ key: String? = nil, _ record: (inout RecordText) throws -> Void) rethrows {
        if form != .ndjson { text.bytes += (hasRecords ? ",\n  " : isObject ? "{\n  " : "[\n  ").utf8 }
        if let key {
            text.write(string: key)
            text.bytes += ": ".utf8
        }
        try record(&text)
        if form == .ndjson { text.bytes.append(.newline) }
        hasRecords = true
    }

    /// Writes the end of the text.
    package mutating func end() {
        guard form != .ndjson else { return }
        if isObject {
            text.bytes += (hasRecords ? "\n}\n" : "{}\n").utf8
        } else {
            text.bytes += (hasRecords ? "\n]\n" : "[]\n").utf8
        }
    }

    /// Removes and returns the text written since the last call.
    package mutating func removeAll() -> Data {
        defer { text.bytes.removeAll(keepingCapacity: true) }
        return Data(text.bytes)
    }
}
