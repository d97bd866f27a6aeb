package import SyncCore

/// What a foreign key of nodes shall be, by node.
package struct ForeignKeyOutcome: Sendable {
    package var targets: [LinkTarget] = []
    /// Places in the lists of the targets; empty if those are in no order.
    package var places: [Int64?] = []
}
