/// The tokens of an SQL statement as written, without whitespace and comments.
struct SQLTokens {
    private(set) var texts: [String] = []

    init(_ sql: String) {
        let scalars = Array(sql.unicodeScalars)
        var next = 0
        while next < scalars.count {
            let start = next
            let first = scalars[start]
            if first.properties.isWhitespace {
                next += 1
                continue
            }
            if let skipped = Self.comment(in: scalars, from: start) {
                next = skipped
                continue
            }
            if let end = Self.quotes[first] {
                next = Self.end(of: end, in: scalars, from: start)
            } else if Self.isPart(first) {
                next = Self.end(ofWordIn: scalars, from: start)
            } else {
                next += 1
                while Self.signs.contains(first), next < scalars.count, Self.signs.contains(scalars[next]),
                    Self.comment(in: scalars, from: next) == nil
                { next += 1 }
            }
            var text = String.UnicodeScalarView()
            text.append(contentsOf: scalars[start..<next])
            texts.append(String(text))
        }
    }

    /// The words outside of quotes, in upper case.
    var words: [String] {
        texts.filter { $0.unicodeScalars.first.map(Self.isPart) ?? false }.map { $0.uppercased() }
    }

    /// Returns a quoted name without its quotes, and any other token unchanged.
    static func name(_ token: String) -> String {
        guard let first = token.unicodeScalars.first, let end = quotes[first], token.count > 1 else { return token }
        let inner = String(token.dropFirst().dropLast())
        return end == "]" ? inner : inner.replacing("\(end)\(end)", with: "\(end)")
    }

    private static let quotes: [Unicode.Scalar: Unicode.Scalar] = ["\"": "\"", "'": "'", "`": "`", "[": "]"]

    /// The characters that can form an operator together.
    private static let signs: Set<Unicode.Scalar> = ["|", "<", ">", "=", "!", "-", "+", "*", "/", "%", "&", "~"]

    /// Returns the end of a word, including the exponent of a number and the digits of a blob literal.
    private static func end(ofWordIn scalars: [Unicode.Scalar], from start: Int) -> Int {
        var next = start
        while next < scalars.count {
            let isExponent =
                ("0"..."9").contains(scalars[start]) && ["e", "E"].contains(scalars[max(next - 1, start)])
                && ["+", "-"].contains(scalars[next])
            guard isPart(scalars[next]) || isExponent else { break }
            next += 1
        }
        let isBytes = next == start + 1 && ["x", "X"].contains(scalars[start])
        return isBytes && next < scalars.count && scalars[next] == "'" ? end(of: "'", in: scalars, from: next) : next
    }

    private static func isPart(_ scalar: Unicode.Scalar) -> Bool {
        scalar == "_" || scalar == "$" || scalar == "." || scalar.value > 127 || scalar.properties.isAlphabetic
            || ("0"..."9").contains(scalar)
    }

    /// Returns the end of a comment; nil if no comment begins at `start`.
    private static func comment(in scalars: [Unicode.Scalar], from start: Int) -> Int? {
        guard start + 1 < scalars.count else { return nil }
        var next = start + 2
        switch (scalars[start], scalars[start + 1]) {
        case ("-", "-"):
            while next < scalars.count, scalars[next] != "\n" { next += 1 }
            return next
        case ("/", "*"):
            while next + 1 < scalars.count, (scalars[next], scalars[next + 1]) != ("*", "/") { next += 1 }
            return min(next + 2, scalars.count)
        default: return nil
        }
    }

    /// Returns the index after the closing quote. A doubled quote is part of the text, except `]]`.
    private static func end(of quote: Unicode.Scalar, in scalars: [Unicode.Scalar], from start: Int) -> Int {
        var next = start + 1
        while next < scalars.count {
            if scalars[next] == quote {
                guard quote != "]", next + 1 < scalars.count, scalars[next + 1] == quote else { return next + 1 }
                next += 1
            }
            next += 1
        }
        return next
    }
}
