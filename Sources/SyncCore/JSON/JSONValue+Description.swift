extension JSONValue: CustomStringConvertible {
    /// How much of a value is shown.
    private static let shownBytes = 1000

    /// The JSON text, cut where it is long; ``JSONValue`` is `Codable` for all of it.
    public var description: String {
        let bytes = JSONText.bytes(of: self)
        guard bytes.count > Self.shownBytes else { return String(decoding: bytes, as: UTF8.self) }
        var end = Self.shownBytes
        // Not within a character.
        while end > 0, bytes[end] & 0xC0 == 0x80 { end -= 1 }
        return String(decoding: bytes[..<end], as: UTF8.self) + "… (\(bytes.count) bytes)"
    }
}
