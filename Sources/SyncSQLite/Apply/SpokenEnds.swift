import SyncCore

/// When the links of each row at each end were last spoken for by a record that counts.
struct SpokenEnds {
    /// By link and end, then by node; empty where nothing was said, -1 for never.
    private var sequences: [[Int64]]

    init(linkCount: Int) { sequences = Array(repeating: [], count: linkCount * 2) }

    /// - Parameter count: The nodes of the tree at this end.
    mutating func note(_ link: Int, _ end: Link.End, _ node: Int32, _ sequence: UInt32, count: Int) {
        let place = Self.place(link, end)
        if sequences[place].isEmpty { sequences[place] = Array(repeating: -1, count: count) }
        sequences[place][Int(node)] = max(sequences[place][Int(node)], Int64(sequence))
    }

    /// The sequence of what was said last; -1 if nothing was.
    func last(_ link: Int, _ end: Link.End, _ node: Int32) -> Int64 {
        let ends = sequences[Self.place(link, end)]
        return ends.isEmpty ? -1 : ends[Int(node)]
    }

    private static func place(_ link: Int, _ end: Link.End) -> Int { link * 2 + (end == .first ? 0 : 1) }
}
