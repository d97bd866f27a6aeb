/// A piece of the text of a condition.
struct PredicateToken: Equatable {
    enum Kind: Equatable {
        case word(String)
        /// `#any`, `#'first name'`: a name that would not be read as one otherwise.
        case escapedWord(String)
        /// `@count`, with the sign.
        case collectionOperator(String)
        case number(String)
        case text(String)
        case symbol(String)
        /// `%@`
        case valueArgument
        /// `%K`
        case pathArgument
        case end
    }

    let kind: Kind
    let place: PredicatePlace

    /// Words that name no attribute at the start of a path; `#any` does.
    static let reserved: Set<String> = [
        "AND", "OR", "NOT", "ANY", "SOME", "ALL", "NONE", "TRUEPREDICATE", "FALSEPREDICATE", "IN", "BETWEEN",
        "CONTAINS", "BEGINSWITH", "ENDSWITH", "LIKE", "MATCHES",
    ]

    /// The word in upper case, if it may be one of the language.
    var keyword: String? {
        if case .word(let word) = kind { word.uppercased() } else { nil }
    }

    var symbol: String? {
        if case .symbol(let symbol) = kind { symbol } else { nil }
    }

    var isReserved: Bool { keyword.map(Self.reserved.contains) ?? false }

    func isSymbol(_ symbol: String) -> Bool { kind == .symbol(symbol) }

    /// What it is, for messages.
    var found: String {
        switch kind {
        case .word(let word): "'\(word)'"
        case .escapedWord(let word): "'#\(word)'"
        case .collectionOperator(let name): "'\(name)'"
        case .number(let text): "the number \(text)"
        case .text: "a text"
        case .symbol(let symbol): "'\(symbol)'"
        case .valueArgument: "'%@'"
        case .pathArgument: "'%K'"
        case .end: "the end"
        }
    }
}
