import Sync

extension SyncError {
    /// Where the lists are, in the words of the command line: a key path is `--key` there.
    var keyOptions: [String] {
        keyPaths.filter { $0.allSatisfy { !$0.isEmpty && !$0.contains(".") } }
            .map { "--key \(Self.quoted($0.joined(separator: ".")))" }
    }

    /// As a shell takes it for one word.
    private static func quoted(_ text: String) -> String {
        let isPlain = text.utf8.allSatisfy { byte in
            byte >= 0x80 || "._-".utf8.contains(byte) || Character(UnicodeScalar(byte)).isLetter
                || Character(UnicodeScalar(byte)).isNumber
        }
        return isPlain ? text : "'\(text.replacing("'", with: "'\\''"))'"
    }

    /// Whether the JSON is at fault, not what is asked of it.
    var isAboutPayload: Bool {
        switch code {
        case .malformedJSON, .invalidUTF8, .nestingTooDeep, .recordTooLarge, .recordExpected, .keyPathNotFound,
            .noRecords, .valueDoesNotFit:
            true
        default: false
        }
    }
}
