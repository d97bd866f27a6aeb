import SyncCore

/// Reads all records of a payload.
func readRecords(
    _ bytes: [UInt8], form: JSONReader.Form = .json, maximumDepth: Int = 512
) throws -> [JSONValue] {
    try bytes.withUnsafeBufferPointer { buffer throws in
        var reader = JSONReader(buffer, form: form, maximumDepth: maximumDepth)
        var tape = JSONTape()
        var records: [JSONValue] = []
        while try reader.next(into: &tape) { records.append(tape.value(at: 0, in: buffer)) }
        return records
    }
}

func readRecords(_ text: String, form: JSONReader.Form = .json) throws -> [JSONValue] {
    try readRecords(Array(text.utf8), form: form)
}

/// Returns the error's code and location, for example `malformedJSON 3:14`.
func summary(of error: SyncError?) -> String? {
    guard let error else { return nil }
    let place = error.line.flatMap { line in error.column.map { " \(line):\($0)" } }
    return error.code.rawValue + (place ?? error.path.map { " \($0)" } ?? "")
}
