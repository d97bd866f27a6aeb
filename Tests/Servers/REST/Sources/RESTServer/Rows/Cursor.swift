import Foundation

/// Opaque cursors of lists.
enum Cursor {
    /// Returns the cursor of the page after a row.
    static func text(_ number: Int) -> String {
        // The text is as long as other services' cursors, and has characters that a query must escape.
        Data("after row \(number)".utf8).base64EncodedString()
    }

    /// Returns the number of the row; nil for an invalid cursor.
    static func number(_ text: String) -> Int? {
        guard let data = Data(base64Encoded: text), let words = String(bytes: data, encoding: .utf8) else { return nil }
        guard words.hasPrefix("after row ") else { return nil }
        return Int(words.dropFirst("after row ".count))
    }
}
