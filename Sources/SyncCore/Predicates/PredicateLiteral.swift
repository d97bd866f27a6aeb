/// A value as a condition writes it. What it means depends on the attribute it is compared with.
package enum PredicateLiteral: Sendable, Hashable {
    case null
    case boolean(Bool)
    /// The number's text, in JSON's form.
    case number(String)
    case text(String)
    case list([PredicateLiteral])

    /// What it is, for messages.
    package var kind: String {
        switch self {
        case .null: "nil"
        case .boolean(let value): value ? "true" : "false"
        case .number(let text): "the number \(text)"
        case .text: "a text"
        case .list(let values): "a list of \(values.count)"
        }
    }
}
