import SyncCore
import Testing

@testable import SyncTesting

/// One fence with an example, and its model.
struct ContractExample: Sendable, CustomTestStringConvertible {
    enum Content: Sendable {
        case steps([JSONValue])
        case functions([JSONValue])
    }

    var page: String
    /// The line of the fence in the page.
    var line: Int
    var section: String
    var model: ContractModel
    var content: Content

    var testDescription: String { "\(page), line \(line), \(section)" }

    /// Returns the example as cases of a scenario file next to its model.
    private func cases(model: JSONValue) -> [JSONValue] {
        switch content {
        case .steps(let steps):
            // The needs of the case may precede its steps.
            var fields: [JSONValue.Member] = [.init("name", "steps"), .init("model", model)]
            var steps = steps
            if case .object(let needs)? = steps.first, steps[0]["needs"] != nil {
                fields += needs
                steps.removeFirst()
            }
            return [.object(fields + [.init("steps", .array(steps))])]
        case .functions(let calls):
            return calls.enumerated().map { index, call in
                guard case .object(let members) = call else { return call }
                return .object([.init("name", .string("call \(index + 1)")), .init("model", model)] + members)
            }
        }
    }

    /// The features that examples need, including code.
    private static let features = ScenarioFeatures.standard.adding(
        AttributeTransformer("Entities") { json in
            guard case .string(let text) = json else { return nil }
            return .string(text.replacing("&amp;", with: "&"))
        } exporting: { value in
            value.string.map { .string($0.replacing("&", with: "&amp;")) }
        })

    /// Returns the failures of the example.
    func failures(options: ScenarioRunner.Options = .init()) async throws -> [String] {
        let (folder, path) = try model.folder()
        let file = try folder.write(cases(model: .string(path)))
        let report = await ScenarioRunner(features: Self.features, options: options).run(paths: [file])
        return report.results.filter { $0.outcome != .passed }.map { "\(page), line \(line): \($0)" }
    }
}
