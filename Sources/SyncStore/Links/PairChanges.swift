import SyncCore

/// What is to be written to one join table.
struct PairChanges {
    let link: Link
    var removed: [LinkedRows]
    var moved: [ComparedPairs.Moved]
    /// Pairs that are new.
    var added: [NodePair]
    /// Their places in the lists of either row; empty if they have none.
    var places: [LinkPlaces]
}
