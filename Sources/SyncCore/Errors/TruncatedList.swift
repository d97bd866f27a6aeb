/// A list as people are shown it: its first elements, and how many more there are.
///
/// Programs get lists whole.
package struct TruncatedList<Element> {
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

extension TruncatedList<String> {
    /// `id, name, age and 33 more`
    package var text: String { text(between: ", ") }

    package func text(between separator: String) -> String {
        shown.joined(separator: separator) + (omittedCount > 0 ? " and \(omittedCount) more" : "")
    }
}

/// The name that was probably meant where one was written that there is not.
package enum SimilarName {
    /// Longer names are not compared: nobody mistypes them by a letter.
    private static let maximumLength = 100

    /// The name most like the one written, upper and lower case and separators aside; nil if none is near.
    package static func nearest(to written: String, among names: some Sequence<String>) -> String? {
        guard written.utf8.count <= maximumLength else { return nil }
        let letters = folded(written)
        var found: (name: String, distance: Int)?
        // A third of the letters may be wrong, but never all of them.
        let limit = min(max(1, letters.count / 3), letters.count - 1, 3)
        for name in names where name.utf8.count <= maximumLength {
            let other = folded(name)
            let distance = other == letters ? 0 : distance(letters, other)
            guard distance == 0 || distance <= limit, distance < found?.distance ?? .max else { continue }
            found = (name, distance)
        }
        return found?.name
    }

    /// `; did you mean 'age'?`, or nothing.
    package static func hint(for written: String, among names: some Sequence<String>) -> String {
        nearest(to: written, among: names).map { "; did you mean '\($0)'?" } ?? ""
    }

    private static func folded(_ name: String) -> [Character] { name.lowercased().filter { !"_- .".contains($0) } }

    /// How many letters must be put in, left out, replaced or swapped with the next to make one of the other.
    package static func distance(_ left: [Character], _ right: [Character]) -> Int {
        var last = Array(0...right.count)
        var (before, line) = (last, last)
        for (row, letter) in left.enumerated() {
            line[0] = row + 1
            for (column, other) in right.enumerated() {
                var best = min(last[column] + (letter == other ? 0 : 1), last[column + 1] + 1, line[column] + 1)
                if row > 0, column > 0, letter == right[column - 1], left[row - 1] == other {
                    best = min(best, before[column - 1] + 1)
                }
                line[column + 1] = best
            }
            (before, last, line) = (last, line, before)
        }
        return last[right.count]
    }
}
