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

/// Follows a key path through the quotes and brackets before the records of a document.
struct KeyPathScan {
    /// What comes after a bracket, a key or a comma.
    enum Next {
        case more
        /// The list of records was opened.
        case records
        /// The object was opened whose members are the records.
        case members
        /// Records that are not in a list, or the key path leads nowhere.
        case rest
    }

    private let keyPath: [String]
    /// How many objects of the path are open, and how many of its keys were found.
    private var level = 0
    private var found = 0
    /// What the path leads to is next; a key is next; the key of the path was just read.
    private var isAtValue = true
    private var isAtKey = false
    private var isKeyFound = false

    init(_ keyPath: [String]) { self.keyPath = keyPath }

    mutating func open(_ byte: UInt8, depth: Int) -> Next {
        guard depth == level, isAtValue else { return .more }
        if found == keyPath.count { return byte == .openBracket ? .records : .rest }
        guard byte == .openBrace else { return .rest }
        level += 1
        isAtValue = false
        isAtKey = true
        return .more
    }

    /// - Parameter depth: How many objects and arrays are open after it.
    func close(depth: Int) -> Next { depth < level ? .rest : .more }

    /// - Parameter text: What is between the quotes.
    mutating func string(_ text: UnsafeBufferPointer<UInt8>, depth: Int) -> Next {
        guard depth == level else { return .more }
        if isAtValue { return .rest }
        guard isAtKey else { return .more }
        isAtKey = false
        var plain: [UInt8] = []
        JSONText.unescape(text, into: &plain)
        isKeyFound = plain.elementsEqual(keyPath[found].utf8)
        return .more
    }

    mutating func other(_ byte: UInt8, depth: Int) -> Next {
        guard depth == level else { return .more }
        switch byte {
        case .blank, .newline, .carriageReturn, .tab: return .more
        case .colon:
            if isKeyFound {
                found += 1
                isAtValue = true
                isKeyFound = false
            }
            return .more
        case .comma:
            isAtKey = true
            isKeyFound = false
            return .more
        default: return isAtValue ? .rest : .more
        }
    }
}
