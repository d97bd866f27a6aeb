/// Lays values that are not bytes out as tapes, their texts appended to a buffer that stands in for the payload.
package struct JSONTapeBuilder {
    static let maximumDepth = 512

    /// The value laid out last.
    package private(set) var tape = JSONTape()
    /// The texts of all values so far: what the tapes and the slots filled from them point into.
    package private(set) var bytes: [UInt8] = []
    var shapes = ObjectShapes()
    /// Where the members of the objects being laid out stand in their dictionaries, the innermost last.
    var members: [Dictionary<String, Any>.Index] = []

    package init() {}

    /// Lays out a value in the place of the one before.
    ///
    /// - Throws: ``SyncError`` `nestingTooDeep`, `valueDoesNotFit` for a number that is not JSON.
    package mutating func read(_ value: JSONValue) throws {
        tape.tokens.removeAll(keepingCapacity: true)
        try append(value, depth: 0)
    }

    /// Lays out what `JSONSerialization` gives, and the Swift values people put beside it, in the place of the value before.
    ///
    /// - Throws: ``SyncError`` `nestingTooDeep`, `valueDoesNotFit` with the path of a value that has no JSON form.
    package mutating func read(any value: Any, path: @autoclosure () -> String) throws {
        tape.tokens.removeAll(keepingCapacity: true)
        do {
            try append(any: value, depth: 0)
        } catch var error as SyncError where error.code == .valueDoesNotFit {
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
                throw SyncError(.valueDoesNotFit, "a number is expected, found '\(number.prefix(50))'")
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
            throw SyncError(.nestingTooDeep, "objects and arrays are nested deeper than \(Self.maximumDepth) levels")
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

    /// Appends a text to the bytes. One that lies in memory as it is, as nearly all do, is copied at once.
    mutating func store(_ text: String) -> Range<Int> {
        let start = bytes.count
        if text.utf8.withContiguousStorageIfAvailable({ bytes.append(contentsOf: $0) }) == nil {
            bytes.append(contentsOf: text.utf8)
        }
        return start..<bytes.count
    }

    /// Begins an object or array; its `next` stays 0 while it is open.
    mutating func open(_ kind: JSONTape.Kind) -> Int {
        tape.tokens.append(.init(kind: kind, offset: 0))
        return tape.tokens.count - 1
    }

    mutating func close(_ token: Int, count: Int) {
        tape.tokens[token].length = UInt32(truncatingIfNeeded: count)
        tape.tokens[token].next = UInt32(truncatingIfNeeded: tape.tokens.count)
    }
}
