/// A lexer that splits the text of a condition into tokens.
struct PredicateLexer {
    private let bytes: [UInt8]
    private var position = 0
    private var line = 1
    private var lineStart = 0

    private static let symbols = [
        "==", "!=", "<=", ">=", "<>", "&&", "||", "=", "<", ">", "!", "(", ")", "{", "}", "[", "]", ",", ".", "+", "-",
        "*",
        "/",
    ].map { (text: $0, bytes: Array($0.utf8)) }

    private init(_ text: String) { bytes = Array(text.utf8) }

    static func tokens(of text: String) throws(SyncError) -> [PredicateToken] {
        var lexer = PredicateLexer(text)
        var tokens: [PredicateToken] = []
        while true {
            let token = try lexer.next()
            tokens.append(token)
            if token.kind == .end { return tokens }
        }
    }

    private var location: PredicateSourceLocation {
        PredicateSourceLocation(line: line, column: position - lineStart + 1)
    }

    private func byte(_ offset: Int = 0) -> UInt8? {
        position + offset < bytes.count ? bytes[position + offset] : nil
    }

    private mutating func next() throws(SyncError) -> PredicateToken {
        skipBlanks()
        let location = location
        return PredicateToken(kind: try kind(at: location), location: location)
    }

    private mutating func skipBlanks() {
        while let byte = byte(), [.blank, .tab, .newline, .carriageReturn].contains(byte) {
            position += 1
            if byte == .newline {
                line += 1
                lineStart = position
            }
        }
    }

    private mutating func kind(at location: PredicateSourceLocation) throws(SyncError) -> PredicateToken.Kind {
        guard let first = byte() else { return .end }
        if first.isDigit || (first == .minus && byte(1)?.isDigit == true) { return try number(at: location) }
        if first.startsWord { return .word(word()) }
        switch first {
        case .apostrophe, .quote: return .text(try quoted(by: first, at: location))
        case .percent: return try argument(at: location)
        case UInt8(ascii: "#"): return try escapedWord(at: location)
        case UInt8(ascii: "@") where byte(1)?.startsWord == true:
            position += 1
            return .collectionOperator("@" + word())
        default: break
        }
        for symbol in Self.symbols where bytes[position...].starts(with: symbol.bytes) {
            position += symbol.bytes.count
            return .symbol(symbol.text)
        }
        throw location.error("unexpected '\(Unicode.Scalar(first))'")
    }

    private mutating func word() -> String {
        let start = position
        while byte()?.continuesWord == true { position += 1 }
        return String(decoding: bytes[start..<position], as: UTF8.self)
    }

    private mutating func escapedWord(at location: PredicateSourceLocation) throws(SyncError) -> PredicateToken.Kind {
        position += 1
        if let quote = byte(), quote == .apostrophe || quote == .quote {
            return .escapedWord(try quoted(by: quote, at: location))
        }
        guard byte()?.startsWord == true else { throw location.error("expected a name after '#'") }
        return .escapedWord(word())
    }

    private mutating func argument(at location: PredicateSourceLocation) throws(SyncError) -> PredicateToken.Kind {
        defer { position += 2 }
        switch byte(1) {
        case UInt8(ascii: "@"): return .valueArgument
        case UInt8(ascii: "K"): return .pathArgument
        default: throw location.error("expected '%@' for a value or '%K' for a path")
        }
    }

    // MARK: Numbers and text

    private mutating func number(at location: PredicateSourceLocation) throws(SyncError) -> PredicateToken.Kind {
        let start = position
        position += 1
        digits()
        if byte() == .point, byte(1)?.isDigit == true {
            position += 1
            digits()
        }
        if let mark = byte(), mark == UInt8(ascii: "e") || mark == UInt8(ascii: "E") {
            let sign = byte(1) == .plus || byte(1) == .minus ? 1 : 0
            if byte(1 + sign)?.isDigit == true {
                position += 1 + sign
                digits()
            }
        }
        if byte()?.startsWord == true {
            throw location.error("a name cannot begin with a digit; if this is a string, quote it")
        }
        return .number(String(decoding: bytes[start..<position], as: UTF8.self))
    }

    private mutating func digits() {
        while byte()?.isDigit == true { position += 1 }
    }

    private mutating func quoted(by quote: UInt8, at location: PredicateSourceLocation) throws(SyncError) -> String {
        position += 1
        var content: [UInt8] = []
        while let byte = byte() {
            let here = self.location
            position += 1
            switch byte {
            case quote: return String(decoding: content, as: UTF8.self)
            case .backslash: content += try escape(at: here)
            case .newline:
                line += 1
                lineStart = position
                content.append(byte)
            default: content.append(byte)
            }
        }
        throw location.error(
            "expected a closing \(Unicode.Scalar(quote)) for the string that begins here, found the end")
    }

    /// Reads the rest of an escape, after its backslash, and returns the bytes of its character.
    private mutating func escape(at location: PredicateSourceLocation) throws(SyncError) -> [UInt8] {
        guard let mark = byte() else { throw location.error("expected a character after '\\', found the end") }
        position += 1
        switch mark {
        case .apostrophe, .quote, .backslash, .slash: return [mark]
        case UInt8(ascii: "n"): return [.newline]
        case UInt8(ascii: "r"): return [.carriageReturn]
        case UInt8(ascii: "t"): return [.tab]
        case UInt8(ascii: "u"): return try unicodeEscape(at: location)
        default: throw location.error("unknown escape sequence in a string; write '\\\\' for a backslash")
        }
    }

    private mutating func unicodeEscape(at location: PredicateSourceLocation) throws(SyncError) -> [UInt8] {
        var unit = try hexadecimal(at: location)
        if unit & 0xFC00 == 0xD800, byte() == .backslash, byte(1) == UInt8(ascii: "u") {
            position += 2
            let low = try hexadecimal(at: location)
            guard low & 0xFC00 == 0xDC00 else { throw location.error("unpaired high surrogate") }
            unit = 0x10000 + (unit & 0x3FF) << 10 + low & 0x3FF
        }
        guard let scalar = Unicode.Scalar(unit) else {
            throw location.error("unpaired low surrogate")
        }
        return Array(String(scalar).utf8)
    }

    private mutating func hexadecimal(at location: PredicateSourceLocation) throws(SyncError) -> UInt32 {
        let digits = bytes[position..<min(position + 4, bytes.count)]
        let isHexadecimal = digits.count == 4 && digits.allSatisfy { Unicode.Scalar($0).properties.isASCIIHexDigit }
        guard isHexadecimal, let unit = UInt32(String(decoding: digits, as: UTF8.self), radix: 16) else {
            throw location.error("expected four hexadecimal digits after '\\u'")
        }
        position += 4
        return unit
    }
}

extension UInt8 {
    /// Whether the byte is a letter, an underscore, or part of a character beyond ASCII.
    fileprivate var startsWord: Bool {
        self >= 0x80 || self == .underscore || UInt8(ascii: "a")...UInt8(ascii: "z") ~= self | .caseBit
    }

    fileprivate var continuesWord: Bool { startsWord || isDigit }
}

/// A token of the text of a condition.
struct PredicateToken: Equatable {
    enum Kind: Equatable {
        case word(String)
        /// An escaped name, which may be a keyword or contain any character: `#any`, `#'first name'`.
        case escapedWord(String)
        /// A collection operator, with its `@`: `@count`.
        case collectionOperator(String)
        case number(String)
        case text(String)
        case symbol(String)
        /// `%@`
        case valueArgument
        /// `%K`
        case pathArgument
        case end
    }

    let kind: Kind
    let location: PredicateSourceLocation

    /// The words that cannot be the first name of a path, unless they are escaped: `#any`.
    static let reserved: Set<String> = [
        "AND", "OR", "NOT", "ANY", "SOME", "ALL", "NONE", "TRUEPREDICATE", "FALSEPREDICATE", "IN", "BETWEEN",
        "CONTAINS", "BEGINSWITH", "ENDSWITH", "LIKE", "MATCHES",
    ]

    /// The word in upper case, for comparison with keywords; nil for other tokens.
    var keyword: String? {
        if case .word(let word) = kind { word.uppercased() } else { nil }
    }

    var symbol: String? {
        if case .symbol(let symbol) = kind { symbol } else { nil }
    }

    var isReserved: Bool { keyword.map(Self.reserved.contains) ?? false }

    func isSymbol(_ symbol: String) -> Bool { kind == .symbol(symbol) }

    /// The description of the token in messages, such as `the number 5`.
    var found: String {
        switch kind {
        case .word(let word): "'\(word)'"
        case .escapedWord(let word): "'#\(word)'"
        case .collectionOperator(let name): "'\(name)'"
        case .number(let text): "the number \(text)"
        case .text: "a string"
        case .symbol(let symbol): "'\(symbol)'"
        case .valueArgument: "'%@'"
        case .pathArgument: "'%K'"
        case .end: "the end"
        }
    }
}
