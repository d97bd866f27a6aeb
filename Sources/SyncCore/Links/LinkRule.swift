/// The one rule for links.
///
/// Every statement of a payload has its place in document order, its sequence. What is said of a link counts until one of
/// its ends is spoken for later: by a list, an id or null, which says what all the links of a row are. So a pair
///
/// - **holds** if it was said to be linked, and neither end was spoken for after that;
/// - **stays** as it is stored if neither end was spoken for at all;
/// - and is **gone** otherwise.
///
/// A list that may not link one of its rows, because the operations allow neither to insert nor to update it, keeps a pair
/// that is stored: that this very list speaks for its end is no reason against it. Rows at both ends may have such lists.
///
/// At an end that has one link at most, to be linked is to be spoken for.
package enum LinkRule {
    /// The sequence of what was not said.
    package static let never: Int64 = -1

    /// Whether a pair stands against what was said of its ends.
    ///
    /// - Parameters:
    ///   - said: When it was last said to be linked; ``never`` to ask whether a stored pair stays.
    ///   - kept: When a list last had it that may only keep it.
    ///   - first: When its first end was last spoken for, and its second.
    @inline(__always)
    package static func stands(said: Int64, kept: Int64, first: Int64, second: Int64) -> Bool {
        stands(said: said, keptByFirst: kept, keptBySecond: kept, first: first, second: second)
    }

    /// The same where each end may have a list that may only keep the pair.
    @inline(__always)
    static func stands(said: Int64, keptByFirst: Int64, keptBySecond: Int64, first: Int64, second: Int64) -> Bool {
        (first <= said || first == keptByFirst) && (second <= said || second == keptBySecond)
    }
}
