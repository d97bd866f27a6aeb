// As the standard spells it, and most databases do.
extension SQLDialect {
    /// In double quotes.
    package func quoted(_ name: String) -> String { doubling("\"", in: name) }

    /// In single quotes.
    package func literal(_ text: String) -> String { doubling("'", in: text) }

    /// `json_array(a, b)`
    package func jsonArray(_ expressions: [String]) -> String { "json_array(\(expressions.joined(separator: ", ")))" }

    /// By code points: a quote that a combining mark follows is no character of its own, but ends the text for SQL.
    private func doubling(_ quote: Unicode.Scalar, in text: String) -> String {
        guard text.unicodeScalars.contains(quote) else { return "\(quote)\(text)\(quote)" }
        let doubled = text.unicodeScalars.map { $0 == quote ? "\(quote)\(quote)" : "\($0)" }
        return "\(quote)\(doubled.joined())\(quote)"
    }
}
