/// The values bound in a statement, in the order of their placeholders.
package struct SQLArguments: Sendable {
    package private(set) var values: [SQLArgument] = []
    private let preceding: Int

    /// - Parameter preceding: How many values the statement has before these, for databases that number them.
    package init(after preceding: Int = 0) { self.preceding = preceding }

    /// Adds a value.
    ///
    /// - Returns: Its number in the statement, from 1.
    @discardableResult
    package mutating func append(_ value: SQLArgument) -> Int {
        values.append(value)
        return preceding + values.count
    }
}
