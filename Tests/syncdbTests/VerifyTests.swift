import Foundation
import SyncTesting
import Testing

@Suite("verify")
struct VerifyTests {
    /// A case that passes, one that fails, and one that is skipped.
    private static let scenarios = """
        {"format": 1, "group": "names", "cases": [
          {"name": "holds", "about": "A key in snake case.", "function": "camelCase", "in": "first_name",
           "out": "firstName"},
          {"name": "does-not-hold", "about": "Wrong on purpose.", "function": "camelCase", "in": "first_name",
           "out": "firstname"},
          {"name": "needs-code", "about": "Cannot be run here.", "needs": ["valueTransformer:Nobody"],
           "function": "camelCase", "in": "a", "out": "a"}
        ]}
        """

    private func sandbox() throws -> Sandbox {
        let sandbox = try Sandbox()
        _ = try sandbox.file("names.json", Self.scenarios)
        return sandbox
    }

    @Test("verify prints a line per failed case and a summary, and exits with 1")
    func failedCasesAreListed() throws {
        let run = try sandbox().syncdb("verify", "names.json")
        #expect(run.status == 1)
        let lines = run.output.split(separator: "\n").map(String.init)
        #expect(lines.count == 2)
        for part in ["names.json", "does-not-hold", "firstname", "firstName"] {
            #expect(lines.first?.contains(part) == true)
        }
        #expect(lines.last == "1 passed, 1 failed, 1 skipped")
    }

    @Test("verify exits with 0 if all cases pass, and --only selects one")
    func passedCasesExitWithZero() throws {
        let run = try sandbox().syncdb("verify", ".", "--only", "holds")
        #expect(run.status == 0)
        #expect(run.output == "1 passed, 0 failed, 0 skipped\n")
    }

    @Test("verify without a case exits with 1", arguments: [["names.json", "--only", "none"], ["none.json"]])
    func noCaseIsAFailure(arguments: [String]) throws {
        let run = try sandbox().run(["verify"] + arguments)
        #expect(run.status == 1)
        #expect(run.output.contains("none"))
    }

    @Test("verify --verbose prints a line for each failed or skipped case")
    func verboseListsEveryCase() throws {
        let run = try sandbox().syncdb("verify", "names.json", "--verbose")
        #expect(run.output.split(separator: "\n").count == 4)
        #expect(run.output.contains("needs valueTransformer:Nobody"))
    }

    @Test("verify --json prints the report")
    func jsonPrintsTheReport() throws {
        let run = try sandbox().syncdb("verify", "names.json", "--json")
        #expect(run.status == 1)
        let report = try JSONDecoder().decode(ScenarioReport.self, from: Data(run.output.utf8))
        #expect(report.results.map(\.outcome) == [.passed, .failed, .skipped])
    }
}
