import Foundation
import Sync
import Testing

/// Bad payloads and bad calls. Each gives an error with a code and a location, and changes nothing.
@Suite("Bad input is refused and changes nothing")
struct BadInputTests {
    struct Case: Sendable, CustomTestStringConvertible {
        var json: String
        var code: SyncError.Code
        var path: String?
        var line: Int?
        var column: Int?
        var testDescription: String { String(json.prefix(60)) }

        init(
            _ json: String, _ code: SyncError.Code, path: String? = nil, line: Int? = nil, column: Int? = nil
        ) {
            (self.json, self.code, self.path, self.line, self.column) = (json, code, path, line, column)
        }
    }

    static let payloads: [Case] = [
        Case("", .noRecords), Case("  \n ", .noRecords), Case("[", .malformedJSON, line: 1, column: 2),
        Case("{}", .noRecords, path: "$"), Case("[{}]", .noRecords, path: "$"),
        Case("[{\"id\": null, \"team\": {\"id\": 7}}, {\"id\": \"x\"}]", .noRecords, path: "$"),
        Case("{\"message\": \"Bad credentials\"}", .noRecords, path: "$"),
        Case("[{\"id\": 1}", .malformedJSON, line: 1, column: 11),
        Case("[{\"id\": 2}, ]", .malformedJSON, line: 1, column: 13),
        Case("[{\"id\": 2,}]", .malformedJSON, line: 1, column: 11),
        Case("[{\"id\" 2}]", .malformedJSON, line: 1, column: 8),
        Case("[{id: 2}]", .malformedJSON, line: 1, column: 3), Case("[{'id': 2}]", .malformedJSON, line: 1, column: 3),
        Case("[{\"id\": 02}]", .malformedJSON, line: 1, column: 9),
        Case("[{\"id\": NaN}]", .malformedJSON, line: 1, column: 9),
        Case("[{\"id\": 2}] x", .malformedJSON, line: 1, column: 13),
        Case("[{\"id\": 2}]\n// end", .malformedJSON, line: 2, column: 1),
        Case("[{\"id\": 2, \"name\": \"\\x\"}]", .malformedJSON, line: 1, column: 21),
        Case("[{\"id\": 2, \"name\": \"\\ud800\"}]", .malformedJSON, line: 1, column: 21),
        Case("[{\"id\": 2, \"name\": \"a\nb\"}]", .malformedJSON, line: 1, column: 22),
        Case(String(repeating: "[", count: 1_000_000), .nestingTooDeep, line: 1, column: 513),
        Case(String(repeating: "{\"a\":", count: 100_000), .nestingTooDeep),
        Case("7", .recordExpected, path: "$"), Case("null", .recordExpected, path: "$"),
        Case("\"users\"", .recordExpected, path: "$"), Case("[{\"id\": 2}, 5]", .recordExpected, path: "[1]"),
        Case("[[{\"id\": 2}]]", .recordExpected, path: "[0]"), Case("[null]", .recordExpected, path: "[0]"),
    ]

    @Test("A bad payload gives an error with its code and location, and changes nothing", arguments: payloads)
    func badPayloadIsRejected(_ bad: Case) async throws {
        let error = try await failure { stack in
            try await Sync.changes(Data(bad.json.utf8), inEntity: "User", stack: stack)
        }
        #expect(error.code == bad.code)
        if let path = bad.path { #expect(error.path == path) }
        if let line = bad.line { #expect(error.line == line) }
        if let column = bad.column { #expect(error.column == column) }
    }

    @Test(
        "A payload that is not UTF-8 gives invalidUTF8 with its column, and changes nothing",
        arguments: [[0xFF], [0xC0, 0xAF], [0xED, 0xA0, 0x80], [0xE2, 0x82], [0x80]] as [[UInt8]])
    func textOutsideUTF8IsRejected(_ bytes: [UInt8]) async throws {
        let json = Data("[{\"id\": 2, \"name\": \"".utf8) + Data(bytes) + Data("\"}]".utf8)
        let error = try await failure { try await Sync.changes(json, inEntity: "User", stack: $0) }
        #expect(error.code == .invalidUTF8)
        #expect(error.column == 21)
    }

    @Test(
        "A value that does not fit its attribute gives a diagnostic, and the stored value stays",
        arguments: [("b", "\"aa=a\""), ("b", "\"aGVsbG9=\""), ("b", "\"aGk\""), ("s", "1e2000000"), ("s", "[1]")])
    func misfitKeepsStoredValue(_ key: String, _ json: String) async throws {
        let entity = SyncModel.Entity(
            "File",
            attributes: [
                SyncModel.Attribute("id", .integer), SyncModel.Attribute("b", .binary),
                SyncModel.Attribute("s", .string),
            ])
        let stack = try DataStack.inMemory(SyncModel(entities: [entity]))
        try await Sync.changes([["id": 1, "b": "aGk=", "s": "kept"]] as JSONValue, inEntity: "File", stack: stack)
        let before = try await stack.contents()
        let payload = Data("[{\"id\": 1, \"\(key)\": \(json)}]".utf8)
        let result = try await Sync.changes(payload, inEntity: "File", stack: stack)
        #expect(result.diagnostics.map(\.kind) == [.typeMismatch])
        #expect(result.diagnostics.map(\.path) == ["[0].\(key)"])
        #expect(try await stack.contents() == before)
    }

    typealias Call = @Sendable (DataStack) async throws -> SyncResult
    private static let one: JSONValue = [["id": 2]]

    static let calls: [(String, SyncError.Code, Call)] = [
        ("unknown entity", .unknownEntity, { try await Sync.changes(one, inEntity: "Robot", stack: $0) }),
        ("keyless entity", .keylessEntity, { try await Sync.changes(one, inEntity: "Address", stack: $0) }),
        ("abstract entity", .abstractEntity, { try await Sync.changes(one, inEntity: "Animal", stack: $0) }),
        (
            "unknown parent entity", .unknownEntity,
            { try await Sync.changes(one, inEntity: "User", stack: $0, parent: SyncParent("Robot", id: 1)) }
        ),
        (
            "parent that is not stored", .parentNotFound,
            {
                try await Sync.changes(
                    one, inEntity: "User", stack: $0, parent: SyncParent("Team", id: 99, relationship: "members"))
            }
        ),
        (
            "parent id of another type", .typeMismatch,
            {
                try await Sync.changes(
                    one, inEntity: "User", stack: $0, parent: SyncParent("Team", id: "x", relationship: "members"))
            }
        ),
        (
            "two relationships from the parent", .ambiguousRelationship,
            { try await Sync.changes(one, inEntity: "User", stack: $0, parent: SyncParent("Team", id: 1)) }
        ),
        (
            "unknown relationship of the parent", .unknownRelationship,
            {
                try await Sync.changes(
                    one, inEntity: "User", stack: $0, parent: SyncParent("Team", id: 1, relationship: "fans"))
            }
        ),
        (
            "broken predicate", .invalidPredicate,
            { try await Sync.changes(one, inEntity: "User", stack: $0, predicate: .where("age >")) }
        ),
        (
            "predicate on an unknown attribute", .invalidPredicate,
            { try await Sync.changes(one, inEntity: "User", stack: $0, predicate: .where("wings == 2")) }
        ),
        (
            "value that does not fit, strictly", .typeMismatch,
            {
                try await Sync.changes(
                    [["id": 2, "age": "old"]] as JSONValue, inEntity: "User", stack: $0,
                    options: SyncOptions(isStrict: true))
            }
        ),
        (
            "more deletions than allowed", .deletionLimitExceeded,
            {
                try await Sync.changes(
                    one, inEntity: "User", stack: $0, options: SyncOptions(deletionLimit: .fraction(0.5)))
            }
        ),
        ("denied deletion", .deletionDenied, { try await Sync.changes([["id": 9]], inEntity: "Team", stack: $0) }),
        (
            "number that is not JSON", .typeMismatch,
            { try await Sync.changes([["id": .number("1x")]] as JSONValue, inEntity: "User", stack: $0) }
        ),
        (
            "Swift value without a JSON form", .typeMismatch,
            { try await Sync.changes([["id": 2, "age": Double.nan]] as [[String: Any]], inEntity: "User", stack: $0) }
        ),
        (
            "key path that is not there", .keyPathNotFound,
            {
                var options = SyncOptions()
                options.keyPath = ["data", "users"]
                return try await Sync.changes(
                    Data("{\"data\": {}}".utf8), inEntity: "User", stack: $0, options: options)
            }
        ),
    ]

    @Test("A bad call gives an error with its code, and changes nothing", arguments: calls.indices)
    func badCallIsRejected(_ index: Int) async throws {
        let (name, code, call) = Self.calls[index]
        let error = try await failure(call)
        #expect(error.code == code, "\(name): \(error)")
        #expect(!error.message.isEmpty)
    }

    // MARK: The store

    private func failure(_ call: Call) async throws -> SyncError {
        let stack = try await stored()
        let before = try await stack.contents()
        let changes = try await stack.totalChanges()
        var found: SyncError?
        do {
            _ = try await call(stack)
            Issue.record("the call should have failed")
        } catch let error as SyncError {
            found = error
        }
        #expect(try await stack.contents() == before)
        // These errors are found after rows are written. The sync then rolls back.
        if found?.code != .deletionLimitExceeded, found?.code != .deletionDenied {
            #expect(try await stack.totalChanges() == changes)
        }
        return try #require(found)
    }

    private func stored() async throws -> DataStack {
        let stack = try DataStack.inMemory(
            SyncModel(entities: [
                SyncModel.Entity(
                    "User",
                    attributes: [
                        SyncModel.Attribute("id", .integer), SyncModel.Attribute("name", .string),
                        SyncModel.Attribute("age", .integer),
                    ],
                    relationships: [
                        SyncModel.Relationship("team", to: "Team", inverse: "members"),
                        SyncModel.Relationship("coaches", to: "Team", inverse: "coach"),
                        SyncModel.Relationship("address", to: "Address"),
                    ]),
                SyncModel.Entity(
                    "Team", attributes: [SyncModel.Attribute("id", .integer)],
                    relationships: [
                        SyncModel.Relationship("members", to: "User", many: true, inverse: "team", deleteRule: .deny),
                        SyncModel.Relationship("coach", to: "User", many: true, inverse: "coaches"),
                    ]),
                SyncModel.Entity("Address", attributes: [SyncModel.Attribute("street", .string)]),
                SyncModel.Entity("Animal", isAbstract: true, attributes: [SyncModel.Attribute("id", .integer)]),
            ]))
        let users: JSONValue = [
            ["id": 1, "name": "Ada", "age": 36, "team": ["id": 1], "address": ["street": "A"]], ["id": 3], ["id": 4],
        ]
        try await Sync.changes(users, inEntity: "User", stack: stack)
        return stack
    }
}

@Suite("Deletion limits")
struct DeletionGuardOptionTests {
    @Test(
        "A deletion limit that is negative, infinite or above 1 as a fraction gives invalidOption",
        arguments: [
            .rows(-1), .fraction(.nan), .fraction(.infinity), .fraction(-0.1), .fraction(1.5, above: 3),
            .fraction(0.5, above: -1), .fraction(1, above: .min),
        ] as [DeletionLimit])
    func invalidLimitIsRejected(limit: DeletionLimit) async throws {
        let stack = try DataStack.inMemory(Fixtures.model("company"))
        try await Sync.changes(Fixtures.payload("day1"), inEntity: "User", stack: stack)
        let error = await #expect(throws: SyncError.self) {
            try await Sync.changes(
                [], inEntity: "User", stack: stack, options: SyncOptions(deletionLimit: limit))
        }
        #expect(error?.code == .invalidOption)
        #expect(try await stack.count("User") == 8)
    }

    @Test(
        "A deletion limit may be as large as numbers are",
        arguments: [
            .rows(.max), .fraction(0.5, above: .max), .fraction(0, above: .max), .fraction(1, above: .max),
            .fraction(1, above: Int.max - 1), .fraction(.leastNonzeroMagnitude, above: .max - 1),
        ] as [DeletionLimit])
    func largeLimitAllowsDeletions(limit: DeletionLimit) async throws {
        let stack = try DataStack.inMemory(Fixtures.model("company"))
        try await Sync.changes(Fixtures.payload("day1"), inEntity: "User", stack: stack)
        try await Sync.changes([], inEntity: "User", stack: stack, options: SyncOptions(deletionLimit: limit))
        #expect(try await stack.count("User") == 0)
    }

    @Test("A chunk size below 1 gives invalidOption for each kind of payload", arguments: [0, -1, .min])
    func invalidChunkSizeIsRejected(size: Int) async throws {
        let stack = try DataStack.inMemory(Fixtures.model("company"))
        let options = SyncOptions(chunkSize: size)
        let whole = await #expect(throws: SyncError.self) {
            try await Sync.changes(Data("[]".utf8), inEntity: "User", stack: stack, options: options)
        }
        let stream = AsyncStream<Data> { $0.finish() }
        let chunked = await #expect(throws: SyncError.self) {
            try await Sync.changes(.buffers(stream), inEntity: "User", stack: stack, options: options)
        }
        #expect(whole?.code == .invalidOption && chunked?.code == .invalidOption)
    }

    @Test("The largest chunk size reads a stream as one chunk")
    func largestChunkSizeReadsWholeStream() async throws {
        let stack = try DataStack.inMemory(Fixtures.model("company"))
        let payload = try Fixtures.payload("day1")
        let stream = AsyncStream<Data> { stream in
            stream.yield(payload)
            stream.finish()
        }
        try await Sync.changes(
            .buffers(stream), inEntity: "User", stack: stack, options: SyncOptions(chunkSize: .max))
        #expect(try await stack.count("User") == 8)
    }
}
