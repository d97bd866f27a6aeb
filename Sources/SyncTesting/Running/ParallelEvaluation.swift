import SyncCore

/// Evaluates the cases of a file many times at once, to find state shared between calls that should share none.
struct ParallelEvaluation: Sendable {
    /// How often each function is called; cases with steps are run so often together, each with a store to open.
    static let rounds = 6000
    private static let width = 16

    private let executions: [ScenarioExecution]

    init(of file: ScenarioFile, facilities: ScenarioFacilities) {
        let scenarios = file.entries.compactMap { try? $0.scenario.get() }
            .filter { facilities.missing(of: $0.needs).isEmpty }
        let functions = scenarios.filter { $0.function != nil }
        let stepped = scenarios.filter { $0.function == nil }
        let perCase = stepped.isEmpty ? 0 : max(1, Self.rounds / stepped.count)
        let all = Self.repeated(functions, Self.rounds) + Self.repeated(stepped, perCase)
        let models = Self.models(of: scenarios, in: file)
        executions = all.map { ScenarioExecution($0, file: file, facilities: facilities, models: models) }
    }

    private static func repeated(_ scenarios: [Scenario], _ count: Int) -> [Scenario] {
        (0..<count).flatMap { _ in scenarios }
    }

    /// Every model once, so that the time goes into the cases. One that cannot be read is left to its cases.
    private static func models(of scenarios: [Scenario], in file: ScenarioFile) -> [String: SyncModel] {
        var models: [String: SyncModel] = [:]
        for path in Set(scenarios.compactMap(\.model)) {
            models[path] = try? SyncModel(contentsOf: file.url(of: path))
        }
        return models
    }

    /// The first failure of any evaluation.
    func run() async -> [ScenarioReport.Failure] {
        await withTaskGroup(of: [ScenarioReport.Failure].self) { group in
            for lane in 0..<Self.width {
                group.addTask { await run(lane) }
            }
            for await failures in group where !failures.isEmpty {
                group.cancelAll()
                return failures
            }
            return []
        }
    }

    private func run(_ lane: Int) async -> [ScenarioReport.Failure] {
        for index in stride(from: lane, to: executions.count, by: Self.width) {
            if Task.isCancelled { return [] }
            let failures = await executions[index].run()
            if !failures.isEmpty { return failures }
        }
        return []
    }
}
