package import SyncCore

/// What a stored row is.
package struct StoredIdentity: Sendable {
    package var entity: Int
    /// The value of its key attribute; nil if it has none.
    package var key: RowKey?

    package init(entity: Int, key: RowKey?) {
        self.entity = entity
        self.key = key
    }
}
