/// Reads the records of a JSON document one by one, strictly by RFC 8259 and in strict UTF-8.
///
/// A root array gives its elements, a root object itself; NDJSON gives one record a line; with a key path the records are
/// below those keys. The whole document is checked, also what stands around the records.
package struct JSONReader {
    package enum Form: Sendable, Hashable {
        /// One document.
        case json
        /// A record on each line.
        case ndjson
        /// One document, with records in more than one list.
        case places(RecordPlaces)
    }

    private enum State { case start, elements, placed, finished }

    var scanner: JSONScanner
    let form: Form
    private let keyPath: [String]
    let maximumDepth: Int
    private var state = State.start
    /// Where the bytes stand in the document, and whether it ends with them.
    private var place = JSONPiece.Place()
    private(set) var isLast = true
    private var openObjects = 0
    /// The index of the record last read, from 0; -1 before the first.
    package internal(set) var recordIndex = -1
    /// Whether the records were found to be one object, in no array.
    package var isLoneObject = false

    /// Where the record last read stands in its tape, and where the name does under which it does, or -1: after the record.
    package var recordToken = 0
    package var nameToken = -1
    /// How far a document is whose records have several places.
    package var walk: PlaceWalk
    var isFinished: Bool {
        get { state == .finished }
        set { if newValue { state = .finished } }
    }

    /// How many bytes have been read.
    var position: Int { scanner.position }

    /// A reader of a document in pieces: see ``read(_:at:isLast:)``.
    package init(form: Form = .json, keyPath: [String] = [], maximumDepth: Int = 512) {
        self.init(
            UnsafeBufferPointer(start: nil, count: 0), form: form, keyPath: keyPath, maximumDepth: maximumDepth)
    }

    package init(
        _ bytes: UnsafeBufferPointer<UInt8>, form: Form = .json, keyPath: [String] = [], maximumDepth: Int = 512
    ) {
        scanner = JSONScanner(bytes, maximumDepth: maximumDepth)
        self.form = form
        self.keyPath = keyPath
        self.maximumDepth = maximumDepth
        guard case .places(let places) = form else {
            walk = PlaceWalk(RecordPlaces())
            return
        }
        walk = PlaceWalk(places)
        state = .placed
    }

    /// Goes on with the next piece of the document, once the one before is read. Pieces end where a record does, but for
    /// the last, or one in which the document is found to be wrong.
    package mutating func read(_ bytes: UnsafeBufferPointer<UInt8>, at place: JSONPiece.Place, isLast: Bool) {
        scanner = JSONScanner(bytes, maximumDepth: maximumDepth, isStart: place.isStart)
        self.place = place
        self.isLast = isLast
    }

    /// Reads the next record into `tape`; false at the end of a document that is right to its last byte, or of a piece
    /// that is not its last.
    ///
    /// - Throws: ``SyncError`` `malformedJSON`, `invalidUTF8`, `nestingTooDeep` with line and column, `recordExpected`
    ///   with a path, `keyPathNotFound`; `noRecords` where there is nothing at all.
    package mutating func next(into tape: inout JSONTape) throws -> Bool {
        tape.tokens.removeAll(keepingCapacity: true)
        do {
            switch state {
            case .finished: return false
            case .start: return form == .ndjson ? try nextLine(into: &tape) : try first(into: &tape)
            case .elements: return try nextElement(into: &tape)
            case .placed: return try nextPlaced(into: &tape)
            }
        } catch let error as SyncError {
            throw place.absolute(error)
        }
    }

    /// Reads the record that begins here.
    private mutating func record(into tape: inout JSONTape, depth: Int) throws {
        recordIndex += 1
        try scanner.value(into: &tape, depth: depth)
        try expectRecord(tape)
    }

    /// Nothing is no answer: it is what a transfer that failed leaves.
    static var nothing: SyncError {
        SyncError(.noRecords, "the JSON is empty; a list without records is written '[]'")
    }

    // MARK: NDJSON

    private mutating func nextLine(into tape: inout JSONTape) throws -> Bool {
        scanner.skipBlanks()
        guard !scanner.isAtEnd else {
            if isLast, recordIndex < 0 { throw Self.nothing }
            if isLast { state = .finished }
            return false
        }
        try record(into: &tape, depth: 0)
        try scanner.endLine()
        return true
    }

    // MARK: One document

    private mutating func first(into tape: inout JSONTape) throws -> Bool {
        scanner.skipBlanks()
        if scanner.isAtEnd, isLast { throw Self.nothing }
        try descend()
        let byte = try scanner.peek("an array of records or an object")
        if byte == .openBracket {
            scanner.advance()
            state = .elements
            return try nextElement(into: &tape)
        }
        try loneObject(into: &tape)
        try finish()
        return true
    }

    private mutating func loneObject(into tape: inout JSONTape) throws {
        isLoneObject = true
        recordIndex = 0
        try scanner.value(into: &tape, depth: openObjects)
        guard tape.tokens[0].kind == .object else {
            throw SyncError(
                .recordExpected, "an array of records or an object is expected, found \(tape.name(of: 0))",
                path: keyPath.isEmpty ? "$" : keyPath.joined(separator: "."))
        }
    }

    private mutating func nextElement(into tape: inout JSONTape) throws -> Bool {
        scanner.skipBlanks()
        if scanner.isAtEnd, !isLast { return false }
        let expected = recordIndex < 0 ? "a record or ']'" : "',' or ']'"
        let byte = try scanner.peek(expected)
        if byte == .closeBracket {
            scanner.advance()
            try finish()
            return false
        }
        if recordIndex >= 0 {
            guard byte == .comma else { throw scanner.failure(expected: expected) }
            scanner.advance()
            scanner.skipBlanks()
        }
        try record(into: &tape, depth: openObjects + 1)
        return true
    }

    private func expectRecord(_ tape: JSONTape) throws {
        guard tape.tokens[0].kind != .object else { return }
        throw SyncError(
            .recordExpected, "a record (JSON object) is expected, found \(tape.name(of: 0))", path: "[\(recordIndex)]")
    }

    // MARK: Key paths

    /// Walks into the objects of the key path, up to the value under its last key.
    private mutating func descend() throws {
        for (depth, key) in keyPath.enumerated() {
            let place = keyPath[..<depth].joined(separator: ".")
            guard try scanner.peek("an object with the key '\(key)'") == .openBrace else {
                throw SyncError(
                    .keyPathNotFound, "an object with the key '\(key)' is expected", path: place.isEmpty ? "$" : place)
            }
            scanner.advance()
            openObjects += 1
            try find(key, place)
        }
    }

    /// Skips members of an open object up to the value under `key`.
    private mutating func find(_ key: String, _ place: String) throws {
        var seen: [String] = []
        var tape = JSONTape()
        while true {
            scanner.skipBlanks()
            if try scanner.peek("a key or '}'") == .closeBrace {
                let names = ShortList(seen.map { "'\($0)'" }).text
                throw SyncError(
                    .keyPathNotFound, "there is no key '\(key)'; there is \(seen.isEmpty ? "none" : names)",
                    path: place.isEmpty ? "$" : place)
            }
            if !seen.isEmpty { try scanner.expect(.comma, "',' or '}'") }
            let name = try scanner.key()
            if name.utf8.elementsEqual(key.utf8) { return }
            seen.append(name)
            tape.tokens.removeAll(keepingCapacity: true)
            try scanner.value(into: &tape, depth: openObjects)
        }
    }

    /// Checks what is left of the document: the rest of the objects the key path led through.
    private mutating func finish() throws {
        state = .finished
        var tape = JSONTape()
        for depth in stride(from: openObjects, to: 0, by: -1) {
            while true {
                scanner.skipBlanks()
                if try scanner.peek("',' or '}'") == .closeBrace {
                    scanner.advance()
                    break
                }
                try scanner.expect(.comma, "',' or '}'")
                let place = scanner.position
                if try scanner.key().utf8.elementsEqual(keyPath[depth - 1].utf8) {
                    throw scanner.failure(
                        "the key '\(keyPath[depth - 1])' occurs twice, so it is unclear which is meant", at: place)
                }
                tape.tokens.removeAll(keepingCapacity: true)
                try scanner.value(into: &tape, depth: depth)
            }
        }
        scanner.skipBlanks()
        guard scanner.isAtEnd else { throw scanner.failure(expected: "the end") }
    }
}

extension JSONTape {
    /// What a token is, for messages.
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
}
