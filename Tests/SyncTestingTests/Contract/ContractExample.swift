import SyncCore
import Testing

@testable import SyncTesting

/// One fence with an example, and the model that it is about.
struct ContractExample: Sendable, CustomTestStringConvertible {
    enum Content: Sendable {
        case steps([JSONValue])
        case functions([JSONValue])
    }

    /// The line of the fence in the document.
    var line: Int
    var section: String
    var model: ContractModel
    var content: Content

    var testDescription: String { "line \(line), \(section)" }

    /// The example as cases of a scenario file beside its model.
    private func cases(model: JSONValue) -> [JSONValue] {
        switch content {
        case .steps(let steps):
            return [["name": "steps", "model": model, "steps": .array(steps)]]
        case .functions(let calls):
            return calls.enumerated().map { index, call in
                guard case .object(let members) = call else { return call }
                return .object([.init("name", .string("call \(index + 1)")), .init("model", model)] + members)
            }
        }
    }

    /// What does not hold; empty if the example does.
    func failures(options: ScenarioRunner.Options = .init()) async throws -> [String] {
        let (folder, path) = try model.folder()
        let file = try folder.write(cases(model: .string(path)))
        let report = await ScenarioRunner(options: options).run(paths: [file])
        return report.results.filter { $0.outcome != .passed }.map { "line \(line): \($0)" }
    }
}
