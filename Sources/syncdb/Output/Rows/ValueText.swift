import Foundation
import Sync

/// Values of rows as text, from SQLite's bytes to the output's: what they are, as ``StoredValue/text`` says it.
enum ValueText {
    /// Appends the value, if there is one.
    ///
    /// - Returns: Whether there is. What is none of the type, written by other programs, is none.
    static func append(_ row: RowCursor, _ column: Int, _ type: AttributeType, to out: inout [UInt8]) -> Bool {
        switch (type, row.storage(column)) {
        case (_, .null): return false
        case (.integer, .integer): append(row.integer(column), to: &out)
        case (.boolean, .integer): out += (row.integer(column) == 0 ? "false" : "true").utf8
        case (.double, .integer): return append(Double(row.integer(column)), to: &out)
        case (.double, .real): return append(row.real(column), to: &out)
        case (.string, .text), (.url, .text): append(repaired: row.text(column), to: &out)
        case (.date, .text) where appendDate(row.text(column), to: &out): break
        case (.integer, _), (.boolean, _), (.double, _): return false
        default:
            let value = row.value(column, as: type)
            guard !value.isNull else { return false }
            out += value.text.utf8
        }
        return true
    }

    static func append(_ value: Int64, to out: inout [UInt8]) {
        if value < 0 { out.append(.minus) }
        var rest = value.magnitude
        let start = out.count
        repeat {
            out.append(.digit0 + UInt8(truncatingIfNeeded: rest % 10))
            rest /= 10
        } while rest > 0
        out[start...].reverse()
    }

    private static func append(_ value: Double, to out: inout [UInt8]) -> Bool {
        guard value.isFinite else { return false }
        out += "\(value)".utf8
        return true
    }

    /// Appends text; what is no UTF-8 becomes the character for that.
    static func append(repaired text: UnsafeBufferPointer<UInt8>, to out: inout [UInt8]) {
        if isASCII(text) {
            out.append(contentsOf: text)
        } else {
            out += String(decoding: text, as: UTF8.self).utf8
        }
    }

    /// Eight bytes at a time: most text is.
    static func isASCII(_ text: UnsafeBufferPointer<UInt8>) -> Bool {
        let bytes = UnsafeRawBufferPointer(text)
        var index = 0
        while index + 8 <= bytes.count {
            if bytes.loadUnaligned(fromByteOffset: index, as: UInt64.self) & 0x8080_8080_8080_8080 != 0 { return false }
            index += 8
        }
        return bytes[index...].allSatisfy { $0 < 0x80 }
    }

    /// Appends a date in the form that stores keep, `2024-02-29 18:29:59.999`, as ISO 8601.
    ///
    /// - Returns: Whether it is in that form. Days after the 28th are left to those who know the calendar.
    private static func appendDate(_ text: UnsafeBufferPointer<UInt8>, to out: inout [UInt8]) -> Bool {
        guard text.count == 23, text[4] == .minus, text[7] == .minus, text[10] == .blank, text[13] == .colon,
            text[16] == .colon, text[19] == .point
        else { return false }
        for place in digits where text[place] &- .digit0 >= 10 { return false }
        func two(_ place: Int) -> Int { Int(text[place] - .digit0) * 10 + Int(text[place + 1] - .digit0) }
        guard two(0) + two(2) > 0, 1...12 ~= two(5), 1...28 ~= two(8), two(11) < 24, two(14) < 60, two(17) < 60 else {
            return false
        }
        let isWholeSecond = text[20] == .digit0 && text[21] == .digit0 && text[22] == .digit0
        let start = out.count
        out.append(contentsOf: UnsafeBufferPointer(rebasing: text[..<(isWholeSecond ? 19 : 23)]))
        out[start + 10] = UInt8(ascii: "T")
        out.append(UInt8(ascii: "Z"))
        return true
    }

    private static let digits = [0, 1, 2, 3, 5, 6, 8, 9, 11, 12, 14, 15, 17, 18, 20, 21, 22]
}
