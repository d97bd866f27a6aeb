/// One JSON value as a flat list of tokens in document order. The list is reused for each record.
///
/// The members of an object follow its token: for each, a string token for the key, and then the value. The elements of
/// an array follow its token. `next` is the index of the first token after the whole value.
package struct JSONTape: Sendable {
    package enum Kind: UInt8, Sendable { case null, false_, true_, number, string, object, array }

    package struct Token: Sendable {
        /// The start of the text in the payload: after the quote of a string, or at the first byte of a number.
        package var offset: Int
        /// The length of the text in bytes, or the number of members or elements.
        package var length: UInt32
        /// The index of the token after this value.
        package var next: UInt32
        package var kind: Kind
        /// Whether a string has backslash escapes, so that its text must be unescaped.
        package var hasEscapes: Bool

        package init(kind: Kind, offset: Int, length: UInt32 = 0, next: UInt32 = 0, hasEscapes: Bool = false) {
            self.kind = kind
            self.offset = offset
            self.length = length
            self.next = next
            self.hasEscapes = hasEscapes
        }
    }

    package var tokens: [Token] = []

    package init() {}
}

/// A buffer for the tokens of one value, written one by one as they are read.
///
/// An array would check for shared storage at each token. Access is checked against the capacity.
final class TokenBuffer {
    private var tokens: UnsafeMutablePointer<JSONTape.Token>
    private var capacity = 256

    init() { tokens = .allocate(capacity: capacity) }

    deinit { tokens.deallocate() }

    @inline(__always)
    subscript(index: Int) -> JSONTape.Token {
        get {
            precondition(index >= 0 && index < capacity)
            return tokens[index]
        }
        set {
            precondition(index >= 0 && index < capacity)
            tokens[index] = newValue
        }
    }

    /// Makes room for this number of tokens.
    @inline(__always)
    func reserve(_ count: Int) {
        if count > capacity { grow(to: count) }
    }

    private func grow(to count: Int) {
        let larger = UnsafeMutablePointer<JSONTape.Token>.allocate(capacity: max(count, capacity * 2))
        larger.update(from: tokens, count: capacity)
        tokens.deallocate()
        tokens = larger
        capacity = max(count, capacity * 2)
    }

    func first(_ count: Int) -> UnsafeBufferPointer<JSONTape.Token> {
        UnsafeBufferPointer(start: tokens, count: min(count, capacity))
    }
}

// MARK: - Lists

extension JSONTape {
    /// The largest number of lists that are returned (`mostLists`), and the largest length of their keys in bytes
    /// (`longestKey`).
    private static let mostLists = 8
    private static let longestKey = 100

    /// Returns the key paths to lists of objects inside the object at the first token, outer lists first. If there are
    /// none, returns the paths to empty lists.
    package func listPaths(in bytes: UnsafeBufferPointer<UInt8>) -> [[String]] {
        var lists: [[String]] = []
        var empty: [[String]] = []
        var level: [(path: [String], object: Int)] = [([], 0)]
        while !level.isEmpty, lists.count < Self.mostLists {
            var next: [(path: [String], object: Int)] = []
            for (path, object) in level {
                var key = object + 1
                while key < Int(tokens[object].next), lists.count < Self.mostLists {
                    let value = key + 1
                    defer { key = Int(tokens[value].next) }
                    guard tokens[value].kind == .object || tokens[value].kind == .array,
                        tokens[key].length <= Self.longestKey
                    else { continue }
                    let found = path + [text(at: key, in: bytes)]
                    if tokens[value].kind == .object {
                        next.append((found, value))
                    } else if tokens[value].length == 0 {
                        empty.append(found)
                    } else if tokens[value + 1].kind == .object {
                        lists.append(found)
                    }
                }
            }
            level = next
        }
        return lists.isEmpty ? Array(empty.prefix(Self.mostLists)) : lists
    }
}

// MARK: - Open path

extension JSONTape {
    /// Returns the path to the next value while a value is being built: `.notes[2].id`. The `next` of open objects and
    /// arrays is 0.
    func openPath(in bytes: [UInt8]) -> String {
        var path = ""
        var container = 0
        while container < tokens.count, tokens[container].next == 0 {
            let isObject = tokens[container].kind == .object
            var value = container + 1
            var index = 0
            var key = container
            while true {
                if isObject {
                    key = value
                    value += 1
                }
                guard value < tokens.count, tokens[value].next != 0 else { break }
                value = Int(tokens[value].next)
                index += 1
            }
            if isObject {
                guard key < tokens.count else { return path }
                let text = tokens[key].offset..<tokens[key].offset + Int(tokens[key].length)
                path += "." + String(decoding: bytes[text], as: UTF8.self)
            } else {
                path += "[\(index)]"
            }
            container = value
        }
        return path
    }
}

// MARK: - Members and texts

extension JSONTape {
    /// Returns the name of a token's JSON type, for messages: `an object`.
    func name(of token: Int) -> String {
        switch tokens[token].kind {
        case .null: "null"
        case .true_, .false_: "a boolean"
        case .number: "a number"
        case .string: "a string"
        case .object: "an object"
        case .array: "an array"
        }
    }

    /// Returns the token of a member's value; nil if there is none. If several members have the name, the last member
    /// applies.
    package func member(named name: StaticString, of object: Int, in bytes: UnsafeBufferPointer<UInt8>) -> Int? {
        var found: Int?
        var key = object + 1
        let end = Int(tokens[object].next)
        while key < end {
            if isText(key, name, in: bytes) { found = key + 1 }
            key = Int(tokens[key + 1].next)
        }
        return found
    }

    /// Returns whether a string has exactly this text, without escapes.
    @inline(__always)
    func isText(_ token: Int, _ text: StaticString, in bytes: UnsafeBufferPointer<UInt8>) -> Bool {
        let count = text.utf8CodeUnitCount
        guard tokens[token].length == count, tokens[token].kind == .string else { return false }
        let start = tokens[token].offset
        return (0..<count).allSatisfy { bytes[start + $0] == text.utf8Start[$0] }
    }

    /// Returns a string in quotes, as it is written in a path.
    static func quoted(_ token: Token, in bytes: UnsafeBufferPointer<UInt8>) -> String {
        "\"" + String(decoding: bytes[token.offset..<token.offset + Int(token.length)], as: UTF8.self) + "\""
    }
}
