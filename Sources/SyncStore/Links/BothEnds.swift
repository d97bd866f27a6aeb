import SyncCore

/// Something of each end of a link.
struct BothEnds<Value> {
    var first: Value
    var second: Value

    init(_ first: Value, _ second: Value) {
        self.first = first
        self.second = second
    }

    subscript(end: Link.End) -> Value {
        get { end == .first ? first : second }
        _modify { if end == .first { yield &first } else { yield &second } }
    }
}

extension BothEnds: Sendable where Value: Sendable {}
