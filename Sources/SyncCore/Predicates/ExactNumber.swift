/// A decimal number of any length, read from text and compared without rounding.
package struct ExactNumber: Sendable, Hashable {
    /// The value is `0.` followed by the digits, times ten to this power.
    private let exponent: Int
    /// As bytes 0 to 9, without zeros at either end; none for zero.
    private let digits: [UInt8]
    private let isNegative: Bool

    private static let largestExponent = 1_000_000

    /// Reads `-12`, `7.50` or `1e3`; nil for any other text.
    package init?(_ text: String) {
        var rest = Array(text.utf8)[...]
        let sign = rest.first
        if sign == .minus || sign == .plus { rest.removeFirst() }
        let whole = rest.prefix { $0.isDigit }
        rest = rest.dropFirst(whole.count)
        var fraction: ArraySlice<UInt8> = []
        if rest.first == .point {
            fraction = rest.dropFirst().prefix { $0.isDigit }
            if fraction.isEmpty { return nil }
            rest = rest.dropFirst(fraction.count + 1)
        }
        var power = 0
        if let mark = rest.popFirst() {
            guard mark | .caseBit == UInt8(ascii: "e"), let parsed = Int(String(decoding: rest, as: UTF8.self)),
                abs(parsed) <= Self.largestExponent
            else { return nil }
            power = parsed
        }
        if whole.isEmpty { return nil }
        let all = (whole + fraction).map { $0 - .digit0 }
        let leading = all.prefix { $0 == 0 }.count
        digits = Array(all[leading...].reversed().drop { $0 == 0 }.reversed())
        exponent = digits.isEmpty ? 0 : whole.count - leading + power
        isNegative = sign == .minus && !digits.isEmpty
    }

    package var isWhole: Bool { digits.count <= exponent || digits.isEmpty }

    /// Its shortest form without exponent: `7.5`; nil if that were longer than a thousand digits.
    package var text: String? {
        guard abs(exponent) + digits.count <= 1000 else { return nil }
        let whole = digits.prefix(max(0, exponent)) + Array(repeating: 0, count: max(0, exponent - digits.count))
        let fraction = Array(repeating: 0, count: max(0, -exponent)) + digits.dropFirst(max(0, exponent))
        let text = String(decoding: (whole.isEmpty ? [0] : whole).map { $0 + .digit0 }, as: UTF8.self)
        let decimals = String(decoding: fraction.map { $0 + .digit0 }, as: UTF8.self)
        return (isNegative ? "-" : "") + text + (digits.isEmpty || decimals.isEmpty ? "" : "." + decimals)
    }

    /// The integer it is; nil if it has a fraction or does not fit in 64 bits.
    package var integer: Int64? { isWhole && exponent <= 19 ? text.flatMap { Int64($0) } : nil }

    /// The largest integer not above it; nil beyond 64 bits.
    package var floor: Int64? {
        if isWhole { return integer }
        guard exponent <= 19 else { return nil }
        let whole = Int64(
            String(decoding: [UInt8.digit0] + digits.prefix(max(0, exponent)).map { $0 + .digit0 }, as: UTF8.self))
        guard let whole else { return nil }
        return isNegative ? -whole - 1 : whole
    }

    package var isBelowZero: Bool { isNegative }

    /// How many digits it has before the point; zero or less for fractions.
    package var wholeDigits: Int { exponent }
}

extension ExactNumber: Comparable {
    package static func < (left: ExactNumber, right: ExactNumber) -> Bool {
        if left.isNegative != right.isNegative { return left.isNegative }
        return left.isNegative ? right.isSmaller(than: left) : left.isSmaller(than: right)
    }

    /// Compares without the signs.
    private func isSmaller(than other: ExactNumber) -> Bool {
        if digits.isEmpty || other.digits.isEmpty { return digits.isEmpty && !other.digits.isEmpty }
        if exponent != other.exponent { return exponent < other.exponent }
        return digits.lexicographicallyPrecedes(other.digits)
    }
}
