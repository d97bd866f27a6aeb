extension String {
    /// The text with small letters for those from A to Z, and all others as they are: so SQLite compares names.
    package var foldedForSQL: String {
        String(
            decoding: utf8.map { UInt8(ascii: "A")...UInt8(ascii: "Z") ~= $0 ? $0 | .caseBit : $0 }, as: UTF8.self)
    }
}
