import Foundation
import Sync
import Testing

@testable import syncdb

@Suite("Formats of rows")
struct QueryFormatTests {
    private let sandbox: Sandbox

    init() throws {
        sandbox = try Sandbox()
        try Self.tags.get().write(to: sandbox.folder.appendingPathComponent("app.sqlite"))
    }

    /// A store with tags whose names need escaping in some of the formats.
    private static let tags = Result {
        let sandbox = try Sandbox()
        let tags = try sandbox.file(
            "tags.json",
            #"[{"id": 1, "name": "a,\"b\"\nc|d\te"}, {"id": 2, "name": ""}, {"id": 3}, {"id": 4, "name": "日本 e\u0301"}]"#
        )
        let run = try sandbox.syncdb(
            "import", tags, "--entity", "Tag", "--model", Sandbox.model, "--database", "app.sqlite", "--quiet")
        try #require(run.status == 0, "\(run.errors)")
        return try Data(contentsOf: sandbox.folder.appendingPathComponent("app.sqlite"))
    }

    private func query(_ arguments: String...) throws -> String {
        let run = try sandbox.run(["query", "Tag", "--database", "app.sqlite"] + arguments)
        #expect(run.status == 0 && run.errors == "", "\(run.errors)")
        return run.output
    }

    @Test("The table format aligns columns by their width on a terminal")
    func tableAlignsColumns() throws {
        #expect(
            try query("--format", "table")
                == "id  name\n 1  a,\"b\"\\nc|d\\te\n 2\n 3\n 4  日本 e\u{301}\n")
        #expect(try query() == query("--format", "table"))
    }

    @Test("The vertical format has a line per value")
    func verticalHasALinePerValue() throws {
        let lines = try query("--format", "vertical", "--where", "id IN {3, 4}")
        #expect(lines == "id    3\nname\n\nid    4\nname  日本 e\u{301}\n")
    }

    @Test("The formats json and ndjson are exact, and nil is null")
    func jsonIsExact() throws {
        let array = try query("--format", "json")
        #expect(try query("--json") == array)
        let rows = try JSONDecoder().decode([JSONValue].self, from: Data(array.utf8))
        #expect(rows.map { $0["name"] } == ["a,\"b\"\nc|d\te", "", .null, "日本 e\u{301}"])
        let lines = try query("--format", "ndjson").split(separator: "\n").map { try JSONValue(parsing: String($0)) }
        #expect(lines == rows)
    }

    @Test("The format csv follows RFC 4180, quotes an empty text and leaves nil empty")
    func csvFollowsRFC4180() throws {
        #expect(
            try query("--format", "csv")
                == "id,name\n1,\"a,\"\"b\"\"\nc|d\te\"\n2,\"\"\n3,\n4,日本 e\u{301}\n")
    }

    @Test("The format tsv is csv with tabs")
    func tsvIsCSVWithTabs() throws {
        #expect(
            try query("--format", "tsv")
                == "id\tname\n1\t\"a,\"\"b\"\"\nc|d\te\"\n2\t\"\"\n3\t\n4\t日本 e\u{301}\n")
    }

    @Test("The format markdown aligns numbers to the right and escapes bars")
    func markdownEscapesBars() throws {
        #expect(
            try query("--format", "markdown")
                == "| id | name |\n| --: | --- |\n| 1 | a,\"b\"\\nc\\|d\\te |\n| 2 |  |\n| 3 |  |\n| 4 | 日本 e\u{301} |\n"
        )
    }

    @Test(
        "A query without rows prints only the header or the brackets of its format",
        arguments: [
            ("table", "id  name\n"), ("vertical", ""), ("json", "[]\n"), ("ndjson", ""), ("csv", "id,name\n"),
            ("tsv", "id\tname\n"), ("markdown", "| id | name |\n| --: | --- |\n"),
        ])
    func noRowsInEachFormat(format: String, output: String) throws {
        #expect(try query("--format", format, "--where", "id > 9") == output)
    }

    @Test("Values of every type are equal in all formats for programs and in an export")
    func valuesEqualTheExport() throws {
        let model = try sandbox.file(
            "types.json",
            """
            {"entities": {"Value": {"attributes": {"id": "integer", "size": "integer", "flag": "boolean", "ratio": "double",
              "price": "decimal", "when": "date", "token": "uuid", "link": "url", "data": "binary", "tree": "json"}}}}
            """)
        let record = """
            {"id": 5, "size": -9223372036854775808, "flag": true, "ratio": 0.1, "price": "12345678901234567890.12",
             "when": "2024-02-29T18:29:59.250Z", "token": "0C4B4A11-9D1F-4B6C-8A64-0F6C4E8F4B6B",
             "link": "https://example.com/ä?q=1&r=2", "data": "AAEC/w==", "tree": {"b": [1, "x\\u001f"], "a": null}}
            """
        let values = try sandbox.file("values.json", "[\(record), {\"id\": 9}]")
        let run = try sandbox.syncdb(
            "import", values, "--entity", "Value", "--model", model, "--database", "types.sqlite", "--quiet")
        try #require(run.status == 0, "\(run.errors)")
        func rows(_ format: String) throws -> String {
            try sandbox.syncdb("query", "Value", "-d", "types.sqlite", "--format", format).output
        }
        let found = try JSONDecoder().decode([JSONValue].self, from: Data(rows("json").utf8))
        let export = try sandbox.syncdb("export", "Value", "-d", "types.sqlite").output
        let exported = try JSONDecoder().decode([JSONValue].self, from: Data(export.utf8))
        for name in ["id", "size", "flag", "ratio", "when", "token", "link", "data", "tree"] {
            #expect(found[0][name] == exported[0][name], "\(name)")
            #expect(name == "id" || found[1][name] == .null, "\(name)")
        }
        #expect(found[0]["price"] == .number("12345678901234567890.12"))
        let csv = try rows("csv").split(separator: "\n")
        #expect(
            csv[1]
                == #"5,-9223372036854775808,true,0.1,12345678901234567890.12,2024-02-29T18:29:59.250Z,0C4B4A11-9D1F-4B6C-8A64-0F6C4E8F4B6B,https://example.com/ä?q=1&r=2,AAEC/w==,"{""a"": null, ""b"": [1, ""x\u001f""]}""#
        )
        #expect(csv[2] == "9,,,,,,,,,")
    }

    @Test("A text of another program that is not UTF-8 is printed with replacement characters")
    func invalidUTF8IsReplaced() throws {
        _ = try sandbox.query("UPDATE \"Tag\" SET \"name\" = CAST(X'61ff62' AS TEXT) WHERE id = 1")
        #expect(try query("--where", "id == 1", "--format", "csv") == "id,name\n1,a\u{FFFD}b\n")
        #expect(try query("--where", "id == 1", "--format", "ndjson") == "{\"id\": 1, \"name\": \"a\u{FFFD}b\"}\n")
    }

    // MARK: Control characters

    @Test(
        "Formats for people escape control characters in pipes too, and other formats keep them",
        arguments: RowFormat.allCases)
    func controlCharactersByFormat(format: RowFormat) throws {
        let json = try HostileText.json
        let tag = try sandbox.file("hostile.json", #"[{"id": 9, "name": \#(json)}]"#)
        _ = try sandbox.syncdb("import", tag, "--entity", "Tag", "-d", "app.sqlite", "--delta", "--quiet")
        let output = try query("--where", "id == 9", "--format", format.rawValue)
        #expect(HostileText.isSafe(output) == format.isForPeople)
        switch format {
        case .csv, .tsv: #expect(output.contains(HostileText.text))
        case .json:
            let rows = try JSONDecoder().decode([JSONValue].self, from: Data(output.utf8))
            #expect(rows[0]["name"] == .string(HostileText.text))
        case .ndjson: #expect(try JSONValue(parsing: output)["name"] == .string(HostileText.text))
        default: #expect(output.contains("\\u001b[2J"))
        }
        let exported = try sandbox.syncdb(
            "export", "Tag", "-d", "app.sqlite", "--where", "id == 9", "--format", format.rawValue)
        #expect(HostileText.isSafe(exported.output) == format.isForPeople)
        let seen =
            try Typescript.isThere
            ? Typescript.run(
                [
                    "query", "Tag", "-d", "app.sqlite", "--where", "id == 9", "--format", format.rawValue, "--color",
                    "never",
                ],
                in: sandbox.folder
            ).output.replacingOccurrences(of: "\r\n", with: "\n").replacingOccurrences(of: "\t", with: " ") : ""
        #expect(HostileText.isSafe(seen))
    }

    // MARK: count and export

    @Test("count prints a number, or a row of a format")
    func countHasFormats() throws {
        func count(_ format: String...) throws -> String {
            try sandbox.run(["count", "Tag", "-d", "app.sqlite"] + format).output
        }
        #expect(try count() == "4\n")
        #expect(try count("--format", "json") == "[\n  {\"count\": 4}\n]\n")
        #expect(try count("--format", "ndjson") == "{\"count\": 4}\n")
        #expect(try count("--format", "csv") == "count\n4\n")
        #expect(try count("--format", "tsv") == "count\n4\n")
        #expect(try count("--format", "table") == "count\n    4\n")
        #expect(try count("--format", "vertical") == "count  4\n")
        #expect(try count("--format", "markdown") == "| count |\n| --: |\n| 4 |\n")
    }

    @Test("export has the keys of its records as columns, and nested values as JSON")
    func exportHasColumns() throws {
        let sandbox = try Sandbox.withUsers()
        func export(_ arguments: String...) throws -> Program.Run {
            try sandbox.run(["export", "User", "-d", "app.sqlite", "--where", "id IN {1, 7}"] + arguments)
        }
        let csv = try export("--format", "csv").output.split(separator: "\n")
        #expect(csv[0] == "id,first_name,last_name,age,joined_at,contact,company,notes,tags")
        #expect(
            csv[1].hasPrefix(#"1,Ada,Lovelace,36,2023-03-01T08:00:00Z,"{""email"":""ada@example.com""}","{""id"":1,"#))
        // The user has no company, so the cell is empty.
        #expect(csv[2].contains(#"@example.com""}",,["#) || csv[2].contains(#"@example.com""}",,"["#), "\(csv[2])")
        let plain = try export(
            "--format", "tsv", "--relationships", "none", "--case", "camel", "--limit", "1", "--offset", "1")
        #expect(plain.output.hasPrefix("id\tfirstName\tlastName\tage\tjoinedAt\tcontact\n7\tGrace\t"))
        #expect(try export("--format", "json").output == export().output)
        #expect(try export("--format", "ndjson").output == export("--ndjson").output)
        #expect(try export("--format", "csv", "--ndjson").status == 2)
        #expect(try export("--format", "markdown", "--output", "users.md").status == 0)
        #expect(try sandbox.files.contains("users.md"))
    }

    @Test("An export of an entity with subentities has the columns of all")
    func subEntitiesHaveAllColumns() throws {
        let model = try sandbox.file(
            "animals.json",
            """
            {"entities": {"Animal": {"attributes": {"id": "integer", "name": "string"}},
              "Dog": {"parent": "Animal", "attributes": {"tricks": "integer"}},
              "Cat": {"parent": "Animal", "attributes": {"lives": "integer"}}}}
            """)
        for (entity, record) in [
            ("Dog", #"{"id": 1, "name": "Rex", "tricks": 3}"#), ("Cat", #"{"id": 2, "lives": 9}"#),
        ] {
            let run = try sandbox.syncdb(
                "import", "-", "--entity", entity, "--model", model, "-d", "zoo.sqlite", "--quiet", input: "[\(record)]"
            )
            try #require(run.status == 0, "\(run.errors)")
        }
        let csv = try sandbox.syncdb("export", "Animal", "-d", "zoo.sqlite", "--format", "csv")
        let lines = csv.output.split(separator: "\n").map { $0.split(separator: ",", omittingEmptySubsequences: false) }
        let rows = lines.dropFirst().map { Dictionary(uniqueKeysWithValues: zip(lines[0], $0)) }
        #expect(rows.map { $0["tricks"] } == ["3", ""])
        #expect(rows.map { $0["lives"] } == ["", "9"])
        #expect(rows.map { $0["name"] } == ["Rex", ""])
    }

    @Test("--json excludes another --format, and an unknown format is an error with a suggestion")
    func formatsExcludeEachOther() throws {
        #expect(try sandbox.syncdb("query", "Tag", "-d", "app.sqlite", "--json", "--format", "csv").status == 2)
        #expect(try sandbox.syncdb("query", "Tag", "-d", "app.sqlite", "--json", "--format", "json").status == 0)
        let run = try sandbox.syncdb("query", "Tag", "-d", "app.sqlite", "--format", "markdwn")
        #expect(run.status == 2)
        #expect(run.errors.contains("did you mean 'markdown'?"))
    }
}
