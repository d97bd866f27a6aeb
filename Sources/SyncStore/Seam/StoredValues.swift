package import SyncCore

/// What a stored row holds.
package struct StoredValues: Sendable {
    /// By slot of its entity; null for keys that were made here.
    package var attributes: [(slot: Int, value: StoredValue)]
    /// Its foreign keys, by their position in ``EntityTree/foreignKeys``; those that are null left out.
    package var targets: [(foreignKey: Int, row: RowKey)]

    package init(attributes: [(slot: Int, value: StoredValue)], targets: [(foreignKey: Int, row: RowKey)]) {
        self.attributes = attributes
        self.targets = targets
    }
}
