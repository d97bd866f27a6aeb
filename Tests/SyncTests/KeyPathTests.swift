import Foundation
import Sync
import Testing

@Suite("Key paths to the records")
struct KeyPathTests {
    private func options(_ keyPath: [String]) -> SyncOptions {
        var options = SyncOptions()
        options.keyPath = .init(keyPath)
        return options
    }

    @Test(
        "A key path finds the records in bytes and in values",
        arguments: [
            (#"{"page": {"books": [{"isbn": "1"}, {"isbn": "2"}]}}"#, ["page", "books"], 2),
            (#"{"3166-1": {"isbn": "1"}, "a.b": 0}"#, ["3166-1"], 1), (#"{"a.b": [{"isbn": "1"}]}"#, ["a.b"], 1),
            (#"{"": [{"isbn": "1"}]}"#, [""], 1), (#"[{"isbn": "1"}]"#, [], 1), (#"{"books": []}"#, ["books"], 0),
        ] as [(String, [String], Int)])
    func keyPathFindsRecords(_ text: String, _ keyPath: [String], _ count: Int) async throws {
        let stacks = try (0..<2).map { _ in try CallFormTests.store() }
        let json = Data(text.utf8)
        let options = options(keyPath)
        let bytes = try await Sync.changes(json, inEntity: "Book", stack: stacks[0], options: options)
        let value = try JSONValue(parsing: json)
        #expect(try await Sync.changes(value, inEntity: "Book", stack: stacks[1], options: options) == bytes)
        #expect(bytes["Book"].insertedCount == count)
        #expect(bytes.diagnostics == [])
    }

    @Test(
        "A key path is a string literal with dots, or an array",
        arguments: [
            ("data.books", ["data", "books"]), (["data", "books"], ["data", "books"]), ("books", ["books"]),
            (["a.b"], ["a.b"]), ("data..books.", ["data", "books"]), ("", []), ([], []),
        ] as [(SyncOptions.KeyPath, [String])])
    func keyPathLiterals(path: SyncOptions.KeyPath, keys: [String]) {
        #expect(path == SyncOptions.KeyPath(keys))
        #expect(path.keys == keys)
    }

    @Test("A string literal as the key path finds the records")
    func stringLiteralFindsRecords() async throws {
        let stack = try CallFormTests.store()
        let json = Data(#"{"data": {"books": [{"isbn": "1"}]}}"#.utf8)
        var options = SyncOptions(keyPath: "data")
        options.keyPath = "data.books"
        let result = try await Sync.changes(json, inEntity: "Book", stack: stack, options: options)
        #expect(result["Book"].insertedCount == 1)
    }

    @Test(
        "A key path that does not exist gives the same error for bytes and for values",
        arguments: [
            (#"{"pages": [{"isbn": "1"}]}"#, ["page"]), (#"{"page": [{"isbn": "1"}]}"#, ["page", "books"]),
            (#"[{"isbn": "1"}]"#, ["page"]), (#"{"isbn": "1"}"#, ["page"]),
        ] as [(String, [String])])
    func missingKeyPathIsError(_ text: String, _ keyPath: [String]) async throws {
        let stack = try CallFormTests.store()
        let json = Data(text.utf8)
        let options = options(keyPath)
        let bytes = await #expect(throws: SyncError.self) {
            try await Sync.changes(json, inEntity: "Book", stack: stack, options: options)
        }
        #expect(bytes?.code == .keyPathNotFound)
        let value = try JSONValue(parsing: json)
        let values = await #expect(throws: SyncError.self) {
            try await Sync.changes(value, inEntity: "Book", stack: stack, options: options)
        }
        #expect(values?.code == bytes?.code && values?.path == bytes?.path && values?.message == bytes?.message)
        #expect(try await stack.count("Book") == 0)
    }

    @Test(
        "A payload that is not JSON gives the same error with and without a key path",
        arguments: [
            "<!doctype html><html><body>Login</body></html>", "<?xml version=\"1.0\"?><books/>",
            "isbn,title\n1,a\n2,b\n", "Bad gateway", "",
        ])
    func textOutsideJSON(_ text: String) async throws {
        let stack = try CallFormTests.store()
        let json = Data(text.utf8)
        let error = await #expect(throws: SyncError.self) {
            try await Sync.changes(json, inEntity: "Book", stack: stack)
        }
        let options = options(["page", "books"])
        let keyed = await #expect(throws: SyncError.self) {
            try await Sync.changes(json, inEntity: "Book", stack: stack, options: options)
        }
        let buffers = AsyncStream<Data> {
            $0.yield(json); $0.finish()
        }
        let chunks = await #expect(throws: SyncError.self) {
            try await Sync.changes(.buffers(buffers), inEntity: "Book", stack: stack, options: options)
        }
        #expect(keyed?.code == error?.code && keyed?.message == error?.message && keyed?.column == error?.column)
        #expect(keyed?.recoverySuggestion == error?.recoverySuggestion)
        #expect(chunks == keyed)
        if text.contains("<html") { #expect(keyed?.recoverySuggestion?.contains("HTML") == true) }
    }

    @Test(
        "A payload that is a single value gives recordExpected with and without a key path",
        arguments: [#""<html></html>""#, "5", "true", "null"])
    func singleValue(_ text: String) async throws {
        let stack = try CallFormTests.store()
        let value = try JSONValue(parsing: Data(text.utf8))
        for keyPath in [[], ["page"]] {
            let options = options(keyPath)
            let bytes = await #expect(throws: SyncError.self) {
                try await Sync.changes(Data(text.utf8), inEntity: "Book", stack: stack, options: options)
            }
            let values = await #expect(throws: SyncError.self) {
                try await Sync.changes(value, inEntity: "Book", stack: stack, options: options)
            }
            #expect(bytes?.code == .recordExpected && values?.code == .recordExpected)
            #expect(bytes?.path == "$" && values?.path == "$")
        }
    }

    @Test("A key path for an array of dictionaries is an error")
    func dictionariesTakeNoKeyPath() async throws {
        let stack = try CallFormTests.store()
        let options = options(["page"])
        let books: [[String: Any]] = [["isbn": "1"]]
        await #expect(throws: SyncError.self) {
            try await Sync.changes(books, inEntity: "Book", stack: stack, options: options)
        }
        #expect(try await stack.count("Book") == 0)
    }

    @Test("A key path for NDJSON gives invalidOption")
    func linesTakeNoKeyPath() async throws {
        let stack = try CallFormTests.store()
        var lines = options(["page"])
        lines.format = .ndjson
        let options = lines
        let error = await #expect(throws: SyncError.self) {
            try await Sync.changes(Data(#"{"isbn": "1"}"#.utf8), inEntity: "Book", stack: stack, options: options)
        }
        #expect(error?.code == .invalidOption)
        #expect(try await stack.count("Book") == 0)
    }
}
