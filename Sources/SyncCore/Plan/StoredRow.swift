/// A row of a table, by its row key.
package struct StoredRow: Hashable, Sendable {
    package var table: TableID
    package var key: RowKey

    package init(table: TableID, key: RowKey) {
        self.table = table
        self.key = key
    }
}
