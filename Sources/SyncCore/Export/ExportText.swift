package import Foundation

/// Lays exported records out as text: an array or object with a record a line, or just a record a line.
package struct ExportText {
    private let form: SyncOptions.Form
    private var bytes: [UInt8] = []
    private var hasRecords = false
    /// Whether the records have names.
    private let isObject: Bool

    package init(_ form: SyncOptions.Form, isObject: Bool = false) {
        self.form = form
        self.isObject = isObject
    }

    /// How many bytes there are to take.
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

    /// What comes after the last record.
    package mutating func end() {
        guard form != .ndjson else { return }
        if isObject {
            bytes += (hasRecords ? "\n}\n" : "{}\n").utf8
        } else {
            bytes += (hasRecords ? "\n]\n" : "[]\n").utf8
        }
    }

    /// The text since it was last taken.
    package mutating func take() -> Data {
        defer { bytes.removeAll(keepingCapacity: true) }
        return Data(bytes)
    }
}
