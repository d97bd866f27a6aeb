import Foundation
import SyncCore
import TestSize
import Testing

@testable import SyncTesting

@Suite("Mapping contract")
struct ContractTests {
    /// The `Docs` folder of the package.
    static let docs = URL(fileURLWithPath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().appendingPathComponent("Docs")

    /// The index of the contract. Its table lists the other pages.
    static let index = "MappingContract.md"

    static func text(_ page: String) throws -> String {
        try String(contentsOf: docs.appendingPathComponent(page), encoding: .utf8)
    }

    /// Returns the pages of the contract: the index, and the pages of its table.
    static func pages() throws -> [String] {
        let row = #/\| \[(\w+\.md)\]/#
        let rows = try text(index).split(separator: "\n").compactMap { $0.prefixMatch(of: row) }
        return [index] + rows.map { String($0.output.1) }
    }

    static func documents() throws -> [ContractDocument] {
        try pages().map { try ContractDocument(page: $0, in: docs) }
    }

    static func examples() throws -> [ContractExample] { try documents().flatMap(\.examples) }

    /// The sections without examples: those of the index, which state no rule, and those with rules that no step of a
    /// scenario can show.
    static let withoutExamples: Set = [
        "MappingContract.md: Pages", "MappingContract.md: How to read an example", "MappingContract.md: Words",
        "MappingPages.md: Payloads that are read in chunks", "MappingErrors.md: Damaged links and foreign indexes",
        "MappingInference.md: Infer a model from samples", "MappingInference.md: Add the keys of new samples",
        "MappingInference.md: Open a store with another model",
    ]

    @Test(
        "Each example of the mapping contract passes, also with each sync repeated",
        arguments: try examples(), LongTests.areWanted ? [false, true] : [true])
    func example(_ example: ContractExample, isRepeated: Bool) async throws {
        let failures = try await example.failures(options: .init(repeatsSyncs: isRepeated))
        #expect(failures.isEmpty)
    }

    @Test("The examples of the page on scenario files pass")
    func scenarioFiles() async throws {
        let examples = try ContractDocument(page: "Scenarios.md", in: Self.docs).examples
        #expect(examples.count >= 2)
        for example in examples {
            let failures = try await example.failures()
            #expect(failures.isEmpty)
        }
    }

    @Test("Invalid models of the mapping contract are rejected with all their problems")
    func invalidModels() throws {
        let refusals = try Self.documents().flatMap(\.refusals)
        #expect(!refusals.isEmpty)
        for refusal in refusals {
            let place = "\(refusal.page), line \(refusal.line)"
            let folder = try ScenarioFolder(model: refusal.schema)
            let error = #expect(throws: SyncError.self, "\(place)") {
                try SyncModel(contentsOf: folder.url.appendingPathComponent("model.json"))
            }
            #expect(error?.problems.map { "\($0.path): \($0.message)" } == refusal.problems, "\(place)")
        }
    }

    @Test("Each section of the mapping contract with a rule has examples")
    func sections() throws {
        let documents = try Self.documents()
        let titles = documents.flatMap { document in
            document.sections.filter { $0.examples.isEmpty && $0.refusals.isEmpty }
                .map { "\(document.page): \($0.title)" }
        }
        #expect(Set(titles) == Self.withoutExamples)
        #expect(documents.flatMap(\.sections).count >= 50)
    }

    @Test("The index of the mapping contract and the introduction link to every page")
    func links() throws {
        let introduction = "MappingJSON.md"
        let files = try FileManager.default.contentsOfDirectory(atPath: Self.docs.path).filter { $0.hasSuffix(".md") }
        let pages = try Self.pages()
        #expect(pages.sorted() == files.filter { $0.hasPrefix("Mapping") && $0 != introduction }.sorted())
        let text = try Self.text(introduction)
        for page in pages { #expect(text.contains("](\(page)"), "\(introduction) has no link to \(page)") }
        // Examples of other pages would not run.
        let others = try files.filter { !pages.contains($0) && $0 != "Scenarios.md" }
            .filter { try Self.text($0).contains("\n```json example\n") }
        #expect(others.isEmpty)
    }

    @Test("Each example of the mapping contract has an expectation", arguments: try examples())
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

    static func document(_ fence: String) throws -> ContractDocument {
        try page("Text.\n\n## A rule\n\n\(model)\n\nMore text.\n\n\(fence)\n")
    }

    static func page(_ markdown: String) throws -> ContractDocument {
        try ContractDocument(markdown, page: "Page.md", in: ContractTests.docs)
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
        let good = try Self.document(Self.holding)
        #expect(good.sections.map(\.title) == ["A rule"])
        let example = try #require(good.examples.first)
        #expect(try await example.failures().isEmpty)

        let wrong = Self.holding.replacingOccurrences(
            of: #"{"expect": {"name": "Ann"}"#, with: #"{"expect": {"name": "Bob"}"#)
        let failures = try await #require(try Self.document(wrong).examples.first).failures()
        #expect(failures.count == 1)
        #expect(failures.first?.contains("step 2") == true, "\(failures)")
        #expect(failures.first?.hasPrefix("Page.md, line 11") == true, "\(failures)")
    }

    @Test("An example with a wrong function result fails, call by call")
    func wrongFunction() async throws {
        let fence = """
            ```json functions
            {"function": "snakeCase", "in": "firstName", "out": "first_name"}
            {"function": "snakeCase", "in": "firstName", "out": "firstname"}
            ```
            """
        let failures = try await #require(try Self.document(fence).examples.first).failures()
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
        #expect(throws: (any Error).self) { try Self.document(fence) }
    }

    @Test("JSON fences without a name are not examples")
    func plainFences() throws {
        #expect(try Self.document("```json\n{}\n```").examples.isEmpty)
    }

    @Test("Each section begins with the model of its page")
    func pageModel() throws {
        let other = Self.model.replacing("User", with: "Person")
        let document = try Self.page(
            [Self.model, "## One", other, Self.holding, "## Two", Self.holding].joined(separator: "\n\n"))
        #expect(document.examples.map { $0.model.text.contains("Person") } == [true, false])
    }

    @Test("A page may name the page that has its model")
    func linkedModel() throws {
        let sections = "\n\n## One\n\n\(Self.holding)\n\n## Two\n\n\(Self.holding)\n"
        let link = "The examples use the model of [the schema file](MappingSchemaFile.md#a-schema-file)."
        let document = try Self.page(link + sections)
        #expect(document.examples.count == 2)
        #expect(document.examples.allSatisfy { $0.model.text.contains("contact.email") })
        #expect(throws: ContractProblem.self) { try Self.page(sections) }
        let wrongLink = "The examples use the model of [a page without models](Glossary.md)."
        #expect(throws: ContractProblem.self) { try Self.page(wrongLink + sections) }
    }
}
