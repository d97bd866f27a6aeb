/// The order of fetched records: by attributes, then by key.
///
/// ```swift
/// try await stack.fetch("User", orderedBy: "firstName")
/// try await stack.fetch("User", orderedBy: ["lastName", "-age"])      // oldest first among equal last names
/// try await stack.fetch("User", orderedBy: "company.name")
/// ```
/// Nil comes first, or last where the order is descending. Text is compared by its code points.
public struct RecordOrder: Sendable, Hashable, ExpressibleByStringLiteral, ExpressibleByArrayLiteral {
    /// One attribute, or a path to one, and its direction.
    public struct Term: Sendable, Hashable {
        /// The local name of an attribute; or a path that leads to one through to-one relationships, a to-one relationship,
        /// or the number of rows of a to-many one: `company.name`, `company`, `notes.@count`.
        public var attribute: String
        /// Whether small values come first.
        public var isAscending: Bool

        /// By an attribute, small values first unless said otherwise.
        public init(_ attribute: String, ascending isAscending: Bool = true) {
            self.attribute = attribute
            self.isAscending = isAscending
        }
    }

    /// The attributes, the first deciding first.
    public var terms: [Term]

    /// By these attributes.
    public init(_ terms: [Term]) { self.terms = terms }

    /// Names of attributes, with a minus before those in descending order.
    public init(_ names: [String]) {
        terms = names.map { name in
            name.hasPrefix("-") ? Term(String(name.dropFirst()), ascending: false) : Term(name)
        }
    }

    /// The name of one attribute, with a minus before it for descending order.
    public init(stringLiteral name: String) { self.init([name]) }
    /// Names of attributes, with a minus before those in descending order.
    public init(arrayLiteral names: String...) { self.init(names) }

    /// By key alone: numbers by size, text by code points, dates by time.
    public static let byKey = RecordOrder([Term]())
}
