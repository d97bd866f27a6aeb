/// The words of a statement that stand outside quotes and comments, in upper case.
struct SQLWords {
    private var words: [String] = []

    init(_ sql: String) {
        var rest = Substring(sql)
        while let first = rest.unicodeScalars.first {
            if let end = Self.quotes[first] {
                rest = Self.dropping(rest.unicodeScalars.dropFirst(), through: [end])
            } else if rest.hasPrefix("--") {
                rest = Self.dropping(rest.unicodeScalars.dropFirst(2), through: ["\n"])
            } else if rest.hasPrefix("/*") {
                rest = Self.dropping(rest.unicodeScalars.dropFirst(2), through: ["*", "/"])
            } else if Self.isLetter(first) {
                let word = rest.unicodeScalars.prefix(while: Self.isLetter)
                words.append(String(word).uppercased())
                rest = Substring(rest.unicodeScalars.dropFirst(word.count))
            } else {
                rest = Substring(rest.unicodeScalars.dropFirst())
            }
        }
    }

    func contains(_ word: String) -> Bool { words.contains(word) }

    func starts(with first: [String]) -> Bool { words.starts(with: first) }

    /// A doubled quote ends one and begins the next, which comes to the same.
    private static let quotes: [Unicode.Scalar: Unicode.Scalar] = ["\"": "\"", "'": "'", "`": "`", "[": "]"]

    private static func isLetter(_ scalar: Unicode.Scalar) -> Bool {
        scalar == "_" || scalar.value > 127 || scalar.properties.isAlphabetic || ("0"..."9").contains(scalar)
    }

    private static func dropping(
        _ text: Substring.UnicodeScalarView, through end: [Unicode.Scalar]
    ) -> Substring {
        var text = text
        while !text.isEmpty, !text.starts(with: end) { text.removeFirst() }
        return Substring(text.dropFirst(end.count))
    }
}
