extension JSONReader.Form {
    /// - Throws: ``SyncError`` `invalidOption` for a form that no model is inferred from.
    init(_ sample: InferenceSample) throws {
        switch sample.form {
        case .json: self = .json
        case .ndjson: self = .ndjson
        case .graphQL: self = .places(.graphQL(at: sample.keyPath))
        case .jsonAPI:
            throw SyncError(.invalidOption, "no model is inferred from a JSON:API document; give one")
        }
    }
}
