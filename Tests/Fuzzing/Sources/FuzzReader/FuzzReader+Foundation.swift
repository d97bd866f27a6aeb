import Foundation
import FuzzSupport
import SyncCore

/// Requires that `JSONSerialization` accepts the same documents as the reader, with the exceptions below.
extension FuzzReader {
    static func requireAgreementOfFoundation(
        on input: UnsafeBufferPointer<UInt8>, with reading: Result<JSONValue, SyncError>
    ) {
        let theirs = try? JSONSerialization.jsonObject(with: Data(buffer: input), options: .fragmentsAllowed)
        switch (reading, theirs) {
        case (.failure, nil): return
        case (.success(let value), nil): require(hasHugeNumber(value), "Foundation refuses it")
        case (.failure(let error), _?):
            require(isOtherEncoding(input) || isTrailingComma(error, input), "Foundation reads it; \(error)")
        case (.success(let value), let theirs?):
            if !hasInnerByteOrderMark(input) { requireEqual(value, theirs) }
        }
    }

    /// JSON numbers are unlimited. Foundation's must fit a double.
    private static func hasHugeNumber(_ value: JSONValue) -> Bool {
        switch value {
        case .number(let text): Double(text).map { !$0.isFinite } ?? true
        case .array(let elements): elements.contains(where: hasHugeNumber)
        case .object(let members): members.contains { hasHugeNumber($0.value) }
        default: false
        }
    }

    /// Foundation reads UTF-16 and UTF-32 too.
    private static func isOtherEncoding(_ input: UnsafeBufferPointer<UInt8>) -> Bool {
        input.contains(0) || input.starts(with: [0xFF, 0xFE]) || input.starts(with: [0xFE, 0xFF])
    }

    /// Foundation loses a U+FEFF that follows an escape.
    private static func hasInnerByteOrderMark(_ input: UnsafeBufferPointer<UInt8>) -> Bool {
        input.dropFirst().contains([0xEF, 0xBB, 0xBF])
    }

    /// Foundation lets a comma stand before a closing bracket.
    private static func isTrailingComma(_ error: SyncError, _ input: UnsafeBufferPointer<UInt8>) -> Bool {
        guard let line = error.line, let column = error.column else { return false }
        let lines = input.split(separator: 0x0A, omittingEmptySubsequences: false)
        let position = lines[line - 1].startIndex + column - 1
        guard position < input.count, [0x5D, 0x7D].contains(input[position]) else { return false }
        let blanks: [UInt8] = [0x20, 0x09, 0x0A, 0x0D]
        return input[..<position].last { !blanks.contains($0) } == 0x2C
    }

    private static func requireEqual(_ value: JSONValue, _ theirs: Any) {
        switch value {
        case .null: require(theirs is NSNull, "null is \(theirs)")
        case .bool(let flag): require(theirs as? Bool == flag, "\(flag) is \(theirs)")
        case .number(let text):
            guard let number = (theirs as? NSNumber)?.doubleValue, let ours = Double(text) else {
                fail("\(text) is \(theirs)")
            }
            // Foundation rounds numbers with many digits.
            require(ours == number || abs(ours - number) <= abs(ours) * 1e-12, "\(text) is \(number)")
        case .string(let text):
            guard let string = theirs as? String else { fail("a string is \(theirs)") }
            require(string.utf8.elementsEqual(text.utf8), "\(text.debugDescription) is \(string.debugDescription)")
        case .array(let elements):
            guard let array = theirs as? [Any] else { fail("an array is \(theirs)") }
            require(array.count == elements.count, "\(elements.count) elements are \(array.count)")
            for (element, other) in zip(elements, array) { requireEqual(element, other) }
        case .object(let members):
            guard let dictionary = theirs as? [String: Any] else { fail("an object is \(theirs)") }
            // A dictionary merges keys that are canonically equivalent, and does not keep the value of the last one.
            let count = Dictionary(members.map { ($0.key, 1) }, uniquingKeysWith: +)
            require(dictionary.count == count.count, "\(count.count) keys are \(dictionary.count)")
            for member in members where count[member.key] == 1 {
                guard let other = dictionary[member.key] else { fail("no \(member.key.debugDescription)") }
                requireEqual(member.value, other)
            }
        }
    }
}
