package import SyncCore

/// What the foreign key of a row shall be.
package struct TargetChange: Sendable {
    package var row: RowKey
    /// Nil for none.
    package var target: RowKey?
    /// The place of the row in the list of its target.
    package var place: Int64?
}
