/// Runs scenario files.
public struct ScenarioRunner: Sendable {
    public init() {}
}
