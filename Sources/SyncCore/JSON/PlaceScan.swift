/// Follows the places of records through the quotes and brackets around them.
struct PlaceScan {
    private var tracker: PlaceTracker
    /// The place of the value that comes next.
    private var node = 0
    private var isAtValue = true
    private var isAtKey = false

    init(_ places: RecordPlaces) { tracker = PlaceTracker(places) }

    /// - Parameter depth: How many objects and arrays are open before it.
    mutating func open(_ byte: UInt8, depth: Int) -> KeyPathScan.Next {
        guard depth == tracker.depth, isAtValue else { return .more }
        isAtValue = false
        switch tracker.enter(node, byte) {
        case .walked: isAtKey = true
        case .list(_, .members): return .members
        case .list: return .records
        case .passed, .record, .nothing, .remark, .refused: break
        }
        return .more
    }

    /// - Parameter depth: How many objects and arrays are open after it.
    mutating func close(depth: Int) -> KeyPathScan.Next {
        if depth < tracker.depth { tracker.leave() }
        isAtKey = false
        return depth == 0 ? .rest : .more
    }

    /// - Parameter text: What is between the quotes.
    mutating func string(_ text: UnsafeBufferPointer<UInt8>, depth: Int) -> KeyPathScan.Next {
        guard depth == tracker.depth else { return .more }
        if depth == 0 { return .rest }
        if isAtKey {
            var plain: [UInt8] = []
            JSONText.unescape(text, into: &plain)
            node = tracker.node(named: plain)
        } else if isAtValue {
            _ = tracker.enter(node, .quote)
        }
        isAtKey = false
        isAtValue = false
        return .more
    }

    mutating func other(_ byte: UInt8, depth: Int) -> KeyPathScan.Next {
        guard depth == tracker.depth else { return .more }
        switch byte {
        case .blank, .newline, .carriageReturn, .tab: return .more
        case .colon: isAtValue = true
        case .comma: isAtKey = true
        default:
            if depth == 0 { return .rest }
            if isAtValue { _ = tracker.enter(node, byte) }
            isAtValue = false
        }
        return .more
    }
}
