import Sync
import SyncCore
import SyncSQLite
import SyncTesting

/// Takes the steps of a case in a store and in the reference, and says what is not as it must be.
struct PropertyCheck {
    let propertyCase: PropertyCase

    /// The first thing that is wrong; nil if nothing is.
    func failure(shuffling random: inout SplitMix64) async throws -> String? {
        let stack = try DataStack.inMemory(propertyCase.model)
        // What a row lacks a page cannot know of a later one.
        let hasPages = propertyCase.pages > 0 && !propertyCase.model.canRefuseRows
        var paged: DataStack? = hasPages ? try DataStack.inMemory(propertyCase.model) : nil
        var reference = ReferenceStore(model: propertyCase.model)
        for (index, step) in propertyCase.steps.enumerated() where !parentWaits(step, reference) {
            let before = reference
            if let problem = try await failure(of: step, stack, &reference, &random) {
                return "step \(index + 1): \(problem)"
            }
            if paged != nil, step.parent != nil, step.repeatsRecords { paged = nil }
            if let pages = paged, let problem = try await failure(inPages: step, pages, before, reference) {
                guard problem.isEmpty else { return "step \(index + 1) in pages: \(problem)" }
                paged = nil
            }
        }
        let damage = try await stack.damage()
        return damage.isEmpty ? nil : damage.joined(separator: "; ")
    }

    /// Whether the parent of a sync waits for rows of the same relationship: whether its list speaks of those that
    /// come with the payload is not settled.
    private func parentWaits(_ step: PropertyCase.Step, _ reference: ReferenceStore) -> Bool {
        guard let parent = step.parent else { return false }
        return reference.unresolvedReferences().contains {
            $0.entity == parent.entity && $0.relationship == step.relationship
        }
    }

    private func failure(
        of step: PropertyCase.Step, _ stack: DataStack, _ reference: inout ReferenceStore, _ random: inout SplitMix64
    ) async throws -> String? {
        let expected = Result { try reference.sync(step, .array(step.payload)) }
        let found = await sync(step, stack)
        switch (expected, found) {
        case (.success(let expected), .success(let found)):
            if let problem = difference(expected, found) { return problem }
        case (.failure(let expected as SyncError), .failure(let found as SyncError)) where expected.code == found.code:
            break
        case (.failure(let expected), _): return "expected \(expected), found \(found)"
        case (.success, .failure(let error)): return "unexpected \(error)"
        }
        let differences = try ReferenceComparison.differences(reference, stack)
        if !differences.isEmpty { return differences.joined(separator: "; ") }
        guard case .success = found else { return nil }
        return try await failureOfSecondSync(step, stack, reference, &random)
    }

    private func failureOfSecondSync(
        _ step: PropertyCase.Step, _ stack: DataStack, _ reference: ReferenceStore, _ random: inout SplitMix64
    ) async throws -> String? {
        // What counts only while its row is new may contradict what counts later, too.
        guard !step.countsOnlyOnce else { return nil }
        let changes = try await stack.totalChanges()
        var step = step
        if case .failure(let error) = await sync(step, stack) { return "the second time: \(error)" }
        guard try await stack.totalChanges() == changes else {
            let differences = try ReferenceComparison.differences(reference, stack)
            return "the second time something was written: \(differences.joined(separator: "; "))"
        }
        guard propertyCase.namesOnce else { return nil }
        step.payload.shuffle(using: &random)
        _ = await sync(step, stack)
        guard try await stack.totalChanges() == changes else { return "shuffled, something was written" }
        return nil
    }

    /// What the pages of a payload leave otherwise than the whole; empty if both fail, which ends the comparison: the
    /// pages before stay.
    private func failure(
        inPages step: PropertyCase.Step, _ stack: DataStack, _ before: ReferenceStore, _ expected: ReferenceStore
    ) async throws -> String? {
        var whole = before
        let expectedError = Result { try whole.sync(step, .array(step.payload)) }.error
        do {
            try await syncInPages(step, stack)
        } catch let error as SyncError {
            return error.code == expectedError?.code ? "" : "\(error)"
        }
        if let expectedError { return "expected \(expectedError)" }
        let differences = try ReferenceComparison.differences(expected, stack)
        return differences.isEmpty ? nil : differences.joined(separator: "; ")
    }

    private func syncInPages(_ step: PropertyCase.Step, _ stack: DataStack) async throws {
        let run = SyncRun()
        let size = propertyCase.pages
        for start in stride(from: 0, to: max(step.payload.count, 1), by: size) {
            var page = step
            page.payload = Array(step.payload[start..<min(start + size, step.payload.count)])
            let options = SyncOptions(scope: step.scope, payload: .page(of: run))
            _ = try await sync(page, stack, options).get()
        }
        try await run.finish()
    }

    private func sync(_ step: PropertyCase.Step, _ stack: DataStack) async -> Result<SyncResult, any Error> {
        await sync(step, stack, step.options)
    }

    private func sync(
        _ step: PropertyCase.Step, _ stack: DataStack, _ options: SyncOptions
    ) async -> Result<SyncResult, any Error> {
        do {
            return .success(
                try await Sync.changes(
                    .array(step.payload), inEntity: step.entity, stack: stack,
                    predicate: try step.predicate.map { try RecordPredicate(parsing: $0) }, parent: step.parent,
                    relationship: step.relationship, operations: step.operations, options: options))
        } catch {
            return .failure(error)
        }
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
        return nil
    }
}

extension ReferenceStore {
    mutating func sync(_ step: PropertyCase.Step, _ payload: JSONValue) throws -> SyncResult {
        try sync(
            payload, inEntity: step.entity, predicate: try step.predicate.map { try RecordPredicate(parsing: $0) },
            parent: step.parent, relationship: step.relationship, operations: step.operations, options: step.options)
    }
}

extension Result {
    fileprivate var error: SyncError? {
        guard case .failure(let error) = self else { return nil }
        return error as? SyncError
    }
}
