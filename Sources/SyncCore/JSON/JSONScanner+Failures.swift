/// What is wrong, and where.
extension JSONScanner {
    /// Something else was expected at the position reached.
    func failure(expected: String) -> SyncError {
        guard position < bytes.count else {
            return failure("\(expected) is expected, but the text ends here", at: position)
        }
        let byte = bytes[position]
        if byte >= 0x80, !startsCharacter { return failure(.invalidUTF8, "the text is not UTF-8", at: position) }
        let found =
            byte > .blank && byte < .delete
            ? "'\(Character(UnicodeScalar(byte)))'"
            : byte >= 0x80 ? "another character" : "a control character or blank"
        return failure("\(expected) is expected, found \(found)", at: position)
    }

    private var startsCharacter: Bool {
        var copy = self
        return (try? copy.multibyte()) != nil
    }

    func failure(_ message: String, at offset: Int) -> SyncError { failure(.malformedJSON, message, at: offset) }

    func failure(_ code: SyncError.Code, _ message: String, at offset: Int) -> SyncError {
        var line = 1
        var lineStart = 0
        for index in 0..<min(offset, bytes.count) where bytes[index] == .newline {
            line += 1
            lineStart = index + 1
        }
        return SyncError(code, message, line: line, column: offset - lineStart + 1)
    }
}
