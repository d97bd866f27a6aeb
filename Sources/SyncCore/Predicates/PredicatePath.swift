/// What a condition looks at: an attribute, a relationship, or something reached through relationships.
///
/// ```swift
/// RowPredicate.attribute("company.name") == "Apple"
/// RowPredicate.any("tags.id").isIn([1, 2])
/// RowPredicate.count("notes") > 3
/// ```
public struct PredicatePath: Sendable, Hashable {
    /// Of which of the rows reached through a to-many relationship a comparison must hold.
    package enum Quantifier: String, Sendable, Hashable {
        /// Of one at least.
        case any = "ANY"
        /// Of every one; true if there are none.
        case all = "ALL"
        /// Of no one; true if there are none.
        case none = "NONE"
    }

    package static let countName = "@count"

    package let quantifier: Quantifier?
    package let components: [String]
    /// Whether it is the number of rows of its last relationship.
    package let isCount: Bool

    /// Splits a path at its dots; a last component `@count` counts.
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

    /// What is wrong with it as a path.
    ///
    /// - Parameter names: Components that are names, whatever they look like.
    func problem(admitting names: Set<String> = []) -> String? {
        if components.contains(where: \.isEmpty) { return "a path has an empty name: '\(name)'" }
        if components.contains(where: { $0.hasPrefix("@") && !names.contains($0) }) {
            return "of the collection operators only @count is supported, at the end of a path: '\(name)'"
        }
        return nil
    }

    /// The path without quantifier: `tags.@count`.
    package var name: String { (components + (isCount ? [Self.countName] : [])).joined(separator: ".") }
}

extension PredicatePath {
    /// An attribute or to-one relationship, by its local name, or one reached through to-one relationships.
    public static func attribute(_ path: String) -> PredicatePath { PredicatePath(path) }

    /// A path through a to-many relationship, of which one row must match.
    public static func any(_ path: String) -> PredicatePath { PredicatePath(path, quantifier: .any) }

    /// A path through a to-many relationship, of which every row must match.
    public static func all(_ path: String) -> PredicatePath { PredicatePath(path, quantifier: .all) }

    /// A path through a to-many relationship, of which no row may match.
    public static func none(_ path: String) -> PredicatePath {
        PredicatePath(path, quantifier: PredicatePath.Quantifier.none)
    }

    /// The number of rows a to-many relationship leads to.
    public static func count(_ path: String) -> PredicatePath { PredicatePath(path + "." + PredicatePath.countName) }
}

// MARK: - Comparing

extension PredicatePath {
    /// The same value; compared with nil, no value.
    public static func == (path: PredicatePath, value: (any PredicateArgument)?) -> RowPredicate {
        .compare(path, .equal, value)
    }

    /// Also true where there is no value, compared with one.
    public static func != (path: PredicatePath, value: (any PredicateArgument)?) -> RowPredicate {
        .compare(path, .notEqual, value)
    }

    /// Never true where there is no value.
    public static func < (path: PredicatePath, value: any PredicateArgument) -> RowPredicate {
        .compare(path, .less, value)
    }

    /// Never true where there is no value.
    public static func <= (path: PredicatePath, value: any PredicateArgument) -> RowPredicate {
        .compare(path, .lessOrEqual, value)
    }

    /// Never true where there is no value.
    public static func > (path: PredicatePath, value: any PredicateArgument) -> RowPredicate {
        .compare(path, .greater, value)
    }

    /// Never true where there is no value.
    public static func >= (path: PredicatePath, value: any PredicateArgument) -> RowPredicate {
        .compare(path, .greaterOrEqual, value)
    }

    /// The same text, whatever its case.
    public func equals(_ text: String, ignoringCase: Bool) -> RowPredicate {
        .compare(self, .equal, text, ignoringCase: ignoringCase)
    }

    /// Equal to one of the values; ``PredicateValue/null`` among them is no value. Case is for texts.
    public func isIn(_ values: [some PredicateArgument], ignoringCase: Bool = false) -> RowPredicate {
        .compare(self, .in, values, ignoringCase: ignoringCase)
    }

    /// From one value to another, both included.
    public func isBetween(_ first: some PredicateArgument, _ last: some PredicateArgument) -> RowPredicate {
        .compare(self, .between, PredicateValue.list([first.predicateValue, last.predicateValue]))
    }

    /// From the first value of a range to its last, both included.
    public func isBetween(_ range: ClosedRange<some PredicateArgument>) -> RowPredicate {
        isBetween(range.lowerBound, range.upperBound)
    }

    /// Whether the text contains this one.
    public func contains(_ text: String, ignoringCase: Bool = false) -> RowPredicate {
        .compare(self, .contains, text, ignoringCase: ignoringCase)
    }

    /// Whether the text begins with this one.
    public func beginsWith(_ text: String, ignoringCase: Bool = false) -> RowPredicate {
        .compare(self, .beginsWith, text, ignoringCase: ignoringCase)
    }

    /// Whether the text ends with this one.
    public func endsWith(_ text: String, ignoringCase: Bool = false) -> RowPredicate {
        .compare(self, .endsWith, text, ignoringCase: ignoringCase)
    }

    /// Whether the whole text matches a pattern with `*` and `?`. See ``PredicateOperator/like``.
    public func like(_ pattern: String, ignoringCase: Bool = false) -> RowPredicate {
        .compare(self, .like, pattern, ignoringCase: ignoringCase)
    }

    /// Whether the whole text matches a regular expression. See ``PredicateOperator/matches``.
    public func matches(_ pattern: String, ignoringCase: Bool = false) -> RowPredicate {
        .compare(self, .matches, pattern, ignoringCase: ignoringCase)
    }
}
