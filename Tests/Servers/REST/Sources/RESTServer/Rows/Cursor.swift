import Foundation

/// The texts that stand for a place in a list. Clients are not to read them.
enum Cursor {
    /// The cursor of the page after a row.
    static func text(_ number: Int) -> String {
        // As long a text as a cursor has elsewhere, with characters that a query has to escape.
        Data("after row \(number)".utf8).base64EncodedString()
    }

    /// The number of that row; nil for what is no cursor.
    static func number(_ text: String) -> Int? {
        guard let data = Data(base64Encoded: text), let words = String(bytes: data, encoding: .utf8) else { return nil }
        guard words.hasPrefix("after row ") else { return nil }
        return Int(words.dropFirst("after row ".count))
    }
}
