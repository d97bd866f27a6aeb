import Testing

@Suite("Help")
struct HelpTests {
    static let payload = [
        "--entity", "--model", "--database", "--key", "--where", "--operations", "--parent", "--scope", "--max-delete",
        "--strict", "--ndjson", "--json", "--quiet", "--all", "--max-size", "--color",
    ]

    @Test(
        "Every option is explained",
        arguments: [
            (["import"], payload + ["--verbose"]),
            (["diff"], payload),
            (["query"], ["--database", "--where", "--order-by", "--limit", "--json", "--color"]),
            (
                ["export"],
                [
                    "--database", "--where", "--order-by", "--limit", "--case", "--relationships", "--date-format",
                    "--time-zone", "--ndjson", "--output",
                ]
            ),
            (["count"], ["--database", "--where"]),
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
            let line = run.output.split(separator: "\n").firstIndex { $0.hasPrefix("  \(option)") }
            #expect(line != nil, "\(option) is not in the help")
        }
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
