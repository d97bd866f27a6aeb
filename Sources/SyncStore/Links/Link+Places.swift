package import SyncCore

extension Link {
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
