import Foundation

/// What is wrong with a scenario file, a case or a step: never with the library under test.
struct ScenarioError: LocalizedError, Hashable, CustomStringConvertible {
    var message: String
    /// The number of the step, from 1, if it is a step that is wrong.
    var step: Int?

    init(_ message: String, step: Int? = nil) {
        self.message = message
        self.step = step
    }

    var description: String { message }
    var errorDescription: String? { step.map { "step \($0): \(message)" } ?? message }
}
