import FuzzSupport
import SyncCore

/// Fuzzes the JSON reader. A document reads back from its own text, and gives the same records or the same error in
/// chunks.
@main
enum FuzzReader {
    static func main() {
        fuzz { start, count in
            FuzzReader.check(UnsafeBufferPointer(start: start, count: count))
            return 0
        }
    }

    /// Records that are not in one list at the root.
    private static let placedForms: [JSONReader.Form] = [
        .locations(.list(at: ["a"])), .locations(.list(at: ["a", "b"])), .locations(.members(at: [])),
        .locations(.jsonAPI),
        .locations(.graphQL(at: [])),
    ]

    static func check(_ input: UnsafeBufferPointer<UInt8>) {
        let reading = value(of: input)
        requireAgreementOfFoundation(on: input, with: reading)
        if case .success(let value) = reading { requireStableText(value) }

        let cuts = PayloadCuts(input)
        let records = requireSameInPieces(input, cuts)
        requireRecords(records, of: reading)
        if records.error == nil, !records.records.isEmpty { requireLines(records.records) }
        _ = requireSameInPieces(input, form: .ndjson, cuts)
        for form in placedForms { _ = requireSameInPieces(input, form: form, cuts) }
    }

    static func value(of input: UnsafeBufferPointer<UInt8>) -> Result<JSONValue, SyncError> {
        do {
            return .success(try JSONValue(parsing: Array(input)))
        } catch let error as SyncError {
            error.requirePlace(in: input)
            return .failure(error)
        } catch {
            fail("not a SyncError: \(error)")
        }
    }

    // MARK: Properties

    /// The text of a value reads as that value. Its canonical text is stable.
    static func requireStableText(_ value: JSONValue) {
        var text: [UInt8] = []
        JSONText.append(value, to: &text)
        guard let again = try? JSONValue(parsing: text) else { fail("its own text is refused") }
        require(again == value, "its own text reads as something else")
        let canonical = CanonicalJSON.bytes(value)
        guard let plain = try? JSONValue(parsing: canonical) else { fail("its canonical text is refused") }
        require(CanonicalJSON.bytes(plain) == canonical, "its canonical text is not canonical")
    }

    /// A document in chunks gives the same records, and the same error at the same position.
    static func requireSameInPieces(
        _ input: UnsafeBufferPointer<UInt8>, form: JSONReader.Form = .json, _ cuts: PayloadCuts
    ) -> RecordReading {
        let whole = RecordReading(of: input, form: form)
        let pieces = RecordReading(of: input, form: form, cuts: cuts)
        require(whole == pieces, "\(form): \(whole), in pieces of \(cuts.chunkSize): \(pieces)")
        return whole
    }

    /// The record reader returns the elements of an array, or one object, and rejects all other documents.
    static func requireRecords(_ reading: RecordReading, of value: Result<JSONValue, SyncError>) {
        let records = reading.error == nil ? reading.records : nil
        switch value {
        case .failure: require(records == nil, "records were read from what is no JSON: \(reading)")
        case .success(.object(let members)):
            require(records == [.object(members)], "an object is not its own only record")
        case .success(.array(let elements)):
            let areObjects = elements.allSatisfy { if case .object = $0 { true } else { false } }
            require(records == (areObjects ? elements : nil), "the records are not the elements")
        case .success: require(records == nil, "records were read from a scalar")
        }
    }

    /// The records read the same as NDJSON and at the end of a key path.
    static func requireLines(_ records: [JSONValue]) {
        var lines: [UInt8] = []
        for record in records {
            JSONText.append(record, to: &lines)
            lines.append(0x0A)
        }
        let ofLines = lines.withUnsafeBufferPointer { RecordReading(of: $0, form: .ndjson) }
        require(ofLines.error == nil && ofLines.records == records, "one a line, the records are others")

        let wrapped = JSONValue.object([
            .init("count", [1, ["data": []]]), .init("data", ["rows": .array(records), "next": nil]),
            .init("", nil),
        ])
        var text: [UInt8] = []
        JSONText.append(wrapped, to: &text)
        let below = text.withUnsafeBufferPointer {
            RecordReading(of: $0, form: .locations(.list(at: ["data", "rows"])))
        }
        // The wrapped document has two levels more than the input.
        guard below.error?.code != .nestingTooDeep else { return }
        require(below.error == nil && below.records == records, "below a key path, the records are others: \(below)")
    }
}
