import Foundation

extension JSONTapeBuilder {
    /// What `NSNumber` makes of a Boolean, a class of its own.
    private static let booleanType: Any.Type = type(of: NSNumber(value: true) as Any)

    /// Asks for the exact type first: a cast that fails costs several times one that succeeds.
    mutating func append(any value: Any, depth: Int) throws {
        try checkDepth(depth)
        let type: Any.Type = type(of: value)
        if type == String.self, let string = value as? String {
            add(.string, string)
        } else if type == NSNumber.self || type == Self.booleanType, let number = value as? NSNumber {
            try append(number)
        } else if type == [String: Any].self || type == [String: any Sendable].self,
            let members = value as? [String: Any]
        {
            try append(members, depth: depth)
        } else if type == [Any].self || type == [[String: Any]].self || type == [any Sendable].self,
            let elements = value as? [Any]
        {
            try append(elements, depth: depth)
        } else if type == Int.self, let integer = value as? Int {
            add(.number, String(integer))
        } else if type == Bool.self, let bool = value as? Bool {
            add(bool ? .true_ : .false_)
        } else if type == Double.self, let real = value as? Double, real.isFinite {
            add(.number, real.description)
        } else if type == Date.self, let date = value as? Date {
            try append(date)
        } else if type == NSNull.self {
            add(.null)
        } else {
            try append(other: value, depth: depth)
        }
    }

    /// A value of any other type, or of one that only stands for one of them: bridged, optional, a subclass.
    private mutating func append(other value: Any, depth: Int) throws {
        switch value {
        case let string as String: add(.string, string)
        case let members as [String: Any]: try append(members, depth: depth)
        case let elements as [Any]: try append(elements, depth: depth)
        case is NSNull: add(.null)
        case let json as JSONValue: try append(json, depth: depth)
        case let data as Data: add(.string, data.base64EncodedString())
        case let uuid as UUID: add(.string, uuid.uuidString)
        case let url as URL: add(.string, url.absoluteString)
        case let date as Date: try append(date)
        case let decimal as Decimal where decimal.isFinite: add(.number, "\(decimal)")
        case Optional<Any>.none: add(.null)
        case let number as NSNumber where Swift.type(of: value) is NSNumber.Type: try append(number)
        case let bool as Bool: add(bool ? .true_ : .false_)
        case let integer as any BinaryInteger: add(.number, "\(integer)")
        case let real as Double where real.isFinite: add(.number, "\(real)")
        case let real as Float where real.isFinite: add(.number, "\(real)")
        default:
            throw SyncError(.valueDoesNotFit, "a value of type \(Swift.type(of: value)) has no JSON form")
        }
    }

    // MARK: Objects and arrays

    /// The members in the order of their keys: what a record says must not depend on the order of a dictionary.
    private mutating func append(_ object: [String: Any], depth: Int) throws {
        let token = open(.object)
        let first = members.count
        let keys = shapes.keys(of: object, members: &members) ?? learnKeys(of: object)
        for (place, key) in keys.enumerated() {
            add(.string, textAt: key.text)
            try append(any: object.values[members[first + place]], depth: depth + 1)
        }
        members.removeLast(members.count - first)
        close(token, count: keys.count)
    }

    private mutating func learnKeys(of object: [String: Any]) -> [ObjectShapes.Key] {
        let sorted = object.indices.sorted { object.keys[$0] < object.keys[$1] }
        members.append(contentsOf: sorted)
        let keys = sorted.map { index in
            ObjectShapes.Key(name: object.keys[index], text: store(object.keys[index]))
        }
        shapes.remember(keys)
        return keys
    }

    private mutating func append(_ elements: [Any], depth: Int) throws {
        let token = open(.array)
        for element in elements { try append(any: element, depth: depth + 1) }
        close(token, count: elements.count)
    }

    // MARK: Scalars

    /// A boxed number: a boolean only if it was made from one.
    private mutating func append(_ number: NSNumber) throws {
        switch UInt8(bitPattern: number.objCType.pointee) {
        case UInt8(ascii: "B"), UInt8(ascii: "c"): add(number.boolValue ? .true_ : .false_)
        case UInt8(ascii: "i"), UInt8(ascii: "q"), UInt8(ascii: "s"): add(.number, String(number.int64Value))
        case UInt8(ascii: "d"), UInt8(ascii: "f"):
            guard number.doubleValue.isFinite else {
                throw SyncError(.valueDoesNotFit, "\(number) has no JSON form")
            }
            if type(of: number) != NSNumber.self, let exact = number as? NSDecimalNumber {
                add(.number, "\(exact.decimalValue)")
            } else {
                add(.number, number.doubleValue.description)
            }
        default: add(.number, number.stringValue)
        }
    }

    private mutating func append(_ date: Date) throws {
        guard let milliseconds = date.milliseconds else {
            throw SyncError(.valueDoesNotFit, "the date is outside the years 1 to 9999")
        }
        add(.string, DateText.iso(milliseconds))
    }
}
