/// Conversion of numbers from and to decimal text.
package enum NumberText {
    /// A decimal number: `digits` without leading or trailing zeros, times ten to the `exponent`.
    package struct Parts {
        var isNegative = false
        package var digits: [UInt8] = []
        var exponent = 0
    }

    private static let maximumExponent = 1_000_000

    /// Returns whether a text is a number in the syntax of JSON.
    static func isNumber(_ text: String) -> Bool {
        text.utf8.withContiguousStorageIfAvailable(isNumber) ?? Array(text.utf8).withUnsafeBufferPointer(isNumber)
    }

    private static func isNumber(_ text: UnsafeBufferPointer<UInt8>) -> Bool {
        var index = 0
        func skip(_ byte: UInt8) -> Bool {
            guard index < text.count, text[index] == byte else { return false }
            index += 1
            return true
        }
        func skipDigits() -> Int {
            let start = index
            while index < text.count, text[index].isDigit { index += 1 }
            return index - start
        }
        _ = skip(.minus)
        let beginsWithZero = index < text.count && text[index] == .digit0
        let count = skipDigits()
        guard count > 0, count == 1 || !beginsWithZero else { return false }
        if skip(.point), skipDigits() == 0 { return false }
        if skip(UInt8(ascii: "e")) || skip(UInt8(ascii: "E")) {
            if !skip(.minus) { _ = skip(.plus) }
            guard skipDigits() > 0 else { return false }
        }
        return index == text.count
    }

    /// Parses a number. Services send numbers as strings, so `+`, leading zeros, `.5` and `5.` are accepted too.
    ///
    /// Returns nil if the text is not a number. Also returns nil if a number other than zero has an exponent beyond
    /// ±1,000,000 and `clampsExponent` is false.
    package static func parts(_ text: UnsafeBufferPointer<UInt8>, clampsExponent: Bool = false) -> Parts? {
        var parts = Parts()
        var index = 0
        if index < text.count, text[index] == .minus || text[index] == .plus {
            parts.isNegative = text[index] == .minus
            index += 1
        }
        var sawDigit = false
        var sawPoint = false
        scan: while index < text.count {
            switch text[index] {
            case .digit0 ... .digit9:
                sawDigit = true
                if sawPoint { parts.exponent -= 1 }
                if text[index] != .digit0 || !parts.digits.isEmpty { parts.digits.append(text[index]) }
            case .point where !sawPoint: sawPoint = true
            default: break scan
            }
            index += 1
        }
        guard sawDigit else { return nil }
        if index < text.count {
            guard text[index] | .caseBit == UInt8(ascii: "e"), let exponent = exponent(text, from: index + 1) else {
                return nil
            }
            // The exponent of zero has no effect, so it may have any size.
            if abs(exponent) > maximumExponent, !parts.digits.isEmpty, !clampsExponent { return nil }
            parts.exponent += exponent
        }
        while parts.digits.last == .digit0 {
            parts.digits.removeLast()
            parts.exponent += 1
        }
        if parts.digits.isEmpty { parts = Parts() }
        return parts
    }

    private static func exponent(_ text: UnsafeBufferPointer<UInt8>, from start: Int) -> Int? {
        var index = start
        var isNegative = false
        if index < text.count, text[index] == .minus || text[index] == .plus {
            isNegative = text[index] == .minus
            index += 1
        }
        guard index < text.count else { return nil }
        var value = 0
        while index < text.count {
            guard text[index].isDigit else { return nil }
            value = min(value * 10 + Int(text[index] - .digit0), maximumExponent + 1)
            index += 1
        }
        return isNegative ? -value : value
    }

    /// Parses an integer; nil if the text is not a number, has a fraction, or exceeds 64 bits.
    package static func integer(_ text: UnsafeBufferPointer<UInt8>) -> Int64? {
        if text.count <= 18, let quick = plainInteger(text) { return quick }
        guard let parts = parts(text), parts.exponent >= 0, parts.digits.count + parts.exponent <= 19 else {
            return nil
        }
        var value: Int64 = 0
        for index in 0..<parts.digits.count + parts.exponent {
            let digit = index < parts.digits.count ? Int64(parts.digits[index] - .digit0) : 0
            let (product, overflow) = value.multipliedReportingOverflow(by: 10)
            let (sum, beyond) = product.subtractingReportingOverflow(digit)
            if overflow || beyond { return nil }
            value = sum
        }
        if parts.isNegative { return value }
        return value == .min ? nil : -value
    }

    @inline(__always)
    private static func plainInteger(_ text: UnsafeBufferPointer<UInt8>) -> Int64? {
        var index = 0
        let isNegative = text.first == .minus
        if isNegative { index = 1 }
        guard index < text.count else { return nil }
        var value: Int64 = 0
        while index < text.count {
            let digit = text[index] &- .digit0
            if digit > 9 { return nil }
            value = value &* 10 &+ Int64(digit)
            index += 1
        }
        return isNegative ? 0 &- value : value
    }

    /// Parses a number and returns the nearest double; nil if the text is not a number, or exceeds the range of
    /// doubles.
    package static func double(_ text: UnsafeBufferPointer<UInt8>) -> Double? {
        if let quick = plainDouble(text) { return quick }
        guard parts(text, clampsExponent: true) != nil, let value = Double(Substring(decoding: text, as: UTF8.self)),
            value.isFinite
        else {
            return nil
        }
        return value
    }

    /// Parses most short numbers without an exponent; nil for any other text. A double is exact for an integer below
    /// 2⁵³ and for a power of ten up to 10²², so one division rounds correctly.
    @inline(__always)
    private static func plainDouble(_ text: UnsafeBufferPointer<UInt8>) -> Double? {
        guard text.count <= 16 else { return nil }
        var index = 0
        let isNegative = text.first == .minus
        if isNegative { index = 1 }
        guard index < text.count else { return nil }
        var value: UInt64 = 0
        var fraction = -1
        while index < text.count {
            let byte = text[index]
            if byte.isDigit {
                value = value &* 10 &+ UInt64(byte &- .digit0)
                if fraction >= 0 { fraction += 1 }
            } else if byte == .point, fraction < 0, index > 0, index + 1 < text.count {
                fraction = 0
            } else {
                return nil
            }
            index += 1
        }
        guard value < 1 << 53 else { return nil }
        let magnitude = fraction > 0 ? Double(value) / powers[fraction] : Double(value)
        return isNegative ? -magnitude : magnitude
    }

    private static let powers: [Double] = [
        1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16,
    ]

    /// Appends the exact text of a number without unnecessary zeros: `7.5` for `7.50`, `100` for `1e2`. An exponent
    /// beyond ±400 is written as an exponent. Returns false if ``parts(_:clampsExponent:)`` cannot parse the text.
    package static func appendExact(_ text: UnsafeBufferPointer<UInt8>, to out: inout [UInt8]) -> Bool {
        guard let parts = parts(text) else { return false }
        append(parts, to: &out)
        return true
    }

    static func append(_ parts: Parts, to out: inout [UInt8]) {
        if parts.digits.isEmpty { return out.append(.digit0) }
        if parts.isNegative { out.append(.minus) }
        if abs(parts.exponent) > 400 {
            out += parts.digits
            out += "e\(parts.exponent)".utf8
        } else if parts.exponent >= 0 {
            out += parts.digits
            out += repeatElement(.digit0, count: parts.exponent)
        } else {
            let whole = parts.digits.count + parts.exponent
            if whole > 0 {
                out += parts.digits[..<whole]
            } else {
                out.append(.digit0)
            }
            out.append(.point)
            if whole < 0 { out += repeatElement(.digit0, count: -whole) }
            out += parts.digits[max(whole, 0)...]
        }
    }
}

/// The canonical text of a decimal: no exponent, no unnecessary zeros. Equal values have equal text.
package enum DecimalText {
    /// The largest number of digits of a decimal.
    package static let maximumDigits = 38

    /// Appends the canonical text of a number. Returns false if the text is not a number, has more than 38 digits, or
    /// has an exponent beyond ±127.
    package static func append(_ text: UnsafeBufferPointer<UInt8>, to out: inout [UInt8]) -> Bool {
        guard let parts = NumberText.parts(text), parts.digits.count <= maximumDigits, abs(parts.exponent) <= 127 else {
            return false
        }
        NumberText.append(parts, to: &out)
        return true
    }
}

// MARK: - Int64+Clamped

extension Int64 {
    /// Returns the sum, clamped to the range of `Int64`. Use it for numbers from files, which may be of any size.
    package func clampedAdding(_ other: Int64) -> Int64 {
        let (sum, overflows) = addingReportingOverflow(other)
        return overflows ? (other < 0 ? .min : .max) : sum
    }

    /// Returns the difference, clamped to the range of `Int64`. Use it for numbers from files, which may be of any
    /// size.
    package func clampedSubtracting(_ other: Int64) -> Int64 {
        let (difference, overflows) = subtractingReportingOverflow(other)
        return overflows ? (other < 0 ? .max : .min) : difference
    }
}
