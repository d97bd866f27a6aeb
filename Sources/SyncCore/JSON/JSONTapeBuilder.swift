import Foundation

/// A builder of tapes from values in memory instead of JSON text. The text of the values is appended to `bytes`, which
/// takes the place of the payload.
package struct JSONTapeBuilder {
    static let maximumDepth = 512

    /// The tape of the last value.
    package private(set) var tape = JSONTape()
    /// The text of all values so far. The tapes, and the packed values read from them, reference these bytes.
    package private(set) var bytes: [UInt8] = []
    var shapes = ObjectShapes()
    /// The dictionary indices of the members of the open objects, the innermost last.
    var members: [Dictionary<String, Any>.Index] = []

    package init() {}

    /// Replaces the tape with that of a value.
    ///
    /// - Throws: ``SyncError`` `nestingTooDeep`, or `typeMismatch` for a number whose text is not a JSON number.
    package mutating func read(_ value: JSONValue) throws {
        tape.tokens.removeAll(keepingCapacity: true)
        try append(value, depth: 0)
    }

    /// Replaces the tape with that of a value. The value has types of `JSONSerialization`, or common Swift types such
    /// as `Date`.
    ///
    /// - Throws: ``SyncError`` `nestingTooDeep`, or `typeMismatch` with the path of a value that has no JSON form.
    package mutating func read(any value: Any, path: @autoclosure () -> String) throws {
        tape.tokens.removeAll(keepingCapacity: true)
        do {
            try append(any: value, depth: 0)
        } catch var error as SyncError where error.code == .typeMismatch {
            error.path = path() + tape.openPath(in: bytes)
            throw error
        }
    }

    mutating func append(_ value: JSONValue, depth: Int) throws {
        try checkDepth(depth)
        switch value {
        case .null: add(.null)
        case .bool(let bool): add(bool ? .true_ : .false_)
        case .number(let number):
            guard NumberText.isNumber(number) else {
                throw SyncError(.typeMismatch, "expected a number, found '\(number.prefix(50))'")
            }
            add(.number, number)
        case .string(let string): add(.string, string)
        case .array(let elements):
            let token = open(.array)
            for element in elements { try append(element, depth: depth + 1) }
            close(token, count: elements.count)
        case .object(let members):
            let token = open(.object)
            for member in members {
                add(.string, member.key)
                try append(member.value, depth: depth + 1)
            }
            close(token, count: members.count)
        }
    }

    // MARK: Tokens

    func checkDepth(_ depth: Int) throws {
        guard depth <= Self.maximumDepth else {
            throw SyncError(.nestingTooDeep, "objects and arrays are nested more than \(Self.maximumDepth) levels deep")
        }
    }

    mutating func add(_ kind: JSONTape.Kind) {
        tape.tokens.append(.init(kind: kind, offset: 0, next: UInt32(truncatingIfNeeded: tape.tokens.count + 1)))
    }

    mutating func add(_ kind: JSONTape.Kind, _ text: String) { add(kind, textAt: store(text)) }

    mutating func add(_ kind: JSONTape.Kind, textAt place: Range<Int>) {
        tape.tokens.append(
            .init(
                kind: kind, offset: place.lowerBound, length: UInt32(truncatingIfNeeded: place.count),
                next: UInt32(truncatingIfNeeded: tape.tokens.count + 1)))
    }

    /// Appends a string to the bytes. Nearly all strings have contiguous storage, which is copied at once.
    mutating func store(_ text: String) -> Range<Int> {
        let start = bytes.count
        if text.utf8.withContiguousStorageIfAvailable({ bytes.append(contentsOf: $0) }) == nil {
            bytes.append(contentsOf: text.utf8)
        }
        return start..<bytes.count
    }

    /// Begins an object or array. Its `next` is 0 while it is open.
    mutating func open(_ kind: JSONTape.Kind) -> Int {
        tape.tokens.append(.init(kind: kind, offset: 0))
        return tape.tokens.count - 1
    }

    mutating func close(_ token: Int, count: Int) {
        tape.tokens[token].length = UInt32(truncatingIfNeeded: count)
        tape.tokens[token].next = UInt32(truncatingIfNeeded: tape.tokens.count)
    }
}

/// The sorted sets of keys of earlier objects. The keys of an object with a known set are neither sorted nor stored
/// again.
struct ObjectShapes {
    /// One key of an object.
    struct Key {
        let name: String
        /// The byte range of the key's text in ``JSONTapeBuilder/bytes``.
        let text: Range<Int>
    }

    /// The largest number of sets with an equal number of keys. Objects rarely need more, and each set that does not
    /// match costs a lookup. `maximumCount` is the largest number of keys in a set.
    private static let limit = 4
    private static let maximumCount = 64

    /// The sets, indexed by their number of keys.
    private var shapes: [[[Key]]] = []

    /// Returns the keys of an object; nil if its set is unknown. Appends the dictionary indices of the members to
    /// `members`, in the order of the keys.
    mutating func keys(of object: [String: Any], members: inout [Dictionary<String, Any>.Index]) -> [Key]? {
        guard object.count < shapes.count else { return nil }
        let first = members.count
        for keys in shapes[object.count] {
            if Self.locate(keys, in: object, &members) { return keys }
            members.removeLast(members.count - first)
        }
        return nil
    }

    /// Returns whether an object has all of these keys.
    ///
    /// A dictionary also finds canonically equivalent keys, such as one with a Kelvin sign instead of a K. Only one of
    /// such keys is ASCII, and it is shorter than the others. The comparison of the lengths therefore excludes the
    /// others.
    private static func locate(
        _ keys: [Key], in object: [String: Any], _ members: inout [Dictionary<String, Any>.Index]
    ) -> Bool {
        for key in keys {
            guard let index = object.index(forKey: key.name), object.keys[index].utf8.count == key.text.count else {
                return false
            }
            members.append(index)
        }
        return true
    }

    /// Stores a set of keys in this order, if all keys are ASCII and the limits allow it.
    mutating func insert(_ keys: [Key]) {
        guard keys.count <= Self.maximumCount, keys.allSatisfy({ $0.name.utf8.allSatisfy { $0 < 0x80 } }) else {
            return
        }
        while shapes.count <= keys.count { shapes.append([]) }
        if shapes[keys.count].count < Self.limit { shapes[keys.count].append(keys) }
    }
}

// MARK: - Any

extension JSONTapeBuilder {
    /// The class of an `NSNumber` that was created from a Boolean. On some platforms, other numbers have another class.
    private static let booleanType: Any.Type = type(of: NSNumber(value: true) as Any)

    /// Appends a value. Tests the exact type first, because a failed cast costs several times as much as a successful
    /// cast.
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

    /// Appends a value whose exact type is not one of the common types. It can be a less common type, a bridged or
    /// optional type, or a subclass.
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
            throw SyncError(.typeMismatch, "a value of type \(Swift.type(of: value)) cannot be written as JSON")
        }
    }

    // MARK: Objects and arrays

    /// Appends the members of a dictionary, sorted by key, because the order of a dictionary is random.
    private mutating func append(_ object: [String: Any], depth: Int) throws {
        let token = open(.object)
        let first = members.count
        let keys = shapes.keys(of: object, members: &members) ?? registerKeys(of: object)
        for (place, key) in keys.enumerated() {
            add(.string, textAt: key.text)
            try append(any: object.values[members[first + place]], depth: depth + 1)
        }
        members.removeLast(members.count - first)
        close(token, count: keys.count)
    }

    private mutating func registerKeys(of object: [String: Any]) -> [ObjectShapes.Key] {
        let sorted = object.indices.sorted { object.keys[$0] < object.keys[$1] }
        members.append(contentsOf: sorted)
        let keys = sorted.map { index in
            ObjectShapes.Key(name: object.keys[index], text: store(object.keys[index]))
        }
        shapes.insert(keys)
        return keys
    }

    private mutating func append(_ elements: [Any], depth: Int) throws {
        let token = open(.array)
        for element in elements { try append(any: element, depth: depth + 1) }
        close(token, count: elements.count)
    }

    // MARK: Scalars

    /// Appends a boxed number. The type codes `B` and `c` are those of a Boolean, but an `Int8` also has the code `c`.
    private mutating func append(_ number: NSNumber) throws {
        switch UInt8(bitPattern: number.objCType.pointee) {
        case UInt8(ascii: "B"), UInt8(ascii: "c"): add(number.boolValue ? .true_ : .false_)
        case UInt8(ascii: "i"), UInt8(ascii: "q"), UInt8(ascii: "s"): add(.number, String(number.int64Value))
        case UInt8(ascii: "d"), UInt8(ascii: "f"):
            guard number.doubleValue.isFinite else {
                throw SyncError(.typeMismatch, "\(number) cannot be written as JSON")
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
            throw SyncError(.typeMismatch, "the date is outside the range of years 1 to 9999")
        }
        add(.string, DateText.iso(milliseconds))
    }
}
