import Foundation

/// Lays values that are not bytes out as a tape, their texts appended to a buffer that stands in for the payload.
package enum JSONTapeBuilder {
    private static let maximumDepth = 512

    /// - Throws: ``SyncError`` `nestingTooDeep`, `valueDoesNotFit` for a number that is not JSON.
    package static func append(
        _ value: JSONValue, to tape: inout JSONTape, bytes: inout [UInt8], depth: Int = 0
    ) throws {
        try checkDepth(depth)
        let token = tape.tokens.count
        switch value {
        case .null: add(.null, &tape)
        case .bool(let bool): add(bool ? .true_ : .false_, &tape)
        case .number(let number):
            guard NumberText.isNumber(number) else {
                throw SyncError(.valueDoesNotFit, "a number is expected, found '\(number.prefix(50))'")
            }
            add(.number, number, &tape, &bytes)
        case .string(let string): add(.string, string, &tape, &bytes)
        case .array(let elements):
            add(.array, &tape)
            for element in elements { try append(element, to: &tape, bytes: &bytes, depth: depth + 1) }
            close(token, count: elements.count, &tape)
        case .object(let members):
            add(.object, &tape)
            for member in members {
                add(.string, member.key, &tape, &bytes)
                try append(member.value, to: &tape, bytes: &bytes, depth: depth + 1)
            }
            close(token, count: members.count, &tape)
        }
    }

    /// Lays out what `JSONSerialization` gives, and the Swift values people put beside it.
    ///
    /// - Throws: ``SyncError`` `valueDoesNotFit` with the path of a value that has no JSON form.
    package static func append(
        any value: Any, to tape: inout JSONTape, bytes: inout [UInt8], path: String, depth: Int = 0
    ) throws {
        try checkDepth(depth)
        let token = tape.tokens.count
        switch value {
        case let string as String: add(.string, string, &tape, &bytes)
        case let members as [String: Any]:
            add(.object, &tape)
            for key in members.keys.sorted() {
                guard let member = members[key] else { continue }
                add(.string, key, &tape, &bytes)
                try append(any: member, to: &tape, bytes: &bytes, path: "\(path).\(key)", depth: depth + 1)
            }
            close(token, count: members.count, &tape)
        case let elements as [Any]:
            add(.array, &tape)
            for (index, element) in elements.enumerated() {
                try append(any: element, to: &tape, bytes: &bytes, path: "\(path)[\(index)]", depth: depth + 1)
            }
            close(token, count: elements.count, &tape)
        case let json as JSONValue: try append(json, to: &tape, bytes: &bytes, depth: depth)
        case is NSNull: add(.null, &tape)
        case let data as Data: add(.string, data.base64EncodedString(), &tape, &bytes)
        case let uuid as UUID: add(.string, uuid.uuidString, &tape, &bytes)
        case let url as URL: add(.string, url.absoluteString, &tape, &bytes)
        case let date as Date: try append(date, path, &tape, &bytes)
        case let decimal as Decimal where decimal.isFinite: add(.number, "\(decimal)", &tape, &bytes)
        case Optional<Any>.none: add(.null, &tape)
        default: try append(number: value, path, &tape, &bytes)
        }
    }

    private static func append(number value: Any, _ path: String, _ tape: inout JSONTape, _ bytes: inout [UInt8]) throws
    {
        switch value {
        case let number as NSNumber where type(of: value) is NSNumber.Type: try append(number, path, &tape, &bytes)
        case let bool as Bool: add(bool ? .true_ : .false_, &tape)
        case let integer as any BinaryInteger: add(.number, "\(integer)", &tape, &bytes)
        case let real as Double where real.isFinite: add(.number, "\(real)", &tape, &bytes)
        case let real as Float where real.isFinite: add(.number, "\(real)", &tape, &bytes)
        default:
            throw SyncError(.valueDoesNotFit, "a value of type \(type(of: value)) has no JSON form", path: path)
        }
    }

    /// A boxed number: a boolean only if it was made from one.
    private static func append(_ number: NSNumber, _ path: String, _ tape: inout JSONTape, _ bytes: inout [UInt8])
        throws
    {
        switch UInt8(bitPattern: number.objCType.pointee) {
        case UInt8(ascii: "B"), UInt8(ascii: "c"): add(number.boolValue ? .true_ : .false_, &tape)
        case UInt8(ascii: "d"), UInt8(ascii: "f"):
            guard number.doubleValue.isFinite else {
                throw SyncError(.valueDoesNotFit, "\(number) has no JSON form", path: path)
            }
            add(.number, "\(number.doubleValue)", &tape, &bytes)
        default: add(.number, number.stringValue, &tape, &bytes)
        }
    }

    private static func append(_ date: Date, _ path: String, _ tape: inout JSONTape, _ bytes: inout [UInt8]) throws {
        guard let milliseconds = date.milliseconds else {
            throw SyncError(.valueDoesNotFit, "the date is outside the years 1 to 9999", path: path)
        }
        add(.string, DateText.iso(milliseconds), &tape, &bytes)
    }

    // MARK: Tokens

    private static func checkDepth(_ depth: Int) throws {
        guard depth <= maximumDepth else {
            throw SyncError(.nestingTooDeep, "objects and arrays are nested deeper than \(maximumDepth) levels")
        }
    }

    private static func add(_ kind: JSONTape.Kind, _ tape: inout JSONTape) {
        tape.tokens.append(.init(kind: kind, offset: 0, next: UInt32(truncatingIfNeeded: tape.tokens.count + 1)))
    }

    private static func add(_ kind: JSONTape.Kind, _ text: String, _ tape: inout JSONTape, _ bytes: inout [UInt8]) {
        let start = bytes.count
        bytes += text.utf8
        tape.tokens.append(
            .init(
                kind: kind, offset: start, length: UInt32(truncatingIfNeeded: bytes.count - start),
                next: UInt32(truncatingIfNeeded: tape.tokens.count + 1)))
    }

    private static func close(_ token: Int, count: Int, _ tape: inout JSONTape) {
        tape.tokens[token].length = UInt32(truncatingIfNeeded: count)
        tape.tokens[token].next = UInt32(truncatingIfNeeded: tape.tokens.count)
    }
}
