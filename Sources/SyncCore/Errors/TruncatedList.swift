/// A shortened list for a message: the first elements, and the number of omitted elements.
///
/// Output for programs has complete lists instead.
package struct TruncatedList<Element> {
    package let shown: [Element]
    /// The number of elements that are not shown.
    package let omittedCount: Int

    /// Creates a list that shows the first elements.
    ///
    /// - Parameters:
    ///   - limit: The maximum number of elements to show; nil for all.
    ///   - total: The number of elements of the whole list, if `elements` has only the first elements; nil otherwise.
    package init(
        _ elements: some Collection<Element>, upTo limit: Int? = TruncatedListLimit.standard, of total: Int? = nil
    ) {
        shown = Array(elements.prefix(limit ?? elements.count))
        omittedCount = (total ?? elements.count) - shown.count
    }
}

/// The default number of elements that a ``TruncatedList`` shows.
package enum TruncatedListLimit {
    package static let standard = 20
}

extension TruncatedList<String> {
    /// The text of the list: `id, name, age and 33 more`
    package var text: String { text(between: ", ") }

    package func text(between separator: String) -> String {
        shown.joined(separator: separator) + (omittedCount > 0 ? " and \(omittedCount) more" : "")
    }
}

/// The text of numbers in reports.
package enum CountText {
    /// Returns a number of things: `1 row`, `2 rows`.
    package static func count(_ number: Int, _ name: String) -> String {
        "\(number) \(name)\(number == 1 ? "" : "s")"
    }

    /// Returns the numbers that are not zero, such as `3 inserted, 1 updated`; nil if all are zero.
    package static func list(_ counts: [(Int, String)]) -> String? {
        let texts = counts.filter { $0.0 > 0 }.map { "\($0.0) \($0.1)" }
        return texts.isEmpty ? nil : texts.joined(separator: ", ")
    }
}

/// Finds the known name that is most similar to an unknown, probably misspelled name.
package enum SimilarName {
    /// The maximum length, in bytes, of the names that are compared. A comparison takes quadratic time.
    private static let maximumLength = 100

    /// Returns the most similar name, ignoring case and separators, or nil if no name is similar.
    package static func nearest(to written: String, among names: some Sequence<String>) -> String? {
        guard written.utf8.count <= maximumLength else { return nil }
        let letters = folded(written)
        var found: (name: String, distance: Int)?
        // At most a third of the letters and at most three may differ, but never all of them.
        let limit = min(max(1, letters.count / 3), letters.count - 1, 3)
        for name in names where name.utf8.count <= maximumLength {
            let other = folded(name)
            let distance = other == letters ? 0 : distance(letters, other)
            guard distance == 0 || distance <= limit, distance < found?.distance ?? .max else { continue }
            found = (name, distance)
        }
        return found?.name
    }

    /// Returns a suggestion for the end of a message, such as `; did you mean 'age'?`, or an empty string if no name is
    /// similar.
    package static func hint(for written: String, among names: some Sequence<String>) -> String {
        nearest(to: written, among: names).map { "; did you mean '\($0)'?" } ?? ""
    }

    private static func folded(_ name: String) -> [Character] { name.lowercased().filter { !"_- .".contains($0) } }

    /// Returns the edit distance of two words: the smallest number of insertions, deletions, replacements, and swaps of
    /// adjacent letters.
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
