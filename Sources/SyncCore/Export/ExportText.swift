package import Foundation

/// Lays exported records out as text: an array with a record a line, or just a record a line.
package struct ExportText {
    private let form: SyncOptions.Form
    private var bytes: [UInt8] = []
    private var hasRecords = false

    package init(_ form: SyncOptions.Form) { self.form = form }

    /// How many bytes there are to take.
    package var count: Int { bytes.count }

    package mutating func append(_ record: JSONValue) {
        if form == .json { bytes += (hasRecords ? ",\n  " : "[\n  ").utf8 }
        JSONText.append(record, to: &bytes)
        if form == .ndjson { bytes.append(.newline) }
        hasRecords = true
    }

    /// What comes after the last record.
    package mutating func end() {
        if form == .json { bytes += (hasRecords ? "\n]\n" : "[]\n").utf8 }
    }

    /// The text since it was last taken.
    package mutating func take() -> Data {
        defer { bytes.removeAll(keepingCapacity: true) }
        return Data(bytes)
    }
}
