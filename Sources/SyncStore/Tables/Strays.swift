package import SyncCore

/// Stored rows of a table that no node is, seen because they point to a node or are in scope.
package struct Strays: Sendable {
    package struct Row: Sendable {
        package var key: RowKey
        package var entity: Int
        /// Whether it turned out to be a node that met its row through its owner.
        package var isNode = false

        package init(key: RowKey, entity: Int) {
            self.key = key
            self.entity = entity
        }
    }

    /// That a stray points to a node.
    package struct Pointer: Sendable {
        /// Its position in `rows`.
        package var row: Int
        package var link: LinkID
        package var target: NodeID

        package init(row: Int, link: LinkID, target: NodeID) {
            self.row = row
            self.link = link
            self.target = target
        }
    }

    package var rows: [Row] = []
    package var pointers: [Pointer] = []
}
