extension SyncError {
    /// So many errors of a service are told.
    private static let mostErrors = 20

    /// What a document says instead of data, in its `errors`; nil if there are none.
    init?(errorsOfService value: JSONValue) {
        guard case .array(let errors) = value, !errors.isEmpty else { return nil }
        let told = errors.prefix(Self.mostErrors).enumerated().map { index, error in
            Problem(path: "errors[\(index)]", message: Self.text(of: error))
        }
        let count = errors.count == 1 ? "an error" : "\(errors.count) errors"
        self.init(
            .serviceErrors, "the JSON is \(count) of the service: \(told[0].message)", path: "errors",
            problems: errors.count == 1 ? [] : told)
    }

    /// The members that JSON:API and GraphQL give an error for people.
    private static func text(of error: JSONValue) -> String {
        let texts = ["status", "code", "title", "message", "detail"].compactMap { key -> String? in
            guard case .string(let text)? = error[key], !text.isEmpty else { return nil }
            return text
        }
        return texts.isEmpty ? "no more is said of it" : texts.joined(separator: ": ")
    }
}
