import Foundation
import SyncCore
import Testing

@testable import SyncTesting

@Suite("Mapping contract")
struct ContractTests {
    /// The `Docs` folder of the package.
    static let docs = URL(fileURLWithPath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().appendingPathComponent("Docs")

    static func document(_ name: String = "MappingContract.md") throws -> ContractDocument {
        try ContractDocument(String(contentsOf: docs.appendingPathComponent(name), encoding: .utf8))
    }

    /// Sections that state no rule.
    static let withoutExamples: Set = ["Words"]

    @Test("Each example of the mapping contract passes", arguments: try document().examples)
    func example(_ example: ContractExample) async throws {
        let failures = try await example.failures()
        #expect(failures.isEmpty)
    }

    @Test("Each example of the mapping contract passes with each sync repeated", arguments: try document().examples)
    func twice(_ example: ContractExample) async throws {
        let failures = try await example.failures(options: .init(repeatsSyncs: true))
        #expect(failures.isEmpty)
    }

    @Test("The examples of the page on scenario files pass")
    func scenarioFiles() async throws {
        let examples = try Self.document("Scenarios.md").examples
        #expect(examples.count >= 2)
        for example in examples {
            let failures = try await example.failures()
            #expect(failures.isEmpty)
        }
    }

    @Test("Invalid models of the mapping contract are rejected with all their problems")
    func invalidModels() throws {
        let refusals = try Self.document().refusals
        #expect(!refusals.isEmpty)
        for refusal in refusals {
            let folder = try ScenarioFolder(model: refusal.schema)
            let error = #expect(throws: SyncError.self, "line \(refusal.line)") {
                try SyncModel(contentsOf: folder.url.appendingPathComponent("model.json"))
            }
            #expect(error?.problems.map { "\($0.path): \($0.message)" } == refusal.problems, "line \(refusal.line)")
        }
    }

    @Test("Each section of the mapping contract with a rule has examples")
    func sections() throws {
        let document = try Self.document()
        #expect(Set(document.sections.filter(\.examples.isEmpty).map(\.title)) == Self.withoutExamples)
        #expect(document.sections.count >= 10)
    }

    @Test("Each example of the mapping contract has an expectation", arguments: try document().examples)
    func expectations(_ example: ContractExample) {
        guard case .steps(let steps) = example.content else { return }
        let expecting = ["expect", "expectCount", "expectError", "is", "changes", "result", "noWrites", "returns"]
        #expect(steps.contains { step in expecting.contains { step[$0] != nil } })
    }
}

@Suite("Documents with examples")
struct ContractDocumentTests {
    static let model = #"""
        ```json model
        {"entities": {"User": {"attributes": {"id": "integer", "name": "string"}}}}
        ```
        """#

    static func document(_ fence: String) -> String {
        "Text.\n\n## A rule\n\n\(model)\n\nMore text.\n\n\(fence)\n"
    }

    static let holding = """
        ```json example
        {"sync": [{"id": 1, "name": "Ann"}],
         "entity": "User"}
        {"expect": {"name": "Ann"}, "entity": "User"}
        ```
        """

    @Test("An example with a wrong value fails")
    func wrongValue() async throws {
        let good = try ContractDocument(Self.document(Self.holding))
        #expect(good.sections.map(\.title) == ["A rule"])
        let example = try #require(good.examples.first)
        #expect(try await example.failures().isEmpty)

        let wrong = Self.holding.replacingOccurrences(
            of: #"{"expect": {"name": "Ann"}"#, with: #"{"expect": {"name": "Bob"}"#)
        let failures = try await #require(try ContractDocument(Self.document(wrong)).examples.first).failures()
        #expect(failures.count == 1)
        #expect(failures.first?.contains("step 2") == true, "\(failures)")
        #expect(failures.first?.hasPrefix("line 11") == true, "\(failures)")
    }

    @Test("An example with a wrong function result fails, call by call")
    func wrongFunction() async throws {
        let fence = """
            ```json functions
            {"function": "snakeCase", "in": "firstName", "out": "first_name"}
            {"function": "snakeCase", "in": "firstName", "out": "firstname"}
            ```
            """
        let failures = try await #require(try ContractDocument(Self.document(fence)).examples.first).failures()
        #expect(failures.count == 1)
        #expect(failures.first?.contains("call 2") == true, "\(failures)")
    }

    @Test(
        "A document with a fence that would not be run is rejected",
        arguments: [
            "```json exmaple\n{}\n```", "```json example\n{\"sync\": [}\n```", "```json example\n\n```",
            "```json example\n{\"drop\": true}", "```json refused\n{}\n```", "```text problems\nx\n```",
        ])
    func invalidFence(_ fence: String) {
        #expect(throws: (any Error).self) { try ContractDocument(Self.document(fence)) }
    }

    @Test("JSON fences without a name are not examples")
    func plainFences() throws {
        #expect(try ContractDocument(Self.document("```json\n{}\n```")).examples.isEmpty)
    }
}
