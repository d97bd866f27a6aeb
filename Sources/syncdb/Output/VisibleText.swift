import Foundation

/// Text for people. Nothing else is written to them, on a terminal, into a pipe or into a file.
///
/// What stands in the source is written as it stands. What is put into it comes from payloads, models, databases and
/// arguments: it stays on its line, what a terminal would obey is made visible, and of what is very long the beginning is
/// shown and the size of the rest.
///
///     let text: VisibleText = "no attribute '\(name)'"    // no attribute 'a\u001b[2J'
struct VisibleText: ExpressibleByStringInterpolation, Hashable, Sendable {
    /// How many characters of a value are shown, where nothing else is said.
    static let limit = 500
    /// What it takes to say how much is left out. No less is left out.
    private static let noteWidth = 18

    private(set) var text: String

    init(stringLiteral literal: String) { text = literal }

    init(stringInterpolation: StringInterpolation) { text = stringInterpolation.text }

    /// A value from outside, of at most so many characters and a note of the rest.
    init(_ value: String, upTo limit: Int = Self.limit) {
        text = Self.shown(value.unicodeScalars[...], upTo: limit, keeping: [])
    }

    /// Lines from outside, such as help or JSON, which stay JSON. Their breaks and tabs are kept, and their length too if
    /// no limit is given.
    init(lines: String, upTo limit: Int? = nil) {
        let lines = lines.unicodeScalars.split(separator: "\n", omittingEmptySubsequences: false)
        text = lines.map { Self.shown($0, upTo: limit ?? .max / 2, keeping: ["\t"]) }.joined(separator: "\n")
    }

    /// Text that was made of visible text alone, as cells are lined up.
    init(madeOfVisible text: String) { self.text = text }

    var isEmpty: Bool { text.isEmpty }

    static func + (left: VisibleText, right: VisibleText) -> VisibleText {
        VisibleText(madeOfVisible: left.text + right.text)
    }

    struct StringInterpolation: StringInterpolationProtocol {
        fileprivate var text = ""

        init(literalCapacity: Int, interpolationCount: Int) { text.reserveCapacity(literalCapacity) }

        mutating func appendLiteral(_ literal: String) { text += literal }

        mutating func appendInterpolation(_ value: VisibleText) { text += value.text }

        mutating func appendInterpolation(_ value: some CustomStringConvertible, upTo limit: Int = VisibleText.limit) {
            text += VisibleText(value.description, upTo: limit).text
        }
    }

    /// Looks no further than what is shown, however long the text is.
    private static func shown(
        _ text: Substring.UnicodeScalarView, upTo limit: Int, keeping kept: Set<Unicode.Scalar>
    ) -> String {
        var shown = ""
        var width = 0
        /// Where it is cut if it turns out to be too long: so much is shown, from there on it is not.
        var cut = (length: 0, place: text.startIndex)
        var place = text.startIndex
        var previous: Unicode.Scalar?
        while place < text.endIndex {
            let scalar = text[place]
            let escape = scalar.needsEscape(after: previous) && !kept.contains(scalar) ? scalar.escape : nil
            previous = scalar
            width += escape?.utf8.count ?? 1
            guard width <= limit + noteWidth else {
                let rest = Substring(text[cut.place...]).utf8.count
                return String(decoding: shown.utf8.prefix(cut.length), as: UTF8.self)
                    + "… (\(ByteAmount.text(rest)) more)"
            }
            if let escape { shown += escape } else { shown.unicodeScalars.append(scalar) }
            place = text.index(after: place)
            if width < limit { cut = (shown.utf8.count, place) }
        }
        return shown
    }
}

extension Sequence<VisibleText> {
    func joined(separator: VisibleText) -> VisibleText {
        VisibleText(madeOfVisible: map(\.text).joined(separator: separator.text))
    }
}
