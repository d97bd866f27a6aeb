/// How a condition compares the value of a path with a value given.
public enum PredicateOperator: String, Sendable, Hashable, CaseIterable {
    case equal = "=="
    case notEqual = "!="
    case less = "<"
    case lessOrEqual = "<="
    case greater = ">"
    case greaterOrEqual = ">="
    /// Equal to a value of a list.
    case `in` = "IN"
    /// Between the two values of a list, both included.
    case between = "BETWEEN"
    case contains = "CONTAINS"
    case beginsWith = "BEGINSWITH"
    case endsWith = "ENDSWITH"
    /// The whole text matches a pattern in which `*` stands for any text and `?` for one character; a backslash
    /// before one of them takes it literally.
    case like = "LIKE"
    /// The whole text matches a regular expression, in the syntax of ICU, which is that of `NSRegularExpression`. One
    /// that backtracks much is as slow here as elsewhere: take none from strangers.
    case matches = "MATCHES"

    /// Whether it looks into text.
    package var isTextual: Bool {
        switch self {
        case .contains, .beginsWith, .endsWith, .like, .matches: true
        default: false
        }
    }

    /// Whether it asks which of two values comes first.
    package var isOrdering: Bool {
        switch self {
        case .less, .lessOrEqual, .greater, .greaterOrEqual, .between: true
        default: false
        }
    }
}
