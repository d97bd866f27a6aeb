/// What is wrong with a scenario file, a case or a step: never with the library under test.
struct ScenarioError: Error, Hashable, CustomStringConvertible {
    var message: String
    /// The number of the step, from 1, if it is a step that is wrong.
    var step: Int?

    init(_ message: String, step: Int? = nil) {
        self.message = message
        self.step = step
    }

    var description: String { message }
}
