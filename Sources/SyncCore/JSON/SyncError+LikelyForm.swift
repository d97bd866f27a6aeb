extension SyncError {
    /// The same with what the JSON seems to be, if that can be told.
    package func looking(like form: LikelyForm?) -> SyncError {
        guard let form else { return self }
        var error = self
        error.likelyForm = form
        // A list inside a document of a known form is not what has the records.
        if form == .jsonAPI || form == .graphQL { error.keyPaths = [] }
        return error
    }

    /// The same of bytes that are no JSON of the form that was asked for.
    package func looking(like head: PayloadHead, readAsLines: Bool) -> SyncError {
        let form = head.likelyForm
        return readAsLines && form == .ndjson ? self : looking(like: form)
    }
}
