// Documents whose records have several places, or stand in the members of an object.
extension JSONReader {
    /// Reads the next record, wherever it stands.
    mutating func nextPlaced(into tape: inout JSONTape) throws -> Bool {
        while true {
            switch walk.state {
            case .value(let node):
                if try value(at: node, into: &tape) { return true }
            case .members:
                if try member(into: &tape) { return true }
            case .list(let container):
                scanner.skipBlanks()
                if scanner.isAtEnd, !isLast { return false }
                if try element(of: container, into: &tape) { return true }
            case .ended:
                scanner.skipBlanks()
                guard scanner.isAtEnd else { throw scanner.failure(expected: "the end") }
                guard walk.hasPlace else {
                    throw SyncError(.recordExpected, "the document has no records where its form has them", path: "$")
                }
                isFinished = true
                return false
            }
        }
    }

    // MARK: Around records

    /// Reads the value at a place, or into it; true if that was a record.
    private mutating func value(at node: Int, into tape: inout JSONTape) throws -> Bool {
        scanner.skipBlanks()
        if walk.levels.isEmpty, scanner.isAtEnd, isLast { throw Self.nothing }
        let start = scanner.position
        switch walk.tracker.enter(node, try scanner.peek("a value")) {
        case .walked:
            guard walk.levels.count < maximumDepth else { throw scanner.tooDeep() }
            scanner.advance()
            walk.levels.append(.init(start: start))
            walk.state = .members
        case .list(let list, let container):
            scanner.advance()
            begin(list)
            recordIndex = -1
            walk.state = .list(container)
        case .record(let list):
            try loneRecord(of: list, into: &tape)
            walk.goOn()
            return true
        case .nothing(let list):
            begin(list)
            walk.loneLists.insert(list)
            try pass()
        case .passed: try pass()
        case .remark(let remark):
            try pass()
            try note(remark, walk.spare.value(at: 0, in: scanner.bytes))
        case .refused:
            try pass()
            let path = (walk.levels.compactMap(\.names.last)).joined(separator: ".")
            throw SyncError(
                .recordExpected, "records are expected, found \(walk.spare.name(of: 0))",
                path: path.isEmpty ? "$" : path)
        }
        return false
    }

    private mutating func begin(_ list: Int) {
        walk.list = list
        walk.hasPlace = true
    }

    private mutating func pass() throws {
        try scanner.value(into: &walk.spare, depth: walk.levels.count)
        walk.goOn()
    }

    private mutating func loneRecord(of list: Int, into tape: inout JSONTape) throws {
        begin(list)
        walk.loneLists.insert(list)
        isLoneObject = true
        recordIndex = 0
        try scanner.value(into: &tape, depth: walk.levels.count)
        noteRecord(at: 0)
    }

    private mutating func note(_ remark: RecordPlaces.Remark, _ value: JSONValue) throws {
        switch remark {
        case .errors: if let error = SyncError(errorsOfService: value) { throw error }
        case .link: walk.page.note(link: value)
        case .pageInfo: walk.page.note(pageInfo: value)
        }
    }

    /// Reads the key of the next member of the innermost object, or its end.
    private mutating func member(into tape: inout JSONTape) throws -> Bool {
        let level = walk.levels.count - 1
        scanner.skipBlanks()
        let isFirst = walk.levels[level].names.isEmpty
        if try scanner.peek(isFirst ? "a key or '}'" : "',' or '}'") == .closeBrace { return try leave(into: &tape) }
        if !isFirst { try scanner.expect(.comma, "',' or '}'") }
        let start = scanner.position
        let name = try scanner.key()
        let node = walk.tracker.node(named: name.utf8)
        if node >= 0, walk.tracker.hasMet(node) {
            guard walk.places.nodes[node].name.isEmpty else {
                throw scanner.failure("the key '\(name)' occurs twice, so it is unclear which is meant", at: start)
            }
            let names = ShortList((walk.levels[level].names + [name]).map { "'\($0)'" }).text
            throw SyncError(
                .keyPathNotFound, "there are several fields, \(names): say which has the records with a key path",
                path: walk.path)
        }
        walk.levels[level].names.append(name)
        walk.state = .value(node)
        return false
    }

    /// The innermost object ends. If it has none of the places it could have, it may be the record itself.
    private mutating func leave(into tape: inout JSONTape) throws -> Bool {
        let node = walk.places.nodes[walk.tracker.node]
        let level = walk.levels[walk.levels.count - 1]
        let missing = node.members.first { walk.places.nodes[$0].isRequired && !walk.tracker.hasMet($0) }
        let path = walk.path
        let isBare = node.bareList >= 0 && !walk.tracker.hasMetAny
        walk.levels.removeLast()
        walk.tracker.leave()
        if isBare {
            scanner.position = level.start
            try loneRecord(of: node.bareList, into: &tape)
            walk.goOn()
            return true
        }
        if let missing {
            let names = ShortList(level.names.map { "'\($0)'" }).text
            throw SyncError(
                .keyPathNotFound,
                "there is no key '\(walk.places.nodes[missing].name)'; there is \(names.isEmpty ? "none" : names)",
                path: path)
        }
        scanner.advance()
        walk.goOn()
        return false
    }

    // MARK: Records

    /// Where in the tape the record is that was read.
    private mutating func noteRecord(at token: Int, name: Int = -1) {
        recordToken = token
        nameToken = name
    }

    /// Reads an element of the list that is open; false if that is no record, or the list ends.
    private mutating func element(of container: RecordPlaces.Container, into tape: inout JSONTape) throws -> Bool {
        let end: UInt8 = container == .members ? .closeBrace : .closeBracket
        let close = container == .members ? "'}'" : "']'"
        let expected = recordIndex < 0 ? "a record or \(close)" : "',' or \(close)"
        if try scanner.peek(expected) == end {
            scanner.advance()
            walk.goOn()
            return false
        }
        if recordIndex >= 0 { try scanner.expect(.comma, expected) }
        recordIndex += 1
        scanner.skipBlanks()
        let name = container == .members ? try memberName() : nil
        let depth = walk.levels.count + 1
        try scanner.value(into: &tape, depth: depth)
        if walk.places.admitsNull, tape.tokens[0].kind == .null {
            walk.page.hasNulls = true
            return false
        }
        guard tape.tokens[0].kind == .object else { throw noRecord(tape, 0, name) }
        var record = 0
        if container == .edges {
            guard let node = tape.member(named: "node", of: 0, in: scanner.bytes) else { throw noRecord(tape, 0, nil) }
            if tape.tokens[node].kind == .null {
                walk.page.hasNulls = true
                return false
            }
            guard tape.tokens[node].kind == .object else { throw noRecord(tape, node, nil) }
            record = node
        }
        let count = tape.tokens.count
        if var name {
            name.next = UInt32(truncatingIfNeeded: count + 1)
            tape.tokens.append(name)
        }
        noteRecord(at: record, name: name == nil ? -1 : count)
        return true
    }

    /// The name of a member, its colon, and the blanks before its value.
    private mutating func memberName() throws -> JSONTape.Token {
        guard try scanner.peek("a key") == .quote else { throw scanner.failure(expected: "a key") }
        let name = try scanner.string()
        scanner.skipBlanks()
        try scanner.expect(.colon, "':' after the key")
        scanner.skipBlanks()
        return name
    }

    private func noRecord(_ tape: JSONTape, _ token: Int, _ name: JSONTape.Token?) -> SyncError {
        let place = name.map { JSONTape.quoted($0, in: scanner.bytes) } ?? "\(recordIndex)"
        return SyncError(
            .recordExpected, "a record (JSON object) is expected, found \(tape.name(of: token))",
            path: "\(walk.label)[\(place)]")
    }
}

extension JSONTape {
    /// The value of a member of an object, the last of that name; nil if there is none.
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

    /// Whether a string is written just so, without escapes.
    @inline(__always)
    func isText(_ token: Int, _ text: StaticString, in bytes: UnsafeBufferPointer<UInt8>) -> Bool {
        let count = text.utf8CodeUnitCount
        guard tokens[token].length == count, tokens[token].kind == .string else { return false }
        let start = tokens[token].offset
        return (0..<count).allSatisfy { bytes[start + $0] == text.utf8Start[$0] }
    }

    /// The text of a string as it stands in a path: in quotes.
    static func quoted(_ token: Token, in bytes: UnsafeBufferPointer<UInt8>) -> String {
        "\"" + String(decoding: bytes[token.offset..<token.offset + Int(token.length)], as: UTF8.self) + "\""
    }
}
