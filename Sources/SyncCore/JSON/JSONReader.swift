/// A reader of the records of a JSON document. The reader accepts only JSON that conforms to RFC 8259, in valid UTF-8.
///
/// NDJSON has one record on each line. In any other document, ``RecordLocations`` state where the records are. The
/// whole document is checked, including the parts around the records.
package struct JSONReader {
    package enum Form: Sendable {
        /// One record on each line.
        case ndjson
        /// One document, with records at these locations.
        case locations(RecordLocations)

        /// One document, whose root is an array of records or a single record.
        package static var json: Form { .locations(.list(at: [])) }
    }

    private var scanner: JSONScanner
    private let maximumDepth: Int
    private var cursor: RecordLocationCursor
    /// The location of the bytes in the document (`location`), and whether they are its end (`isLast`).
    private var location = JSONChunk.Location()
    private var isLast = true
    /// The tape for values that are not records.
    private var spare = JSONTape()
    /// Whether a value has been found where the format has records.
    private var hasLocation = false

    /// The index of the last record in its list, from 0; -1 before the first record.
    package private(set) var recordIndex = -1
    /// The index of the list that has the last record.
    package private(set) var list = 0
    /// The token of the last record (`recordToken`), and of its object key (`nameToken`). The token of the object key
    /// follows the tokens of the record; -1 if there is no object key.
    package private(set) var recordToken = 0
    package private(set) var nameToken = -1
    /// Whether a record outside an array was found (`isSingleRecord`), and the lists that are such a record or null
    /// (`singleRecordLists`).
    package private(set) var isSingleRecord = false
    private(set) var singleRecordLists: Set<Int> = []
    /// The pagination information of the document.
    private(set) var page = PaginationInfo()

    /// The number of bytes of the current chunk that were read so far.
    var position: Int { scanner.position }

    /// The key path to the last record, if the record is outside an array. The path does not include the envelope
    /// `data`.
    package var fieldPath: [String] { cursor.keys.first == "data" ? Array(cursor.keys.dropFirst()) : cursor.keys }

    private var locations: RecordLocations { cursor.locations }

    /// Creates a reader of a whole document. For a document in chunks, omit the bytes and call ``read(_:at:isLast:)``.
    package init(
        _ bytes: UnsafeBufferPointer<UInt8> = .init(start: nil, count: 0), form: Form = .json, maximumDepth: Int = 512
    ) {
        scanner = JSONScanner(bytes, maximumDepth: maximumDepth)
        cursor = RecordLocationCursor(form)
        self.maximumDepth = maximumDepth
    }

    /// Continues with the next chunk of the document, after all records of the previous chunk. Each chunk except the
    /// last must end with a record, unless the document is invalid.
    package mutating func read(_ bytes: UnsafeBufferPointer<UInt8>, at location: JSONChunk.Location, isLast: Bool) {
        scanner = JSONScanner(bytes, maximumDepth: maximumDepth, isStart: location.isStart)
        self.location = location
        self.isLast = isLast
    }

    /// Reads the next record into `tape`.
    ///
    /// - Returns: False at the end of a valid document, or of a chunk that is not the last one.
    /// - Throws: ``SyncError`` `malformedJSON`, `invalidUTF8` or `nestingTooDeep` with line and column,
    ///   `recordExpected` with a path, `keyPathNotFound`, `errorDocument`, or `noRecords` for an empty document.
    package mutating func next(into tape: inout JSONTape) throws -> Bool {
        tape.tokens.removeAll(keepingCapacity: true)
        do {
            while true {
                scanner.skipBlanks()
                switch cursor.next {
                case .line: return try line(into: &tape)
                case .value(let node): if try value(at: node, into: &tape) { return true }
                case .member: if try member(into: &tape) { return true }
                case .element(let container):
                    if scanner.isAtEnd, !isLast { return false }
                    if try element(of: container, into: &tape) { return true }
                case .end:
                    try end()
                    return false
                }
            }
        } catch let error as SyncError {
            throw location.absolute(error)
        }
    }

    private mutating func line(into tape: inout JSONTape) throws -> Bool {
        if scanner.isAtEnd {
            if isLast, recordIndex < 0 { throw Self.nothing }
            return false
        }
        recordIndex += 1
        try scanner.value(into: &tape, depth: cursor.depth)
        guard tape.tokens[0].kind == .object else { throw noRecord(tape, 0) }
        try scanner.endLine()
        return true
    }

    private func end() throws {
        guard scanner.isAtEnd else { throw scanner.failure(expected: "the end of the text") }
        guard hasLocation else {
            throw SyncError(
                .recordExpected, "the payload has no records where its document format requires them; check the format",
                path: "$")
        }
    }

    /// An empty document is an error, because it is probably the result of a failed transfer.
    private static var nothing: SyncError {
        SyncError(.noRecords, "the payload is empty; write '[]' for a list without records")
    }
}

// MARK: - Around records

extension JSONReader {
    /// Reads, enters or skips the value at a location node. Returns true if the value was a record.
    private mutating func value(at node: Int, into tape: inout JSONTape) throws -> Bool {
        let start = scanner.position
        guard !scanner.isAtEnd else {
            throw cursor.depth == 0 && isLast ? Self.nothing : scanner.failure(expected: expectation(at: node))
        }
        switch cursor.enter(node, scanner.bytes[start], at: start) {
        case .walked:
            guard cursor.depth <= maximumDepth else { throw scanner.tooDeep() }
            scanner.advance()
        case .list(let list, _):
            scanner.advance()
            begin(list)
            recordIndex = -1
        case .record(let list):
            try loneRecord(of: list, into: &tape)
            return true
        case .nothing(let list):
            begin(list)
            singleRecordLists.insert(list)
            try pass()
        case .passed: try pass()
        case .metadata(let metadata):
            try pass()
            try record(metadata, spare.value(at: 0, in: scanner.bytes))
        case .refused: try refuse(at: node)
        }
        return false
    }

    private mutating func begin(_ list: Int) {
        self.list = list
        hasLocation = true
        recordToken = 0
        nameToken = -1
    }

    private mutating func pass() throws { try scanner.value(into: &spare, depth: cursor.depth) }

    private mutating func loneRecord(of list: Int, into tape: inout JSONTape) throws {
        begin(list)
        singleRecordLists.insert(list)
        isSingleRecord = true
        recordIndex = 0
        try scanner.value(into: &tape, depth: cursor.depth)
    }

    private mutating func record(_ metadata: RecordLocations.Metadata, _ value: JSONValue) throws {
        switch metadata {
        case .errors: if let error = SyncError(errorsOfService: value) { throw error }
        case .link: page.record(link: value)
        case .previousLink: page.record(previousLink: value)
        case .pageInfo: page.record(pageInfo: value)
        }
    }

    /// Throws the error for a value that is neither a record nor an object around records.
    private mutating func refuse(at node: Int) throws {
        // The value is read first, so that a text that is not JSON gives the same error with and without a key path.
        try pass()
        if let key = locations.nextKey(at: node) {
            guard cursor.levels.isEmpty, spare.tokens[0].kind != .array else {
                throw SyncError.noObject(withKey: key, at: cursor.path)
            }
            throw SyncError.noDocument(withKey: key)
        }
        let expected = locations.recordsText ?? "records"
        throw SyncError(.recordExpected, "expected \(expected), found \(spare.name(of: 0))", path: cursor.path)
    }

    /// Returns a description of the values that are possible at a location node, for messages.
    private func expectation(at node: Int) -> String {
        guard let records = locations.recordsText, node >= 0 else { return "a value" }
        return locations.nextKey(at: node).map { "an object with the key '\($0)'" } ?? records
    }

    /// Reads the next key of the innermost object, or the end of the object. Returns true if the object is a record.
    private mutating func member(into tape: inout JSONTape) throws -> Bool {
        let isFirst = cursor.levels.last?.names.isEmpty ?? true
        if try scanner.peek(isFirst ? "a key or '}'" : "',' or '}'") == .closeBrace {
            return try leaveContainer(into: &tape)
        }
        if !isFirst { try scanner.expect(.comma, "',' or '}'") }
        let start = scanner.position
        let name = try scanner.key()
        let node = cursor.pass(key: name)
        if cursor.hasVisited(node) { throw repeated(name, at: start, node) }
        return false
    }

    private func repeated(_ name: String, at start: Int, _ node: Int) -> SyncError {
        guard let level = cursor.levels.last, locations.nodes[level.node].otherMembers == node else {
            return scanner.failure("the key '\(name)' occurs twice in one object", at: start)
        }
        let names = TruncatedList(level.names.map { "'\($0)'" }).text
        return SyncError(
            .keyPathNotFound,
            "the response has several fields, \(names); set the key path to the field with the records",
            path: cursor.objectPath)
    }

    /// Leaves the innermost object. An object without members at location nodes can be a record itself. Returns true in
    /// that case.
    private mutating func leaveContainer(into tape: inout JSONTape) throws -> Bool {
        guard let level = cursor.levels.last else { return false }
        let node = locations.nodes[level.node]
        if node.bareList >= 0, level.visited.isEmpty {
            cursor.leaveContainer()
            scanner.position = level.start
            try loneRecord(of: node.bareList, into: &tape)
            return true
        }
        if let missing = node.members.first(where: { locations.nodes[$0].isRequired && !cursor.hasVisited($0) }) {
            throw SyncError.noKey(locations.nodes[missing].name, among: level.names, at: cursor.objectPath)
        }
        scanner.advance()
        cursor.leaveContainer()
        return false
    }
}

// MARK: - Records

extension JSONReader {
    /// Reads an element of the open list. Returns false if the element has null instead of a record, or if the list
    /// ends.
    private mutating func element(of container: RecordLocations.Container, into tape: inout JSONTape) throws -> Bool {
        let isFirst = recordIndex < 0
        let byte = try scanner.peek(container.expectation(isFirst: isFirst))
        if byte == container.end {
            scanner.advance()
            cursor.leaveContainer()
            return false
        }
        if !isFirst {
            guard byte == .comma else { throw scanner.failure(expected: container.expectation(isFirst: false)) }
            scanner.advance()
        }
        recordIndex += 1
        let name = container == .members ? try memberName() : nil
        try scanner.value(into: &tape, depth: cursor.depth)
        guard try isRecord(tape, 0, name) else { return false }
        switch container {
        case .array: break
        case .members:
            if var name {
                nameToken = tape.tokens.count
                name.next = UInt32(truncatingIfNeeded: nameToken + 1)
                tape.tokens.append(name)
            }
        case .edges:
            guard let node = tape.member(named: "node", of: 0, in: scanner.bytes) else { throw noRecord(tape, 0) }
            recordToken = node
            return try isRecord(tape, node)
        }
        return true
    }

    /// Returns whether a value in a list is a record; false for null where null is allowed.
    @inline(__always)
    private mutating func isRecord(_ tape: JSONTape, _ token: Int, _ name: JSONTape.Token? = nil) throws -> Bool {
        if tape.tokens[token].kind == .object { return true }
        guard locations.admitsNull, tape.tokens[token].kind == .null else { throw noRecord(tape, token, name) }
        page.hasNulls = true
        return false
    }

    /// Reads the key of a member, its colon, and the blanks before its value.
    private mutating func memberName() throws -> JSONTape.Token {
        scanner.skipBlanks()
        guard try scanner.peek("a key") == .quote else { throw scanner.failure(expected: "a key") }
        let name = try scanner.string()
        scanner.skipBlanks()
        try scanner.expect(.colon, "':' after the key")
        scanner.skipBlanks()
        return name
    }

    private func noRecord(_ tape: JSONTape, _ token: Int, _ name: JSONTape.Token? = nil) -> SyncError {
        let location = name.map { JSONTape.quoted($0, in: scanner.bytes) } ?? "\(recordIndex)"
        return SyncError(
            .recordExpected, "expected a record (JSON object), found \(tape.name(of: token))",
            path: "\(locations.labels[list])[\(location)]")
    }
}

extension RecordLocations.Container {
    /// The byte that closes the container.
    fileprivate var end: UInt8 { self == .members ? .closeBrace : .closeBracket }

    /// Returns a description of what can follow in the container, for messages.
    fileprivate func expectation(isFirst: Bool) -> String {
        let end = self == .members ? "'}'" : "']'"
        return isFirst ? "a record or \(end)" : "',' or \(end)"
    }
}
