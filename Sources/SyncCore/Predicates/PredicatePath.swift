/// What a condition looks at: an attribute, a relationship, or something reached through relationships.
///
/// ```swift
/// RecordPredicate.attribute("company.name") == "Apple"
/// RecordPredicate.any("tags.id").isIn([1, 2])
/// RecordPredicate.count("notes") > 3
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
