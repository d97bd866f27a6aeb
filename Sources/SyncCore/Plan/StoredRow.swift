/// A row of a table, by its row key.
package struct StoredRow: Hashable, Sendable {
    package var tree: Int
    package var key: RowKey

    package init(tree: Int, key: RowKey) {
        self.tree = tree
        self.key = key
    }
}
