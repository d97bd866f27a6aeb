import Foundation
import Sync
import SyncCore
import SyncTesting

/// Runs the steps of a case in a store and in the reference store, and returns the first difference.
struct PropertyCheck {
    let propertyCase: PropertyCase
    var stores: any ScenarioStoreFactory = SQLiteStoreFactory()

    /// Returns the first problem; nil if there is none.
    func failure(shuffling random: inout SplitMix64) async throws -> String? {
        let stack = try stores.open(propertyCase.model)
        var inParts = try PropertyParts(propertyCase, stores)
        var reference = ReferenceStore(model: propertyCase.model)
        for (index, step) in propertyCase.steps.enumerated() where !parentWaits(step, reference) {
            let expected = Result { try reference.sync(step) }
            if let problem = try await failure(of: step, expected, stack, reference, &random) {
                return "step \(index + 1): \(problem)"
            }
            if let problem = try await inParts?.failure(of: step, expected, reference) {
                return "step \(index + 1) \(propertyCase.parts?.description ?? ""): \(problem)"
            }
        }
        let damage = try await stack.damage()
        return damage.isEmpty ? nil : damage.joined(separator: "; ")
    }

    /// Returns whether the parent of a sync has pending references of the same relationship. It is undefined whether
    /// its list covers rows that come with the payload.
    private func parentWaits(_ step: PropertyCase.Step, _ reference: ReferenceStore) -> Bool {
        guard let parent = step.parent else { return false }
        return reference.unresolvedReferences().contains {
            $0.entity == parent.entity && $0.relationship == parent.relationship
        }
    }

    private func failure(
        of step: PropertyCase.Step, _ expected: Result<SyncResult, any Error>, _ stack: any ScenarioStore,
        _ reference: ReferenceStore, _ random: inout SplitMix64
    ) async throws -> String? {
        let found = await sync(step, stack)
        switch (expected, found) {
        case (.success(let expected), .success(let found)):
            if let problem = difference(expected, found) { return problem }
        case (.failure(let expected as SyncError), .failure(let found as SyncError)) where expected.code == found.code:
            break
        case (.failure(let expected), _): return "expected \(expected), found \(found)"
        case (.success, .failure(let error)): return "unexpected \(error)"
        }
        let differences = try await ReferenceComparison.differences(reference, stack)
        if !differences.isEmpty { return differences.joined(separator: "; ") }
        guard case .success = found else { return nil }
        return try await failureOfSecondSync(step, stack, reference, &random)
    }

    private func failureOfSecondSync(
        _ step: PropertyCase.Step, _ stack: any ScenarioStore, _ reference: ReferenceStore, _ random: inout SplitMix64
    ) async throws -> String? {
        // Records that are effective only for new rows may be inconsistent with later effective ones.
        guard !step.countsOnlyOnce else { return nil }
        let changes = try await stack.totalChanges()
        var step = step
        if case .failure(let error) = await sync(step, stack) { return "the second time: \(error)" }
        guard try await stack.totalChanges() == changes else {
            let differences = try await ReferenceComparison.differences(reference, stack)
            return "the second time something was written: \(differences.joined(separator: "; "))"
        }
        guard propertyCase.namesOnce else { return nil }
        step.payload.shuffle(using: &random)
        _ = await sync(step, stack)
        guard try await stack.totalChanges() == changes else { return "shuffled, something was written" }
        return nil
    }

    private func sync(_ step: PropertyCase.Step, _ stack: any ScenarioStore) async -> Result<SyncResult, any Error> {
        do {
            return .success(try await changes(step, stack, predicate: step.condition()))
        } catch {
            return .failure(error)
        }
    }

    private func changes(
        _ step: PropertyCase.Step, _ stack: any ScenarioStore, predicate: RowPredicate?
    ) async throws -> SyncResult {
        let layout = PropertyLayout(model: propertyCase.model)
        guard step.shape == .lines else {
            return try await Sync.changes(
                try layout.root(of: step), inEntity: step.entity, stack: stack, predicate: predicate,
                parent: step.parent,
                operations: step.operations, options: step.options)
        }
        var options = step.options
        options.format = .ndjson
        return try await Sync.changes(
            Data(try layout.lines(of: step)), inEntity: step.entity, stack: stack, predicate: predicate,
            parent: step.parent,
            operations: step.operations, options: options)
    }

    private func difference(_ expected: SyncResult, _ found: SyncResult) -> String? {
        for name in Set(expected.entities.keys).union(found.entities.keys).sorted() {
            let (left, right) = (expected[name], found[name])
            if left.insertedCount != right.insertedCount || left.inserted.sorted() != right.inserted.sorted() {
                if left.insertedCount != left.inserted.count { continue }
                return "inserted \(name) \(right.inserted), expected \(left.inserted)"
            }
            if left.deletedCount != right.deletedCount {
                return "deleted \(name) \(right.deleted), expected \(left.deleted)"
            }
        }
        // Only the mapper knows which owner supplies a part of a key.
        guard !hasPartedKeys else { return nil }
        if expected.duplicateRecordCount != found.duplicateRecordCount {
            return "\(found.duplicateRecordCount) repeated records, expected \(expected.duplicateRecordCount)"
        }
        if expected.inconsistentRecordCount != found.inconsistentRecordCount {
            return
                "\(found.inconsistentRecordCount) inconsistentRecordCount, expected \(expected.inconsistentRecordCount)"
        }
        return nil
    }

    private var hasPartedKeys: Bool { propertyCase.model.compiled.entities.contains { $0.compositeKey != nil } }
}

extension ReferenceStore {
    mutating func sync(_ step: PropertyCase.Step) throws -> SyncResult {
        guard step.shape != .lines || !step.payload.isEmpty else { throw SyncError(.noRecords, "no lines") }
        return try sync(
            step.root, inEntity: step.entity, predicate: try step.condition(),
            parent: step.parent, operations: step.operations, options: step.options)
    }
}
