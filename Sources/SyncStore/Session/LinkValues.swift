package import SyncCore

/// How the stored pairs of a join table differ from those that a payload says there are.
package struct JoinTableDiff: Sendable {
    /// A stored pair that is gone.
    package struct Removed: Sendable {
        package var rows: JoinKey
        /// The nodes of its rows; nil for a row of which the payload does not speak.
        package var first: NodeID?
        package var second: NodeID?

        package init(rows: JoinKey, first: NodeID?, second: NodeID?) {
            self.rows = rows
            self.first = first
            self.second = second
        }
    }

    /// A stored pair that the payload puts elsewhere in a list.
    package struct Moved: Sendable {
        /// Its position among the pairs that were said.
        package let index: Int
        package let rows: JoinKey
        /// Nil at an end in whose list it has no place: others write pairs too.
        package let stored: LinkPositions
        package var places: LinkPositions

        /// Nil if it is where it was.
        package init?(
            _ said: ResolvedJoinRows.Pair, of link: CompiledAssociation, index: Int, stored: LinkPositions,
            _ rows: () -> JoinKey?
        ) {
            var places = stored
            if link.hasPlaces(.first), said.firstPosition >= 0 { places.first = Int64(said.firstPosition) }
            if link.hasPlaces(.second), said.secondPosition >= 0 { places.second = Int64(said.secondPosition) }
            guard places != stored, let rows = rows() else { return nil }
            self.index = index
            self.rows = rows
            self.stored = stored
            self.places = places
        }
    }

    package var removed: [Removed] = []
    package var moved: [Moved] = []

    package init() {}
}

/// Stored links that lead to rows which are not stored.
package struct DanglingJoinRows: Sendable {
    package let link: AssociationID
    /// The keys at their ends; nil for NULL.
    package let pairs: [(first: RowKey?, second: RowKey?)]

    package init(_ link: AssociationID, _ pairs: [(first: RowKey?, second: RowKey?)]) {
        self.link = link
        self.pairs = pairs
    }
}

/// The places of a link in the lists of the rows at its ends; nil where it has none.
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

/// The rows at the ends of a link.
package struct JoinKey: Hashable, Sendable {
    package var first: RowKey
    package var second: RowKey

    package init(first: RowKey, second: RowKey) {
        self.first = first
        self.second = second
    }

    package func row(_ end: CompiledAssociation.End) -> RowKey { end == .first ? first : second }
}

/// A pair that is new, by its nodes.
package struct NodeLink: Sendable {
    package var first: NodeID
    package var second: NodeID

    package func node(_ end: CompiledAssociation.End) -> NodeID { end == .first ? first : second }
}

/// A pair of a join table with its places in the lists of either row.
package struct JoinRow: Sendable {
    package var rows: JoinKey
    package var places: LinkPositions
}

/// A stored link as seen from one of its ends.
package struct StoredLink: Sendable {
    /// The row at the end that was asked about.
    package var row: RowKey
    /// The row at the other end.
    package var other: RowKey
    /// Its place in the list of `row`; nil if it has none.
    package var place: Int64?
    /// Its place in the list of `other`; nil if it has none.
    package var otherPlace: Int64?

    package init(row: RowKey, other: RowKey, place: Int64?, otherPlace: Int64?) {
        self.row = row
        self.other = other
        self.place = place
        self.otherPlace = otherPlace
    }
}

/// What the foreign key of a row shall be.
package struct ForeignKeyUpdate: Sendable {
    package var row: RowKey
    /// Nil for none.
    package var target: RowKey?
    /// The place of the row in the list of its target.
    package var place: Int64?
}

/// What is to be written to one join table.
struct JoinTableChanges {
    let link: CompiledAssociation
    var removed: [JoinKey]
    var moved: [JoinTableDiff.Moved]
    /// Pairs that are new.
    var added: [NodeLink]
    /// Their places in the lists of either row; empty if they have none.
    var places: [LinkPositions]
}

/// Something of each end of a link.
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

// MARK: - Link+Places

extension CompiledAssociation {
    /// Whether links have places in the lists of the rows at an end.
    package func hasPlaces(_ end: End) -> Bool {
        switch storage {
        case .foreignKey: end == .second && second.isOrdered
        case .joinTable: side(end).isOrdered && !(isSymmetric && end == .second)
        }
    }

    /// What a row's links are followed from: both ends, but where each pair is stored in both directions one will do.
    func ends(in table: TableID) -> [End] {
        [End.first, .second].filter {
            side($0).table == table && !(isSymmetric && $0 == .second && storage == .joinTable)
        }
    }
}

// MARK: - LinkBatch.Assertion+Ends

extension LinkBatch.Assertion {
    /// The nodes of a link, the one at an end first.
    func ends(from end: CompiledAssociation.End) -> (owner: NodeID, other: NodeID) {
        end == .first ? (first, second) : (second, first)
    }
}
