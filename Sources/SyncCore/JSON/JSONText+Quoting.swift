extension JSONText {
    /// The text as a JSON string, quotes included.
    static func quoted(_ text: String) -> String { String(decoding: CanonicalJSON.bytes(.string(text)), as: UTF8.self) }
}
