import SyncCore

/// What is known of one link's stored pairs, and what became of them since they were read.
struct LinkMemory {
    /// What a pair was when it was last read or written.
    enum Stored {
        case absent
        case present(LinkPlaces)
    }

    /// The pairs that hold, as far as they are known.
    private(set) var places: [LinkedRows: LinkPlaces] = [:]
    private var others = BothEnds<[RowKey: Set<RowKey>]>([:], [:])
    /// The rows at either end whose pairs are all known.
    private var loaded = BothEnds<Set<RowKey>>([], [])
    /// Pairs that were asked about one by one.
    private var asked: Set<LinkedRows> = []
    /// What pairs were that are not as they are stored.
    private(set) var changed: [LinkedRows: Stored] = [:]
    /// The places that lists keep for awaited rows, by the rows whose lists they are.
    private var kept = BothEnds<[RowKey: [Int64]]>([:], [:])

    // MARK: Asking

    func isLoaded(_ row: RowKey, _ end: Link.End) -> Bool { loaded[end].contains(row) }

    func knows(_ pair: LinkedRows) -> Bool {
        asked.contains(pair) || changed[pair] != nil || isLoaded(pair.first, .first) || isLoaded(pair.second, .second)
    }

    func contains(_ pair: LinkedRows) -> Bool { places[pair] != nil }

    /// The pairs of a row at an end.
    func pairs(of row: RowKey, _ end: Link.End) -> [LinkedRows] {
        (others[end][row] ?? []).map { Self.pair(row, $0, end) }
    }

    /// The pairs of a row at an end, by their places in its list, then by key.
    func list(of row: RowKey, _ end: Link.End) -> [(row: RowKey, place: Int64?)] {
        let list = (others[end][row] ?? []).map { other in
            (row: other, place: places[Self.pair(row, other, end)]?[end])
        }
        return list.sorted { left, right in
            let (l, r) = (left.place ?? .max, right.place ?? .max)
            return l != r ? l < r : left.row.precedes(right.row)
        }
    }

    /// The last place that a link has in the list of a row; -1 if none has one.
    func lastPlace(in row: RowKey, _ end: Link.End) -> Int64 {
        (others[end][row] ?? []).reduce(-1) { max($0, places[Self.pair(row, $1, end)]?[end] ?? -1) }
    }

    static func pair(_ row: RowKey, _ other: RowKey, _ end: Link.End) -> LinkedRows {
        end == .first ? LinkedRows(first: row, second: other) : LinkedRows(first: other, second: row)
    }

    // MARK: Reading

    /// What was read of rows at an end. What was changed since it was written stays as it is.
    mutating func note(_ links: [StoredLink], of rows: [RowKey], _ end: Link.End) {
        for link in links {
            let pair = Self.pair(link.row, link.other, end)
            guard changed[pair] == nil else { continue }
            var stored = LinkPlaces()
            stored[end] = link.place
            stored[end.other] = link.otherPlace
            put(pair, stored)
        }
        noteAll(of: rows, end)
    }

    /// All pairs of rows at an end are known.
    mutating func noteAll(of rows: [RowKey], _ end: Link.End) { loaded[end].formUnion(rows) }

    /// Which of some pairs were found to be stored.
    mutating func note(_ pairs: [LinkedRows], stored: Set<LinkedRows>) {
        for pair in pairs where changed[pair] == nil {
            asked.insert(pair)
            if stored.contains(pair), places[pair] == nil { put(pair, LinkPlaces()) }
        }
    }

    // MARK: Changing

    mutating func set(_ pair: LinkedRows, _ new: LinkPlaces) {
        remember(pair)
        put(pair, new)
    }

    mutating func remove(_ pair: LinkedRows) {
        guard contains(pair) else { return }
        remember(pair)
        take(pair)
    }

    private mutating func remember(_ pair: LinkedRows) {
        if changed[pair] == nil { changed[pair] = places[pair].map(Stored.present) ?? .absent }
    }

    private mutating func put(_ pair: LinkedRows, _ new: LinkPlaces) {
        places[pair] = new
        others.first[pair.first, default: []].insert(pair.second)
        others.second[pair.second, default: []].insert(pair.first)
    }

    private mutating func take(_ pair: LinkedRows) {
        places[pair] = nil
        others.first[pair.first]?.remove(pair.second)
        others.second[pair.second]?.remove(pair.first)
    }

    /// What was changed is written.
    mutating func noteWritten() { changed = [:] }

    /// Rows at an end are gone, and their pairs with them.
    mutating func forget(_ row: RowKey, _ end: Link.End) {
        for pair in pairs(of: row, end) {
            take(pair)
            changed[pair] = nil
        }
    }

    // MARK: Kept places

    func keptPlaces(_ row: RowKey, _ end: Link.End) -> [Int64]? { kept[end][row] }

    mutating func noteKept(_ places: [Int64], in row: RowKey, _ end: Link.End) { kept[end][row] = places }

    /// A list keeps a place, if it is known which ones it keeps.
    mutating func keep(_ place: Int64, in row: RowKey, _ end: Link.End) { kept[end][row]?.append(place) }

    /// A list keeps a place no more.
    mutating func release(_ place: Int64, in row: RowKey, _ end: Link.End) {
        guard let index = kept[end][row]?.firstIndex(of: place) else { return }
        kept[end][row]?.remove(at: index)
    }
}
