import FuzzSupport
import SyncCore

/// Fuzzes the mapping of payloads. The payload graph of bytes equals that of the same values, and the graphs of its
/// chunks report the same.
@main
enum FuzzMapper {
    static func main() {
        fuzz { start, count in
            FuzzCall.read(UnsafeBufferPointer(start: start, count: count), FuzzMapper.check)
            return 0
        }
    }

    static func check(_ call: FuzzCall) {
        let withPlaces = !call.payload.contains(UInt8(ascii: "\\"))
        let ofBytes = MappingOutcome(call, withPlaces: withPlaces) {
            try $0.map(call.data, options: call.options).graph
        }
        ofBytes.error?.requirePlace(in: call.payload)
        requireSameInPieces(ofBytes, call)
        guard let value = call.value else {
            require(ofBytes.error != nil, "the text is no JSON, but was mapped")
            return
        }
        requireSame(ofBytes, MappingOutcome(call, withPlaces: withPlaces) { try $0.map(value).graph }, "as values")
        guard case .array(let records) = value else { return }
        if call.options.format == .json, call.options.keyPath.keys.isEmpty, !records.isEmpty {
            requireSame(ofBytes, ofLines(records, call, withPlaces), "one record a line")
        }
        requireNativeIsSame(records, call)
    }

    // MARK: Properties

    static func requireSameInPieces(_ whole: MappingOutcome, _ call: FuzzCall) {
        let pieces = MappingOutcome(piecesOf: call)
        // Records of different chunks are not compared, and the records of a chunk are compared before the next chunk
        // is read.
        if [whole.error?.code, pieces.error?.code].contains(.inconsistentRecords) { return }
        require(whole.error == pieces.error, "whole: \(whole.error as Any), in pieces: \(pieces.error as Any)")
        guard whole.error == nil else { return }
        require(whole.reports == pieces.reports, "whole: \(whole.reports), in pieces: \(pieces.reports)")
    }

    /// Dictionaries give the same graph as objects with the same members, sorted by key.
    static func requireNativeIsSame(_ records: [JSONValue], _ call: FuzzCall) {
        for isBoxed in [false, true] {
            let native = records.map { NativeValue($0, isBoxed: isBoxed) }
            let dictionaries = native.compactMap { $0.any as? [String: Any] }
            guard dictionaries.count == records.count else { return }
            let ofValues = MappingOutcome(call, withPlaces: true) { try $0.map(.array(native.map(\.json))).graph }
            let ofDictionaries = MappingOutcome(call, withPlaces: true) { try $0.map(dictionaries).graph }
            requireSame(ofValues, ofDictionaries, "as dictionaries")
        }
    }

    static func ofLines(_ records: [JSONValue], _ call: FuzzCall, _ withPlaces: Bool) -> MappingOutcome {
        var lines: [UInt8] = []
        for record in records {
            JSONText.append(record, to: &lines)
            lines.append(0x0A)
        }
        return lines.withUnsafeBufferPointer { buffer in
            var other = call
            other.options.format = .ndjson
            other.payload = buffer
            return MappingOutcome(other, withPlaces: withPlaces) {
                try $0.map(other.data, options: other.options).graph
            }
        }
    }

    /// Requires equal graphs, or errors of the same code. Only the locations in the errors may differ.
    static func requireSame(_ first: MappingOutcome, _ second: MappingOutcome, _ name: String) {
        require(
            first.error?.code == second.error?.code, "\(name): \(first.error as Any) <> \(second.error as Any)")
        guard first.error == nil, first.text != second.text else { return }
        let (left, right) = (first.text.split(separator: "\n"), second.text.split(separator: "\n"))
        let line = zip(left, right).enumerated().first { $1.0 != $1.1 }?.offset ?? min(left.count, right.count)
        fail("\(name): \(left.dropFirst(line).first ?? "") <> \(right.dropFirst(line).first ?? "")")
    }
}
