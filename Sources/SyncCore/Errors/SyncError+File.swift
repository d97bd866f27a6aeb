extension SyncError {
    /// The same error with the file it is about, which only the caller knows.
    package func naming(_ file: String) -> SyncError {
        guard !message.contains(file) else { return self }
        var named = self
        named.message = "\(file): \(message)"
        return named
    }
}
