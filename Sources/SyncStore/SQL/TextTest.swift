package import SyncCore

/// What a text is searched for.
///
/// Where case is ignored, what is searched for is folded already, but for regular expressions.
package enum TextTest: Sendable {
    /// Never for an empty text, nor are the next two.
    case contains(String)
    case beginsWith(String)
    case endsWith(String)
    /// That all of it matches a pattern with `*` and `?`: ``WildcardPattern``.
    case like(String)
    /// That all of it matches.
    case matches(RegularExpression)
}
