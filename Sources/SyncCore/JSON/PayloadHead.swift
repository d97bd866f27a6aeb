import Foundation

/// The beginning of a payload, to tell what it is where it cannot be read.
package struct PayloadHead: Sendable {
    /// So much is looked at, in bytes.
    package static let size = 1 << 16

    private let bytes: ArraySlice<UInt8>
    private let isWhole: Bool

    /// - Parameter isWhole: Whether it is all there is, if it is no longer than what is looked at.
    package init(_ bytes: some Collection<UInt8>, isWhole: Bool = true) {
        let mark: [UInt8] = [0xEF, 0xBB, 0xBF]
        let start = Array(bytes.prefix(Self.size))
        self.isWhole = isWhole && bytes.count <= Self.size
        self.bytes = (start.starts(with: mark) ? start.dropFirst(3) : start[...]).drop(while: Self.isBlank)
    }

    private static func isBlank(_ byte: UInt8) -> Bool { [.blank, .tab, .newline, .carriageReturn].contains(byte) }

    /// What it seems to be, if that is not one JSON text.
    package var likelyForm: LikelyForm? {
        guard let first = bytes.first else { return nil }
        switch first {
        case UInt8(ascii: "<"): return markup
        case UInt8(ascii: "{"), UInt8(ascii: "["): return areJSONLines ? .ndjson : nil
        default: return isYAML ? .yaml : isCSV ? .csv : nil
        }
    }

    // MARK: Text

    private var markup: LikelyForm? {
        let text = String(decoding: bytes.prefix(4096), as: UTF8.self).lowercased()
        if ["<!doctype html", "<html", "<head", "<body"].contains(where: text.contains) { return .html }
        guard let second = text.unicodeScalars.dropFirst().first else { return nil }
        return "?!".unicodeScalars.contains(second) || second.properties.isAlphabetic ? .xml : nil
    }

    /// The lines that are whole and not empty.
    private var lines: [ArraySlice<UInt8>] {
        var lines = bytes.split(separator: .newline, omittingEmptySubsequences: false)
        if !isWhole { lines.removeLast() }
        return lines.filter { !$0.allSatisfy(Self.isBlank) }
    }

    /// Whether the first two lines are objects.
    private var areJSONLines: Bool {
        let lines = lines.prefix(2)
        return lines.count == 2
            && lines.allSatisfy {
                if case .object? = try? JSONValue(parsing: Data($0)) { return true }
                return false
            }
    }

    /// Whether it begins as YAML does, or its first lines are keys with values, or elements.
    private var isYAML: Bool {
        let lines = self.lines.prefix(20).map { String(decoding: $0, as: UTF8.self) }.filter { !$0.hasPrefix("#") }
        guard let first = lines.first, lines.count > 1 else { return false }
        if first.hasPrefix("%YAML") || first.trimmed == "---" { return true }
        return lines.prefix(3).allSatisfy { line in
            let line = line.trimmed
            if line.hasPrefix("- ") || line == "-" { return true }
            let key = line.prefix { $0.isLetter || $0.isNumber || $0 == "_" || $0 == "-" }
            let rest = line.dropFirst(key.count)
            return !key.isEmpty && (rest == ":" || rest.hasPrefix(": "))
        }
    }

    /// Whether the first lines have as many columns, more than one.
    private var isCSV: Bool {
        let lines = lines.prefix(5)
        guard lines.count > 1 else { return false }
        return [UInt8(ascii: ","), UInt8(ascii: ";"), .tab].contains { separator in
            let counts = Set(lines.map { Self.count(of: separator, in: $0) })
            return counts.count == 1 && !counts.contains(0)
        }
    }

    private static func count(of separator: UInt8, in line: ArraySlice<UInt8>) -> Int {
        var isQuoted = false
        var count = 0
        for byte in line {
            if byte == .quote { isQuoted.toggle() }
            if byte == separator, !isQuoted { count += 1 }
        }
        return count
    }

    // MARK: JSON

    /// The JSON value that it is, or the beginning of; nil if it is none.
    package var value: JSONValue? {
        if isWhole { return try? JSONValue(parsing: Data(bytes)) }
        return closed.flatMap { try? JSONValue(parsing: Data($0)) }
    }

    /// What is there, up to the last comma, with whatever is open closed.
    private var closed: [UInt8]? {
        var open: [UInt8] = []
        var isText = false
        var isEscaped = false
        var end: (place: Int, open: [UInt8])?
        for (place, byte) in zip(bytes.indices, bytes) {
            if isText {
                if byte == .quote, !isEscaped { isText = false }
                isEscaped = byte == .backslash && !isEscaped
                continue
            }
            switch byte {
            case .quote: isText = true
            case UInt8(ascii: "{"): open.append(UInt8(ascii: "}"))
            case UInt8(ascii: "["): open.append(UInt8(ascii: "]"))
            case UInt8(ascii: "}"), UInt8(ascii: "]"): _ = open.popLast()
            case UInt8(ascii: ","): end = (place, open)
            default: break
            }
        }
        return end.map { Array(bytes[..<$0.place]) + $0.open.reversed() }
    }
}

extension String {
    fileprivate var trimmed: String { trimmingCharacters(in: .whitespaces) }
}
