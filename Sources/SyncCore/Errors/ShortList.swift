/// A list as people are shown it: its first elements, and how many more there are.
///
/// Programs get lists whole.
package struct ShortList<Element> {
    package let shown: [Element]
    /// How many elements are not shown.
    package let omittedCount: Int

    /// - Parameters:
    ///   - limit: How many elements are shown; nil for all.
    ///   - total: How many there are, if `elements` are not all of them.
    package init(
        _ elements: some Collection<Element>, upTo limit: Int? = ShortListLimit.standard, of total: Int? = nil
    ) {
        shown = Array(elements.prefix(limit ?? elements.count))
        omittedCount = (total ?? elements.count) - shown.count
    }
}

/// How many elements of a list are shown where nobody asks for more.
package enum ShortListLimit {
    package static let standard = 20
}

extension ShortList<String> {
    /// `id, name, age and 33 more`
    package var text: String { text(between: ", ") }

    package func text(between separator: String) -> String {
        shown.joined(separator: separator) + (omittedCount > 0 ? " and \(omittedCount) more" : "")
    }
}
