/// The left side of a comparison: an attribute or relationship of the row, or of a related row.
///
/// ```swift
/// RowPredicate.attribute("company.name") == "Apple"
/// RowPredicate.any("tags.id").isIn([1, 2])
/// RowPredicate.count("notes") > 3
/// ```
package struct PredicatePath: Sendable, Hashable {
    /// How many of the rows at the end of a to-many relationship must meet the comparison.
    package enum Quantifier: String, Sendable, Hashable {
        /// At least one row.
        case any = "ANY"
        /// Every row. True if there are no rows.
        case all = "ALL"
        /// No row. True if there are no rows.
        case none = "NONE"
    }

    package static let countName = "@count"

    package let quantifier: Quantifier?
    package let components: [String]
    /// Whether the path stands for the number of rows of its last relationship.
    package let isCount: Bool

    /// Creates a path from text, with its components separated by dots. If the last component is `@count`, the path
    /// stands for the number of rows.
    init(_ text: String, quantifier: Quantifier? = nil) {
        var components = text.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
        isCount = components.count > 1 && components.last == Self.countName
        if isCount { components.removeLast() }
        self.components = components
        self.quantifier = quantifier
    }

    init(components: [String], isCount: Bool = false, quantifier: Quantifier? = nil) {
        self.components = components
        self.isCount = isCount
        self.quantifier = quantifier
    }

    /// Returns the problem of an invalid path; nil if the path is valid.
    ///
    /// - Parameter names: The components that are names even if they begin with `@`.
    func problem(admitting names: Set<String> = []) -> String? {
        if components.contains(where: \.isEmpty) { return "a path has an empty name: '\(name)'" }
        if components.contains(where: { $0.hasPrefix("@") && !names.contains($0) }) {
            return "unsupported collection operator in '\(name)'; only @count at the end of a path is supported"
        }
        return nil
    }

    /// The path as text, without its quantifier: `tags.@count`.
    package var name: String { (components + (isCount ? [Self.countName] : [])).joined(separator: ".") }
}

extension PredicatePath {
    /// Returns the path of an attribute or to-one relationship, with the names of the model. The path may lead through
    /// to-one relationships.
    package static func attribute(_ path: String) -> PredicatePath { PredicatePath(path) }

    /// Returns a path through a to-many relationship. At least one row must match.
    package static func any(_ path: String) -> PredicatePath { PredicatePath(path, quantifier: .any) }

    /// Returns a path through a to-many relationship. Every row must match.
    package static func all(_ path: String) -> PredicatePath { PredicatePath(path, quantifier: .all) }

    /// Returns a path through a to-many relationship. No row may match.
    package static func none(_ path: String) -> PredicatePath {
        PredicatePath(path, quantifier: PredicatePath.Quantifier.none)
    }

    /// Returns the path of the number of rows of a to-many relationship.
    package static func count(_ path: String) -> PredicatePath { PredicatePath(path + "." + PredicatePath.countName) }
}

// MARK: - Comparing

extension PredicatePath {
    /// Tests for the same value. Nil equals nil.
    package static func == (path: PredicatePath, value: (any PredicateArgument)?) -> RowPredicate {
        .compare(path, .equal, value)
    }

    /// Tests for a different value. Nil differs from every value.
    package static func != (path: PredicatePath, value: (any PredicateArgument)?) -> RowPredicate {
        .compare(path, .notEqual, value)
    }

    /// Tests for a smaller value. False if the attribute is nil.
    package static func < (path: PredicatePath, value: any PredicateArgument) -> RowPredicate {
        .compare(path, .less, value)
    }

    /// Tests for a smaller or equal value. False if the attribute is nil.
    package static func <= (path: PredicatePath, value: any PredicateArgument) -> RowPredicate {
        .compare(path, .lessOrEqual, value)
    }

    /// Tests for a larger value. False if the attribute is nil.
    package static func > (path: PredicatePath, value: any PredicateArgument) -> RowPredicate {
        .compare(path, .greater, value)
    }

    /// Tests for a larger or equal value. False if the attribute is nil.
    package static func >= (path: PredicatePath, value: any PredicateArgument) -> RowPredicate {
        .compare(path, .greaterOrEqual, value)
    }

    /// Tests for the same string, optionally ignoring case.
    package func equals(_ text: String, ignoringCase: Bool) -> RowPredicate {
        .compare(self, .equal, text, ignoringCase: ignoringCase)
    }

    /// Tests for one of several values. ``PredicateValue/null`` in the list matches nil. Only a test of strings can
    /// ignore case.
    package func isIn(_ values: [some PredicateArgument], ignoringCase: Bool = false) -> RowPredicate {
        .compare(self, .in, values, ignoringCase: ignoringCase)
    }

    /// Tests for a value between two bounds, both included.
    package func isBetween(_ first: some PredicateArgument, _ last: some PredicateArgument) -> RowPredicate {
        .compare(self, .between, PredicateValue.list([first.predicateValue, last.predicateValue]))
    }

    /// Tests for a value in a closed range.
    package func isBetween(_ range: ClosedRange<some PredicateArgument>) -> RowPredicate {
        isBetween(range.lowerBound, range.upperBound)
    }

    /// Tests whether the string contains another string.
    package func contains(_ text: String, ignoringCase: Bool = false) -> RowPredicate {
        .compare(self, .contains, text, ignoringCase: ignoringCase)
    }

    /// Tests whether the string begins with another string.
    package func beginsWith(_ text: String, ignoringCase: Bool = false) -> RowPredicate {
        .compare(self, .beginsWith, text, ignoringCase: ignoringCase)
    }

    /// Tests whether the string ends with another string.
    package func endsWith(_ text: String, ignoringCase: Bool = false) -> RowPredicate {
        .compare(self, .endsWith, text, ignoringCase: ignoringCase)
    }

    /// Tests whether the whole string matches a pattern with `*` and `?`. See ``PredicateOperator/like``.
    package func like(_ pattern: String, ignoringCase: Bool = false) -> RowPredicate {
        .compare(self, .like, pattern, ignoringCase: ignoringCase)
    }

    /// Tests whether the whole string matches a regular expression. See ``PredicateOperator/matches``.
    package func matches(_ pattern: String, ignoringCase: Bool = false) -> RowPredicate {
        .compare(self, .matches, pattern, ignoringCase: ignoringCase)
    }
}
