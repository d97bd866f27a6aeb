import Foundation

/// The query of a request: its parameters and its text.
struct Query: Sendable {
    /// The text of the query, without the question mark; empty for none.
    let raw: String
    /// The decoded values by decoded name.
    private let values: [String: String]

    /// Parses a query.
    init(_ raw: String) {
        self.raw = raw
        let pairs = raw.split(separator: "&").map { pair in
            let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            return (Self.decoded(parts[0]), parts.count > 1 ? Self.decoded(parts[1]) : "")
        }
        values = Dictionary(pairs) { first, _ in first }
    }

    /// The value of a parameter, the first one if it is repeated.
    subscript(name: String) -> String? { values[name] }

    /// Returns a parameter that is a whole number of at least `least`; 400 for another value.
    func whole(_ name: String, atLeast least: Int) throws(Refusal) -> Int? {
        guard let text = values[name] else { return nil }
        guard let number = Int(text), number >= least else {
            throw Refusal(400, "\(name) is not a whole number of at least \(least)")
        }
        return number
    }

    /// Returns the query with one parameter replaced by a number. The others stay unchanged.
    func setting(_ name: String, to number: Int) -> String {
        let others = raw.split(separator: "&").filter { $0.prefix { $0 != "=" } != name }
        return (others.map(String.init) + ["\(name)=\(number)"]).joined(separator: "&")
    }

    /// Returns a text without percent escapes; unchanged if they are invalid.
    private static func decoded(_ text: Substring) -> String {
        String(text).removingPercentEncoding ?? String(text)
    }
}
