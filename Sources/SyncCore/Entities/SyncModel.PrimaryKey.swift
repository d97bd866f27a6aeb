extension SyncModel {
    /// What the rows of an entity are told apart by: an attribute, or several parts together.
    ///
    /// A part is the name of an attribute, or of a to-one relationship, which stands for the key of the row it leads to:
    ///
    /// ```swift
    /// Entity("Package", primaryKey: "name", attributes: [Attribute("name", .string)])
    /// Entity("Issue", primaryKey: ["repository", "number"], …)
    /// ```
    public struct PrimaryKey: Sendable, Hashable, ExpressibleByStringLiteral, ExpressibleByArrayLiteral {
        /// The names of its parts, in the order in which a key is written as a list.
        public var parts: [String]

        /// A key of these parts.
        public init(_ parts: [String]) { self.parts = parts }

        /// A key of one attribute.
        public init(_ name: String) { self.init([name]) }

        /// A key of one attribute.
        public init(stringLiteral name: String) { self.init(name) }

        /// A key of these parts.
        public init(arrayLiteral parts: String...) { self.init(parts) }

        /// The only part; nil if there are several.
        package var single: String? { parts.count == 1 ? parts[0] : nil }
    }
}
