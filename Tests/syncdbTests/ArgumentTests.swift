import Sync
import Testing

@testable import syncdb

@Suite("Arguments")
struct ArgumentTests {
    @Test(
        "--parent takes an entity, an ID and optionally a relationship",
        arguments: [
            ("User:6", "User", "6", nil), ("User:6:notes", "User", "6", "notes"), ("User:-6", "User", "-6", nil),
            ("Day:2024-01-02T03:04:05Z", "Day", "2024-01-02T03:04:05Z", nil),
            ("Book:urn:isbn:1", "Book", "urn:isbn:1", nil), ("Book:urn:isbn:1:pages", "Book", "urn:isbn:1", "pages"),
        ] as [(String, String, String, String?)])
    func parentHasEntityAndID(text: String, entity: String, id: String, relationship: String?) throws {
        let parent = try #require(ParentArgument(argument: text))
        #expect(parent.entity == entity)
        #expect(parent.id == id)
        #expect(parent.relationship == relationship)
    }

    @Test("--parent without an entity or an ID is rejected", arguments: ["User", "User:", ":6", "", "User::notes"])
    func incompleteParentIsRejected(text: String) {
        #expect(ParentArgument(argument: text) == nil)
    }

    @Test(
        "--max-delete takes rows or a percentage",
        arguments: [
            ("0", .rows(0)), ("20", .rows(20)), ("10%", .fraction(0.1)), ("12.5%", .fraction(0.125)), ("100%", nil),
        ] as [(String, DeletionLimit?)])
    func maximumDeletionIsRowsOrPercent(text: String, expected: DeletionLimit?) throws {
        #expect(try #require(MaximumDeletion(argument: text)).limit == expected)
    }

    @Test("--max-delete rejects other values", arguments: ["", "%", "-1", "101%", "-1%", "1.5", "half", "nan%"])
    func otherLimitsAreRejected(text: String) {
        #expect(MaximumDeletion(argument: text) == nil)
    }

    @Test("A misspelled option is reported, not the argument that is missing because of it")
    func misspelledOption() {
        let missing =
            "error: Missing expected argument '--entity <name> ...'\nHelp:  --entity <name>  The entity\nUsage: x"
        func message(_ arguments: String...) -> String { Suggestion.added(to: missing, arguments) }
        #expect(
            message("import", "a.json", "--entitty", "User")
                == "error: unknown option '--entitty'; did you mean '--entity'?\nUsage: x")
        #expect(message("schema", "infer", "--entiti=User").contains("'--entiti'; did you mean '--entity'?"))
        #expect(message("import", "a.json", "--quiet", "--max-delete=5") == missing)
        #expect(message("import", "--", "--entitty") == missing)
    }

    @Test("--operations takes a list of names")
    func operationsAreAList() {
        #expect(OperationList(argument: "insert,update")?.value == [.insert, .update])
        #expect(OperationList(argument: "all")?.value == .all)
        #expect(OperationList(argument: "insert,")?.value == nil)
        #expect(OperationList(argument: "Insert")?.value == nil)
    }
}

@Suite("Tables")
struct TablePrinterTests {
    @Test("Columns of a table are aligned, numbers to the right")
    func columnsAreAligned() {
        var table = TablePrinter([.init(title: "id", isNumeric: true), .init(title: "name"), .init(title: "note")])
        table.add(["7", "Åsa", "x"])
        table.add(["1000", "Bo", ""])
        #expect(table.text.text == "  id  name  note\n   7  Åsa   x\n1000  Bo")
    }

    @Test("A cell of a table escapes control characters and cuts long text")
    func cellsEscapeAndCutText() {
        var table = TablePrinter([.init(title: "text")])
        table.maximumWidth = 10
        table.add(["a\nb\u{1B}[2J"])
        table.add([String(repeating: "0123456789", count: 12)])
        #expect(table.text.text == "text\na\\nb\\u001b[2J\n012345678… (111 bytes more)")
    }
}
