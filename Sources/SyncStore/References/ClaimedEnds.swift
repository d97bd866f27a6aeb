import SyncCore

/// When the rows at the ends of each link were last spoken for in words.
struct ClaimedEnds {
    private var ends: [BothEnds<SpokenEnd>]

    init(_ ends: [(first: SpokenEnd, second: SpokenEnd)]) { self.ends = ends.map { BothEnds($0.first, $0.second) } }

    subscript(link: LinkID, end: Link.End) -> SpokenEnd {
        get { ends[link.index][end] }
        set { ends[link.index][end] = newValue }
    }
}
