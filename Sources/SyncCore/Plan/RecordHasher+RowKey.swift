extension RecordHasher {
    /// The hash of a row key at a place.
    package func hash(_ key: RowKey, at place: Int) -> UInt64 {
        switch key {
        case .integer(let value): return hash(UInt64(bitPattern: value), at: place)
        case .real(let value): return hash(value.bitPattern, at: place)
        case .text(var text): return text.withUTF8 { hash($0, at: place) }
        }
    }
}
