/// How a condition compares the value of a path with a value given.
public enum PredicateOperator: String, Sendable, Hashable, CaseIterable {
    /// The same value; nil equals nil.
    case equal = "=="
    /// Another value; nil differs from every value.
    case notEqual = "!="
    /// Before the value given; never of nil. Texts are ordered by their bytes.
    case less = "<"
    /// Before the value given, or equal to it; never of nil.
    case lessOrEqual = "<="
    /// After the value given; never of nil.
    case greater = ">"
    /// After the value given, or equal to it; never of nil.
    case greaterOrEqual = ">="
    /// Equal to a value of a list.
    case `in` = "IN"
    /// Between the two values of a list, both included.
    case between = "BETWEEN"
    /// The text has the text given somewhere in it. Case counts, unless the condition says otherwise (`[c]`).
    case contains = "CONTAINS"
    /// The text begins with the text given.
    case beginsWith = "BEGINSWITH"
    /// The text ends with the text given.
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
