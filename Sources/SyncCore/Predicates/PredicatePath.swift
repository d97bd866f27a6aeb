/// The left side of a comparison: an attribute or relationship of the row, or of a related row, such as `company.name`,
/// `ANY tags.id` or `notes.@count`.
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
