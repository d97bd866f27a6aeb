/// A list of records inside a payload of several, and the entity they are of.
package struct PayloadEntity: Sendable, Hashable {
    package var path: [String]
    package var entity: String

    /// - Parameter path: The keys that lead to the list, with dots between them.
    package init(path: String, entity: String) {
        self.path = path.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
        self.entity = entity
    }
}
