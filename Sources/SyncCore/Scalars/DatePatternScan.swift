/// A parser of date patterns. It rejects a pattern with which a text could be read in two ways.
struct DatePatternScan {
    private let text: [Character]
    private var position = 0
    private var found: [DatePattern.Field] = []
    private var literal: [UInt8] = []

    init(_ pattern: String) { text = Array(pattern) }

    mutating func fields() throws(DatePattern.Problem) -> [DatePattern.Field] {
        while position < text.count {
            let character = text[position]
            if character == "'" {
                try readQuoted()
            } else if character.isASCII, character.isLetter {
                var end = position
                while end < text.count, text[end] == character { end += 1 }
                let count = end - position
                endLiteral()
                found.append(try field(character, count))
                position = end
            } else {
                literal += String(character).utf8
                position += 1
            }
        }
        endLiteral()
        return found
    }

    /// Reads quoted text. Two apostrophes are one literal apostrophe, inside quoted text and outside.
    private mutating func readQuoted() throws(DatePattern.Problem) {
        position += 1
        guard position < text.count else { throw Self.problem("unterminated quoted text") }
        if text[position] == "'" {
            literal.append(.apostrophe)
            position += 1
            return
        }
        while true {
            guard position < text.count else { throw Self.problem("unterminated quoted text") }
            if text[position] == "'" {
                position += 1
                guard position < text.count, text[position] == "'" else { return }
            }
            literal += String(text[position]).utf8
            position += 1
        }
    }

    private mutating func endLiteral() {
        if !literal.isEmpty { found.append(.literal(literal)) }
        literal = []
    }

    private func field(_ letter: Character, _ count: Int) throws(DatePattern.Problem) -> DatePattern.Field {
        switch (letter, count) {
        case ("y", 1), ("y", 2), ("y", 4): return .year(digits: count)
        case ("M", 1...2): return .month(digits: count)
        case ("M", 3...4): return .monthName(isShort: count == 3)
        case ("d", 1...2): return .day(digits: count)
        case ("E", 1...4): return .weekday(isShort: count < 4)
        case ("H", 1...2): return .hour(digits: count)
        case ("h", 1...2): return .halfDayHour(digits: count)
        case ("a", 1): return .dayPeriod
        case ("m", 1...2): return .minute(digits: count)
        case ("s", 1...2): return .second(digits: count)
        case ("S", 1...9): return .fraction(digits: count)
        case ("X", 1...3), ("Z", 5): return .zone(.letter)
        case ("x", 1): return .zone(.hours)
        case ("x", 2), ("Z", 1...3): return .zone(.digits)
        case ("x", 3): return .zone(.colon)
        case ("z", 1): return .zone(.name)
        default:
            let known =
                "y yy yyyy M MM MMM MMMM d dd E EEEE H HH h hh a m mm s ss S…SSSSSSSSS X XX XXX x xx xxx Z ZZZZZ z"
            throw Self.problem("unknown field '\(String(repeating: letter, count: count))'; use one of \(known)")
        }
    }

    /// Checks that the fields define a date, and can be parsed.
    static func check(_ fields: [DatePattern.Field]) throws(DatePattern.Problem) {
        var kinds: Set<DatePattern.Field.Kind> = []
        for field in fields where field.kind != .literal {
            guard kinds.insert(field.kind).inserted else { throw problem("the \(field.kind) occurs twice") }
        }
        guard kinds.contains(.year) else { throw problem("the year is missing") }
        let isHalf = fields.contains { if case .halfDayHour = $0 { true } else { false } }
        guard isHalf == kinds.contains(.dayPeriod) else {
            throw problem("12-hour hours ('h') and AM/PM ('a') must be used together")
        }
        let order: [DatePattern.Field.Kind] = [.month, .day, .hour, .minute, .second, .fraction]
        for (larger, smaller) in zip(order, order.dropFirst()) where kinds.contains(smaller) && !kinds.contains(larger)
        {
            throw problem("the \(smaller) requires the \(larger)")
        }
        for (field, next) in zip(fields, fields.dropFirst()) where field.digits == 0 && next.digits != nil {
            throw problem("digits follow a \(field.kind) of variable length; use a fixed length such as 'dd'")
        }
    }

    private static func problem(_ message: String) -> DatePattern.Problem { DatePattern.Problem(message: message) }
}
