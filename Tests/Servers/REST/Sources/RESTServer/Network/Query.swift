import Foundation

/// The query of a request: parameters by name, and the text they were sent as.
struct Query: Sendable {
    /// As sent, without the question mark; empty without a query.
    let raw: String
    /// Decoded, by decoded name.
    private let values: [String: String]

    /// Reads a query as it was sent.
    init(_ raw: String) {
        self.raw = raw
        let pairs = raw.split(separator: "&").map { pair in
            let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            return (Self.decoded(parts[0]), parts.count > 1 ? Self.decoded(parts[1]) : "")
        }
        values = Dictionary(pairs) { first, _ in first }
    }

    /// The value of a parameter; the first one where there are several.
    subscript(name: String) -> String? { values[name] }

    /// A parameter that is a whole number of at least `least`; anything else is refused with 400.
    func whole(_ name: String, atLeast least: Int) throws(Refusal) -> Int? {
        guard let text = values[name] else { return nil }
        guard let number = Int(text), number >= least else {
            throw Refusal(400, "\(name) is not a whole number of at least \(least)")
        }
        return number
    }

    /// The query with one parameter set to a number and the others as they were sent.
    func setting(_ name: String, to number: Int) -> String {
        let others = raw.split(separator: "&").filter { $0.prefix { $0 != "=" } != name }
        return (others.map(String.init) + ["\(name)=\(number)"]).joined(separator: "&")
    }

    /// A text without its percent escapes; as it is if they are wrong.
    private static func decoded(_ text: Substring) -> String {
        String(text).removingPercentEncoding ?? String(text)
    }
}
