package import SyncCore

/// What a foreign key of stored nodes is, by node.
package struct StoredForeignKey: Sendable {
    package var targets: [LinkTarget]
    /// Places in the lists of the targets; empty if those are in no order.
    package var places: [Int64?] = []
    /// Targets of tables with hidden keys, until their nodes are known; empty if there are none.
    package var hiddenTargets: [Int64?] = []
    /// Targets that no key of the payload names, where they may turn out to be rows that are met through their owners.
    package var unnamedTargets: [NodeID: RowKey] = [:]

    init(count: Int) { targets = Array(repeating: .nowhere, count: count) }
}
