import Testing

@Suite("Help")
struct HelpTests {
    static let payload = [
        "--entity", "--model", "--database", "--key", "--where", "--operations", "--parent", "--scope", "--max-delete",
        "--strict", "--ndjson", "--json", "--quiet", "--all", "--max-size", "--color", "--busy-timeout", "--version",
    ]

    @Test(
        "Every option is explained",
        arguments: [
            (["import"], payload + ["--verbose", "--dry-run"]),
            (["diff"], payload + ["--exit-code"]),
            (
                ["query"],
                [
                    "--database", "--where", "--order-by", "--limit", "--offset", "--columns", "--format", "--json",
                    "--color",
                ]
            ),
            (
                ["export"],
                [
                    "--database", "--where", "--order-by", "--limit", "--case", "--relationships", "--date-format",
                    "--time-zone", "--ndjson", "--output", "--format", "--offset",
                ]
            ),
            (["count"], ["--database", "--where", "--format"]),
            (["schema", "show"], ["--database", "--model", "--json", "--color"]),
            (["schema", "convert"], ["--output"]),
            (
                ["doctor"],
                ["--entity", "--model", "--database", "--key", "--ndjson", "--max-size", "--json", "--color"]
            ),
            (["verify"], ["--only", "--verbose", "--json", "--quiet", "--color"]),
        ])
    func options(command: [String], options: [String]) throws {
        let sandbox = try Sandbox()
        let run = try sandbox.run(command + ["--help"])
        #expect(run.status == 0)
        for option in options {
            let line = run.output.split(separator: "\n").firstIndex {
                $0.hasPrefix("  \(option)") || $0.hasPrefix("  -d, \(option)")
            }
            #expect(line != nil, "\(option) is not in the help")
        }
    }

    @Test(
        "Options stand in groups",
        arguments: [
            (["import"], ["PAYLOAD", "DATABASE", "OUTPUT", "OPTIONS"]),
            (["query"], ["DATABASE", "ROWS", "OUTPUT", "OPTIONS"]),
            (["export"], ["DATABASE", "ROWS", "RECORDS", "OUTPUT", "OPTIONS"]),
            (["schema", "show"], ["MODEL", "OUTPUT"]),
        ])
    func groups(command: [String], titles: [String]) throws {
        let lines = try Sandbox().run(command + ["--help"]).output.split(separator: "\n")
        let found = lines.filter { $0.hasSuffix(":") && !$0.hasPrefix(" ") }.map { String($0.dropLast()) }
        #expect(titles.allSatisfy(found.contains), "\(found)")
    }

    @Test("Every subcommand is listed with what it does")
    func subcommands() throws {
        let help = try Sandbox().syncdb("--help").output
        for command in ["import", "diff", "export", "query", "count", "schema", "doctor", "verify"] {
            #expect(help.contains("\n  \(command)"))
        }
    }

    @Test("The operations are named")
    func operations() throws {
        let help = try Sandbox().syncdb("import", "--help").output
        for name in ["insert", "update", "delete", "insertRelationships", "deleteRelationships"] {
            #expect(help.contains(name))
        }
    }
}
