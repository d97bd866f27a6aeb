import FuzzSupport
import SyncCore

/// Bytes to values: what is read is read whole, and read again from its own text; what is not is refused at a place.
@main
enum FuzzReader {
    static func main() {
        fuzz { start, count in
            FuzzReader.check(UnsafeBufferPointer(start: start, count: count))
            return 0
        }
    }

    static func check(_ input: UnsafeBufferPointer<UInt8>) {
        let reading = read(input) { try JSONValue(parsing: Array(input)) }
        requireAgreementOfFoundation(on: input, with: reading)
        let records = try? read(input) { try self.records(in: input) }.get()
        if let value = try? reading.get() {
            requireStableText(value)
            requireRecords(records, of: value)
        } else if let records {
            fail("records were read from what is no JSON: \(records)")
        }
        if let records { requireLines(records) }
        _ = read(input) { try self.records(in: input, form: .ndjson) }
    }

    /// What is read, or why it is refused, which has a place in the input.
    static func read<Value>(
        _ input: UnsafeBufferPointer<UInt8>, _ body: () throws -> Value
    ) -> Result<Value, SyncError> {
        do {
            return .success(try body())
        } catch let error as SyncError {
            error.requirePlace(in: input)
            return .failure(error)
        } catch {
            fail("not a SyncError: \(error)")
        }
    }

    /// Reads from the input itself: the address sanitizer sees a byte read beyond its end.
    static func records(
        in input: UnsafeBufferPointer<UInt8>, form: JSONReader.Form = .json, keyPath: [String] = []
    ) throws -> [JSONValue] {
        var reader = JSONReader(input, form: form, keyPath: keyPath)
        var tape = JSONTape()
        var records: [JSONValue] = []
        while try reader.next(into: &tape) { records.append(tape.value(at: 0, in: input)) }
        require(try !reader.next(into: &tape), "a record after the last one")
        return records
    }

    // MARK: What must hold

    /// The text of a value reads as that value; its canonical text is the same after another round.
    static func requireStableText(_ value: JSONValue) {
        var text: [UInt8] = []
        JSONText.append(value, to: &text)
        guard let again = try? JSONValue(parsing: text) else { fail("its own text is refused") }
        require(again == value, "its own text reads as something else")
        let canonical = CanonicalJSON.bytes(value)
        guard let plain = try? JSONValue(parsing: canonical) else { fail("its canonical text is refused") }
        require(CanonicalJSON.bytes(plain) == canonical, "its canonical text is not canonical")
    }

    /// The reader of records gives the elements of an array, an object as the only one, and refuses all else.
    static func requireRecords(_ records: [JSONValue]?, of value: JSONValue) {
        switch value {
        case .object: require(records == [value], "an object is not its own only record")
        case .array(let elements):
            let areObjects = elements.allSatisfy { if case .object = $0 { true } else { false } }
            require(records == (areObjects ? elements : nil), "the records are not the elements")
        default: require(records == nil, "records were read from a scalar")
        }
    }

    /// The same records in other wrappings: one a line, and at the end of a key path.
    static func requireLines(_ records: [JSONValue]) {
        var lines: [UInt8] = []
        for record in records {
            JSONText.append(record, to: &lines)
            lines.append(0x0A)
        }
        let fromLines = try? lines.withUnsafeBufferPointer { try self.records(in: $0, form: .ndjson) }
        require(fromLines == records, "one a line, the records are others")

        let wrapped = JSONValue.object([
            .init("count", [1, ["data": []]]), .init("data", ["rows": .array(records), "next": nil]),
            .init("", nil),
        ])
        var text: [UInt8] = []
        JSONText.append(wrapped, to: &text)
        do {
            let below = try text.withUnsafeBufferPointer { try self.records(in: $0, keyPath: ["data", "rows"]) }
            require(below == records, "below a key path, the records are others")
        } catch let error as SyncError where error.code == .nestingTooDeep {
            // Two levels more than the input had.
        } catch {
            fail("below a key path, the records are refused: \(error)")
        }
    }
}
