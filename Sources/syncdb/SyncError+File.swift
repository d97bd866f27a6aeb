import Sync

extension SyncError {
    /// The same error with the file it is about, which the library was not told.
    func naming(_ file: String) -> SyncError {
        guard !message.contains(file) else { return self }
        var named = self
        named.message = "\(file): \(message)"
        return named
    }

    /// Whether the JSON is at fault, not what is asked of it.
    var isAboutPayload: Bool {
        switch code {
        case .malformedJSON, .invalidUTF8, .nestingTooDeep, .recordTooLarge, .recordExpected, .keyPathNotFound,
            .valueDoesNotFit:
            true
        default: false
        }
    }
}
