import Foundation
import Sync
import SyncCore
import SyncSQLite

/// Takes one step and compares what comes of it with what the step expects.
struct StepExecution: Sendable {
    private let step: ScenarioStep
    private let actions: ScenarioActions
    private var stack: DataStack { actions.stack }

    init(_ step: ScenarioStep, actions: ScenarioActions) {
        self.step = step
        self.actions = actions
    }

    /// - Throws: A `ScenarioReport.Failure` for an expectation that is not met; other errors as they come.
    func run() async throws {
        // Pieces that contradict each other are written one after the other.
        let isCut = actions.pieceSize != nil
        let changes = step.mustNotWrite && !isCut ? try await stack.totalChanges() : nil
        let before = step.mustNotWrite && isCut ? try await stack.contents() : nil
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
        let differences = try await stack.contents().differences(from: before)
        try compare("rows that a step with noWrites left otherwise", expected: 0, found: differences.count)
    }

    /// Makes a sync that passed once more: it must find nothing to write.
    func repeatSync() async throws {
        guard case .sync(let call) = step.action, !call.isDryRun, step.expectedError == nil else { return }
        let changes = try await stack.totalChanges()
        _ = try await result(of: call)
        try compare("rows written by the same sync again", expected: 0, found: try await stack.totalChanges() - changes)
    }

    private func expectError(_ hint: String) async throws {
        let before = try await stack.contents()
        do {
            try await act()
        } catch let error as SyncError {
            let differences = try await stack.contents().differences(from: before)
            guard differences.isEmpty else {
                throw ScenarioReport.Failure(
                    expected: "the store as it was", found: differences.joined(separator: "; "),
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
            try await compare(values, row, place: place)
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
            throw ScenarioError("a store is reopened between steps, not in one")
        }
    }

    /// A list none of whose records has a key is refused. Where the step does not expect that, it is a sync that changes
    /// nothing: that is all the scenarios say that other implementations share.
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
        case (let row?, _): try await compare(expected, row, place: place)
        }
    }

    /// An array is what all rows that match are exported as, an object the one there must be.
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

    // MARK: Comparing

    private func compare(_ values: JSONValue, _ row: FoundRow, place: String) async throws {
        let matcher = ExpectationMatcher(model: stack.model, source: actions)
        let mismatches = try await matcher.mismatches(values, in: row)
        guard !mismatches.isEmpty else { return }
        throw ScenarioReport.Failure(
            expected: mismatches.map { "\($0.path) = \($0.expected)" }.joined(separator: ", "),
            found: mismatches.map(\.found).joined(separator: ", "), message: place)
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

extension FoundRow {
    /// The row's values as JSON, for reports.
    fileprivate var scenarioText: String {
        JSONValue.object(values.sorted { $0.key < $1.key }.map { .init($0.key, ValueMatcher.json($0.value)) })
            .scenarioText
    }
}
