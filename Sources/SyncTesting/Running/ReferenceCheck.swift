import SyncCore
import SyncSQLite

/// Takes the syncs of a case in a reference store too, as far as it knows what is done.
struct ReferenceCheck {
    /// Nil once a step was taken that the reference does not know.
    private var reference: ReferenceStore?

    init(isOn: Bool, _ actions: ScenarioActions) {
        let isKnown = actions.addedOnInsert == nil && !actions.stack.model.hasKeyedObjects
        reference = isOn && isKnown ? ReferenceStore(model: actions.stack.model) : nil
    }

    /// - Throws: A `ScenarioReport.Failure` if store and reference differ after the step.
    mutating func compare(after step: ScenarioStep, _ actions: ScenarioActions) throws {
        guard var reference else { return }
        guard step.expectedError == nil else { return }
        switch step.action {
        case .expect, .expectCount, .fetch, .export: return
        case .sync(let call) where call.isDryRun: return
        case .sync(let call) where !call.isPlain: self.reference = nil
        case .sync(let call):
            do {
                try actions.sync(call, in: &reference)
            } catch let error as SyncError where error.code == .noRecords && call.isList {}
            let differences = try ReferenceComparison.differences(reference, actions.stack)
            guard differences.isEmpty else {
                throw ScenarioReport.Failure(
                    expected: "what the reference has", found: differences.joined(separator: "; "),
                    message: "the store after the sync")
            }
            self.reference = reference
        case .insert, .fill, .insertOrUpdate, .update, .delete, .reopen, .drop: self.reference = nil
        }
    }
}

extension SyncModel {
    /// Whether it says how records are laid out, which the reference does not know.
    fileprivate var hasKeyedObjects: Bool {
        entities.contains { $0.relationships.contains { $0.keyedBy != nil } }
    }
}
