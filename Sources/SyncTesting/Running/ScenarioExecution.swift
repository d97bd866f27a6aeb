import Foundation
import Sync
import SyncCore
import SyncSQLite

/// Runs one case: opens its store, takes its steps, looks at the store once more.
struct ScenarioExecution: Sendable {
    private let scenario: Scenario
    private let file: ScenarioFile
    private let facilities: ScenarioFacilities
    private let options: ScenarioRunner.Options
    /// Models that were read before, by path.
    private let models: [String: SyncModel]

    init(
        _ scenario: Scenario, file: ScenarioFile, facilities: ScenarioFacilities,
        options: ScenarioRunner.Options = .init(), models: [String: SyncModel] = [:]
    ) {
        self.facilities = facilities
        self.models = models
        self.scenario = scenario
        self.file = file
        self.options = options
    }

    /// What failed; empty if the case passed.
    func run() async -> [ScenarioReport.Failure] {
        do {
            switch scenario.body {
            case .function(let function):
                return try function.failures(model: scenario.model.map(loadModel))
            case .steps(let steps):
                return try await run(steps)
            }
        } catch {
            return [.unexpected(error)]
        }
    }

    private func loadModel(_ path: String) throws -> SyncModel {
        var model = try models[path] ?? SyncModel(contentsOf: file.url(of: path))
        for transformer in facilities.transformers { model = model.registering(transformer) }
        return model
    }

    /// The transformers that the model names and nobody registered; nil if there are none.
    var missingTransformers: [String]? {
        guard case .steps = scenario.body, let model = try? scenario.model.map(loadModel) else { return nil }
        let names = Set(model.missingTransformers.map(\.name)).sorted()
        return names.isEmpty ? nil : names
    }

    private func run(_ steps: [ScenarioStep]) async throws -> [ScenarioReport.Failure] {
        let store = try ScenarioStoreFile(
            needsFile: scenario.needsStoreFile, isGuest: options.isGuest, isAdopted: options.isAdopted)
        defer { store.remove() }
        guard let path = scenario.model else { throw ScenarioError("the case has no model") }
        var actions = ScenarioActions(
            stack: try store.open(loadModel(path)), file: file,
            writesInBackground: scenario.needs.contains(ScenarioFacilities.backgroundWrite),
            addedOnInsert: scenario.needs.contains(ScenarioFacilities.willInsertHook) ? scenario.hook : nil,
            pieceSize: options.pieceSize, isGuest: options.isGuest)
        var check = ReferenceCheck(isOn: options.checksReference, actions)
        for (index, step) in steps.enumerated() {
            let number = index + 1
            do {
                if case .reopen(let model) = step.action {
                    try await reopen(step, as: model, store, &actions)
                    try check.compare(after: step, actions)
                    continue
                }
                try await StepExecution(step, actions: actions).run()
                try check.compare(after: step, actions)
                if options.repeatsSyncs { try await StepExecution(step, actions: actions).repeatSync() }
            } catch let failure as ScenarioReport.Failure {
                return [failure.at(number)]
            } catch {
                return [ScenarioReport.Failure.unexpected(error).at(number)]
            }
        }
        return try await damage(of: actions.stack)
    }

    private func reopen(
        _ step: ScenarioStep, as model: String, _ store: ScenarioStoreFile, _ actions: inout ScenarioActions
    ) async throws {
        let model = try loadModel(model)
        do {
            try actions.stack.close()
            actions.stack = try store.open(model)
        } catch let error as SyncError where step.expectedError != nil {
            // A refused model leaves the file as it was; later steps look at it through the model they know.
            actions.stack = try store.open(actions.stack.model)
            _ = error
            return
        }
        if let hint = step.expectedError { throw ScenarioReport.Failure.noError(hint) }
    }

    private func damage(of stack: DataStack) async throws -> [ScenarioReport.Failure] {
        try await stack.damage().map {
            ScenarioReport.Failure(expected: "no damage", found: $0, message: "the store after the last step")
        }
    }
}

extension Scenario {
    /// Whether the store must be a file: asked for, needed by readers beside a writer, or closed on the way.
    fileprivate var needsStoreFile: Bool {
        if needs.contains(ScenarioFacilities.onDisk) || needs.contains(ScenarioFacilities.backgroundWrite) {
            return true
        }
        guard case .steps(let steps) = body else { return false }
        return steps.contains { $0.kind == .reopen }
    }
}

extension ScenarioReport.Failure {
    static func unexpected(_ error: any Error) -> ScenarioReport.Failure {
        ScenarioReport.Failure(expected: "no error", found: "\(error)", message: "failed")
    }

    static func noError(_ hint: String) -> ScenarioReport.Failure {
        ScenarioReport.Failure(expected: "a typed error (\(hint))", found: "none", message: "expectError")
    }

    func at(_ step: Int) -> ScenarioReport.Failure {
        var failure = self
        failure.step = step
        return failure
    }
}
