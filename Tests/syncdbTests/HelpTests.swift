import Testing

@Suite("Help")
struct HelpTests {
    static let payload = [
        "--entity", "--model", "--database", "--key", "--where", "--operations", "--parent", "--scope", "--max-delete",
        "--strict", "--ndjson", "--json", "--quiet", "--all", "--max-size", "--color", "--busy-timeout", "--version",
    ]

    @Test(
        "The help explains every option",
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
    func optionsAreExplained(command: [String], options: [String]) throws {
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
        "The help lists options in groups",
        arguments: [
            (["import"], ["PAYLOAD", "DATABASE", "OUTPUT", "OPTIONS"]),
            (["query"], ["DATABASE", "ROWS", "OUTPUT", "OPTIONS"]),
            (["export"], ["DATABASE", "ROWS", "RECORDS", "OUTPUT", "OPTIONS"]),
            (["schema", "show"], ["MODEL", "OUTPUT"]),
        ])
    func optionsAreGrouped(command: [String], titles: [String]) throws {
        let lines = try Sandbox().run(command + ["--help"]).output.split(separator: "\n")
        let found = lines.filter { $0.hasSuffix(":") && !$0.hasPrefix(" ") }.map { String($0.dropLast()) }
        #expect(titles.allSatisfy(found.contains), "\(found)")
    }

    @Test("The help lists every subcommand")
    func subcommandsAreListed() throws {
        let help = try Sandbox().syncdb("--help").output
        for command in ["import", "diff", "export", "query", "count", "schema", "doctor", "verify"] {
            #expect(help.contains("\n  \(command)"))
        }
    }

    @Test("The commands at the beginning of the help work as they stand")
    func firstCommands() throws {
        let sandbox = try Sandbox()
        let lines = try sandbox.syncdb("--help").output.split(separator: "\n", omittingEmptySubsequences: false)
        let commands = lines.drop { $0 != "Try it:" }.dropFirst().prefix { $0.hasPrefix("  ") }
        #expect(commands.filter { $0.hasPrefix("  syncdb ") }.count == 3)
        let run = try sandbox.shell(
            "set -euo pipefail\nsyncdb() { \"$SYNCDB\" \"$@\"; }\n" + commands.joined(separator: "\n"))
        #expect(run.status == 0, "\(run.errors)")
        #expect(run.output.contains("id  name\n 1  Ada\n"), "\(run.output)")
    }

    @Test("The help of import names the operations")
    func operationsAreNamed() throws {
        let help = try Sandbox().syncdb("import", "--help").output
        for name in ["insert", "update", "delete", "insertRelationships", "deleteRelationships"] {
            #expect(help.contains(name))
        }
    }
}
