package import SyncCore

/// The difference between the stored rows of a join table and those that a payload asserts.
package struct JoinTableDiff: Sendable {
    /// A stored join row to remove.
    package struct Removed: Sendable {
        package var rows: JoinKey
        /// The nodes of the rows at both ends; nil for an unmatched row.
        package var first: NodeID?
        package var second: NodeID?

        package init(rows: JoinKey, first: NodeID?, second: NodeID?) {
            self.rows = rows
            self.first = first
            self.second = second
        }
    }

    /// A stored join row whose positions change.
    package struct Moved: Sendable {
        /// The index of the join row in ``ResolvedJoinRows/rows``.
        package let index: Int
        package let rows: JoinKey
        /// The stored positions; nil at an end that has none, because other code may insert join rows without
        /// positions.
        package let stored: LinkPositions
        package var positions: LinkPositions

        /// Creates a move. Returns nil if no position changes.
        package init?(
            _ asserted: ResolvedJoinRows.Row, of link: CompiledAssociation, index: Int, stored: LinkPositions,
            _ rows: () -> JoinKey?
        ) {
            var positions = stored
            if link.hasPositions(.first), asserted.firstPosition >= 0 {
                positions.first = Int64(asserted.firstPosition)
            }
            if link.hasPositions(.second), asserted.secondPosition >= 0 {
                positions.second = Int64(asserted.secondPosition)
            }
            guard positions != stored, let rows = rows() else { return nil }
            self.index = index
            self.rows = rows
            self.stored = stored
            self.positions = positions
        }
    }

    package var removed: [Removed] = []
    package var moved: [Moved] = []

    package init() {}
}

/// Stored links of one association that reference missing rows.
package struct DanglingJoinRows: Sendable {
    package let link: AssociationID
    /// The row keys at both ends of each link; nil for NULL.
    package let joinRows: [(first: RowKey?, second: RowKey?)]

    package init(_ link: AssociationID, _ joinRows: [(first: RowKey?, second: RowKey?)]) {
        self.link = link
        self.joinRows = joinRows
    }
}

/// The positions of a link in the lists of the rows at its ends. A position is nil if there is none, as in a list that
/// is not ordered.
package struct LinkPositions: Equatable, Sendable {
    package var first: Int64?
    package var second: Int64?

    package init(first: Int64? = nil, second: Int64? = nil) {
        self.first = first
        self.second = second
    }

    package subscript(end: CompiledAssociation.End) -> Int64? {
        get { end == .first ? first : second }
        set { if end == .first { first = newValue } else { second = newValue } }
    }
}

/// The row keys at both ends of a link.
package struct JoinKey: Hashable, Sendable {
    package var first: RowKey
    package var second: RowKey

    package init(first: RowKey, second: RowKey) {
        self.first = first
        self.second = second
    }

    package func row(_ end: CompiledAssociation.End) -> RowKey { end == .first ? first : second }
}

/// A new link between two nodes.
package struct NodeLink: Sendable {
    package var first: NodeID
    package var second: NodeID

    package func node(_ end: CompiledAssociation.End) -> NodeID { end == .first ? first : second }
}

/// A row of a join table, with its positions in the lists of both rows.
package struct JoinRow: Sendable {
    package var rows: JoinKey
    package var positions: LinkPositions
}

/// A stored link as seen from one of its ends.
package struct StoredLink: Sendable {
    /// The row at the end that was queried.
    package var row: RowKey
    /// The row at the other end.
    package var other: RowKey
    /// The position in the list of `row`; nil if there is none.
    package var position: Int64?
    /// The position in the list of `other`; nil if there is none.
    package var otherPosition: Int64?

    package init(row: RowKey, other: RowKey, position: Int64?, otherPosition: Int64?) {
        self.row = row
        self.other = other
        self.position = position
        self.otherPosition = otherPosition
    }
}

/// A change of the foreign key of a row.
package struct ForeignKeyUpdate: Sendable {
    package var row: RowKey
    /// The new referenced row; nil for none.
    package var target: RowKey?
    /// The position of the row in the list of the referenced row.
    package var position: Int64?
}

/// The changes of one join table to write.
struct JoinTableChanges {
    let link: CompiledAssociation
    var removed: [JoinKey]
    var moved: [JoinTableDiff.Moved]
    /// New join rows.
    var added: [NodeLink]
    /// The positions of the new join rows in the lists of both rows; empty if the association has no positions.
    var positions: [LinkPositions]
}

/// A pair of values, one for each end of an association.
struct PerEnd<Value> {
    var first: Value
    var second: Value

    init(_ first: Value, _ second: Value) {
        self.first = first
        self.second = second
    }

    subscript(end: CompiledAssociation.End) -> Value {
        get { end == .first ? first : second }
        _modify { if end == .first { yield &first } else { yield &second } }
    }
}

extension PerEnd: Sendable where Value: Sendable {}

// MARK: - CompiledAssociation+Positions

extension CompiledAssociation {
    /// Returns whether links have positions in the lists of the rows at an end.
    package func hasPositions(_ end: End) -> Bool {
        switch storage {
        case .foreignKey: end == .second && second.isOrdered
        case .joinTable: side(end).isOrdered && !(isSymmetric && end == .second)
        }
    }

    /// Returns the ends of the association whose rows are in a table. For a symmetric join table, returns only the
    /// first end, because the table has each link in both directions.
    func ends(in table: TableID) -> [End] {
        [End.first, .second].filter {
            side($0).table == table && !(isSymmetric && $0 == .second && storage == .joinTable)
        }
    }
}

// MARK: - LinkBatch.Assertion+Ends

extension LinkBatch.Assertion {
    /// Returns the nodes of a link, the one at the given end first.
    func ends(from end: CompiledAssociation.End) -> (owner: NodeID, other: NodeID) {
        end == .first ? (first, second) : (second, first)
    }
}
