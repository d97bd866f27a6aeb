import Foundation
import Sync
import SyncCore

/// Runs one case: opens its store, runs its steps and checks the integrity of the store afterwards.
struct ScenarioExecution: Sendable {
    private let scenario: Scenario
    private let file: ScenarioFile
    private let features: ScenarioFeatures
    private let options: ScenarioRunner.Options
    /// The models that the caller has already loaded, by path.
    private let models: [String: SyncModel]

    init(
        _ scenario: Scenario, file: ScenarioFile, features: ScenarioFeatures,
        options: ScenarioRunner.Options = .init(), models: [String: SyncModel] = [:]
    ) {
        self.features = features
        self.models = models
        self.scenario = scenario
        self.file = file
        self.options = options
    }

    /// Runs the case and returns its failures; empty if the case passed.
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
        for transformer in features.transformers { model = model.registering(transformer) }
        return model
    }

    /// The transformers that the model names and the runner does not register; nil if there are none, or for a
    /// function.
    var missingTransformers: [String]? {
        guard case .steps = scenario.body, let model = try? scenario.model.map(loadModel) else { return nil }
        let names = Set(model.missingTransformers.map(\.name)).sorted()
        return names.isEmpty ? nil : names
    }

    private func run(_ steps: [ScenarioStep]) async throws -> [ScenarioReport.Failure] {
        let store = try ScenarioStoreFile(needsFile: scenario.needsStoreFile, options.storeFactory)
        defer { store.remove() }
        guard let path = scenario.model else { throw ScenarioError("the case lacks the field 'model'") }
        var actions = ScenarioActions(
            stack: try store.open(loadModel(path)), file: file,
            writesInBackground: scenario.needs.contains(ScenarioFeatures.backgroundWrite),
            addedOnInsert: scenario.needs.contains(ScenarioFeatures.willInsertHook) ? scenario.hook : nil,
            chunkSize: options.chunkSize, usesAppDatabase: options.usesAppDatabase)
        var check = ReferenceCheck(isOn: options.checksReference, actions)
        for (index, step) in steps.enumerated() {
            let number = index + 1
            do {
                if case .reopen(let model) = step.action {
                    try await reopen(step, as: model, store, &actions)
                    try await check.compare(after: step, actions)
                    continue
                }
                try await StepExecution(step, actions: actions).run()
                try await check.compare(after: step, actions)
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
            // Open the file with the previous model again, so that later steps can check that the file is unchanged.
            actions.stack = try store.open(actions.stack.model)
            _ = error
            return
        }
        if let hint = step.expectedError { throw ScenarioReport.Failure.noError(hint) }
    }

    private func damage(of stack: any ScenarioStore) async throws -> [ScenarioReport.Failure] {
        try await stack.damage().map {
            ScenarioReport.Failure(expected: "no damage", found: $0, message: "the store after the last step")
        }
    }
}

extension Scenario {
    /// Whether the store must be a file, because the case needs a file, reads it during a background write, or reopens
    /// it.
    fileprivate var needsStoreFile: Bool {
        [ScenarioFeatures.onDisk, ScenarioFeatures.backgroundWrite, ScenarioFeatures.reopening]
            .contains { allNeeds.contains($0) }
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

/// Runs one step and compares the outcome with what the step expects.
struct StepExecution: Sendable {
    private let step: ScenarioStep
    private let actions: ScenarioActions
    private var stack: any ScenarioStore { actions.stack }

    init(_ step: ScenarioStep, actions: ScenarioActions) {
        self.step = step
        self.actions = actions
    }

    /// Runs the step and checks its expectations.
    ///
    /// - Throws: A `ScenarioReport.Failure` for an expectation that is not met; other errors unchanged.
    func run() async throws {
        // If chunks have inconsistent records, the sync writes a row twice and `total_changes()` grows, even if the
        // row ends with its old values. Compare the contents of the store instead.
        let isUnlinkedByPayload = actions.chunkSize != nil
        let changes = step.mustNotWrite && !isUnlinkedByPayload ? try await stack.totalChanges() : nil
        let before = step.mustNotWrite && isUnlinkedByPayload ? try await stack.dump() : nil
        if let hint = step.expectedError {
            try await expectError(hint)
        } else {
            try await act()
        }
        if let changes {
            let written = try await stack.totalChanges() - changes
            try compare("rows written by a step with noWrites", expected: 0, found: written)
        }
        guard let before else { return }
        let differences = try await stack.dump().differences(from: before)
        try compare("rows changed by a step with noWrites", expected: 0, found: differences.count)
    }

    /// Repeats a sync that succeeded. The second sync must write nothing.
    func repeatSync() async throws {
        guard case .sync(let call) = step.action, !call.isDryRun, step.expectedError == nil else { return }
        let changes = try await stack.totalChanges()
        _ = try await result(of: call)
        try compare("rows written by repeating the sync", expected: 0, found: try await stack.totalChanges() - changes)
    }

    private func expectError(_ hint: String) async throws {
        let before = try await stack.dump()
        do {
            try await act()
        } catch let error as SyncError {
            let differences = try await stack.dump().differences(from: before)
            guard differences.isEmpty else {
                throw ScenarioReport.Failure(
                    expected: "an unchanged store", found: differences.joined(separator: "; "),
                    message: "expectError: failed with '\(error.message)'")
            }
            return
        } catch let error where !(error is ScenarioReport.Failure || error is ScenarioError) {
            throw ScenarioReport.Failure(
                expected: "a typed error (\(hint))", found: "\(type(of: error)): \(error)", message: "expectError")
        }
        throw ScenarioReport.Failure.noError(hint)
    }

    private func act() async throws {
        switch step.action {
        case .sync(let call):
            let result = try await result(of: call)
            if let changes = call.changes { try compare(changes, result, entity: call.entity) }
            if let expected = call.result { try compare(expected, result) }
        case .insert(let entity, let values):
            try await actions.insert(entity, values)
        case .fill(let entity, let values, let predicate):
            try await actions.fill(entity, values, predicate)
        case .drop:
            try await actions.drop()
        case .expectCount(let count, let entity, let predicate):
            let found = try await actions.count(entity, predicate)
            try compare("count of \(entity)\(predicate.map { " where \($0)" } ?? "")", expected: count, found: found)
        case .expect(let values, let entity, let predicate):
            let rows = try await actions.rows(entity, predicate)
            let place = "\(entity)\(predicate.map { " where \($0)" } ?? "")"
            guard rows.count == 1, let row = rows.first else {
                throw ScenarioReport.Failure(
                    expected: "exactly one row", found: "\(rows.count) rows", message: place)
            }
            try await compare(values, row, path: place)
        case .fetch(let entity, let id, let expected):
            try await fetch(entity, id, expected)
        case .insertOrUpdate(let entity, let values):
            try await actions.insertOrUpdate(entity, values)
        case .update(let entity, let id, let values, let returned):
            let found = try await actions.update(entity, id, values)
            if let returned, !JSONComparison.equal(returned, found) {
                throw ScenarioReport.Failure(
                    expected: returned.scenarioText, found: found.scenarioText, message: "the key that update returns")
            }
        case .delete(let entity, let id):
            try await actions.delete(entity, id)
        case .export(let call, let expected, let isOrdered):
            try await export(call, expected, isOrdered: isOrdered)
        case .reopen:
            throw ScenarioError("a store can only be reopened between steps")
        }
    }

    /// Runs a sync.
    ///
    /// The library throws `noRecords` for a list in which no record has a key. If the step expects no error, this
    /// counts as a sync without changes, because scenarios that other implementations share do not require the error.
    private func result(of call: ScenarioStep.SyncCall) async throws -> SyncResult {
        do {
            return try await actions.sync(call)
        } catch let error as SyncError where error.code == .noRecords && step.expectedError == nil && call.isList {
            return SyncResult(entity: call.entity)
        }
    }

    private func fetch(_ entity: String, _ id: JSONValue, _ expected: JSONValue) async throws {
        let place = "\(entity) \(id.scenarioText)"
        let row = try await actions.row(entity, id: id)
        switch (row, expected) {
        case (nil, .null): return
        case (let row?, .null): throw ScenarioReport.Failure(expected: "null", found: row.scenarioText, message: place)
        case (nil, _): throw ScenarioReport.Failure(expected: expected.scenarioText, found: "null", message: place)
        case (let row?, _): try await compare(expected, row, path: place)
        }
    }

    /// Compares the exported records with the expected array. If an object is expected, there must be exactly one
    /// record.
    private func export(_ call: ScenarioStep.ExportCall, _ expected: JSONValue, isOrdered: Bool) async throws {
        let records = try await actions.export(call)
        let place = "export of \(call.entity)\(call.predicate.map { " where \($0)" } ?? "")"
        var found = JSONValue.array(records)
        if case .object = expected {
            guard records.count == 1 else {
                throw ScenarioReport.Failure(
                    expected: "exactly one row", found: "\(records.count) rows", message: place)
            }
            found = records[0]
        }
        guard !ExportMatcher(isOrdered: isOrdered).matches(expected, found) else { return }
        throw ScenarioReport.Failure(expected: expected.scenarioText, found: found.scenarioText, message: place)
    }

    // MARK: Comparison

    private func compare(_ values: JSONValue, _ row: StoredRowView, path: String) async throws {
        let matcher = ExpectationMatcher(model: stack.model, source: actions)
        let mismatches = try await matcher.mismatches(values, in: row)
        guard !mismatches.isEmpty else { return }
        throw ScenarioReport.Failure(
            expected: mismatches.map { "\($0.path) = \($0.expected)" }.joined(separator: ", "),
            found: mismatches.map(\.found).joined(separator: ", "), message: path)
    }

    private func compare(_ changes: ScenarioStep.Changes, _ result: SyncResult, entity: String) throws {
        let numbers = [
            ("inserted", changes.inserted, result.root.inserted), ("updated", changes.updated, result.root.matched),
            ("deleted", changes.deleted, result.root.deleted),
        ]
        for (name, expected, found) in numbers {
            if let expected { try compare("rows of \(entity) \(name)", expected: expected, found: found) }
        }
    }

    private func compare(_ expected: JSONValue, _ result: SyncResult) throws {
        let found = try JSONValue(parsing: JSONEncoder().encode(result))
        guard let mismatch = ResultMatcher.mismatch(expected, found, at: "result") else { return }
        throw ScenarioReport.Failure(expected: mismatch.expected, found: mismatch.found, message: mismatch.path)
    }

    private func compare(_ what: String, expected: Int, found: Int) throws {
        guard expected != found else { return }
        throw ScenarioReport.Failure(expected: "\(expected)", found: "\(found)", message: what)
    }
}

extension StoredRowView {
    /// The values of the row as JSON, for failure reports.
    fileprivate var scenarioText: String {
        JSONValue.object(values.sorted { $0.key < $1.key }.map { .init($0.key, ValueMatcher.json($0.value)) })
            .scenarioText
    }
}
