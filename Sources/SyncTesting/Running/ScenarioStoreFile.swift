import Foundation
import Sync
import SyncCore

/// The location of the store of one case: in memory, or in a temporary folder that is removed afterwards.
struct ScenarioStoreFile: Sendable {
    private let folder: URL?
    private let stores: any ScenarioStoreFactory

    init(needsFile: Bool, _ stores: any ScenarioStoreFactory) throws {
        self.stores = stores
        guard needsFile else {
            folder = nil
            return
        }
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("scenario-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        self.folder = folder
    }

    func open(_ model: SyncModel) throws -> any ScenarioStore { try stores.open(model, in: folder) }

    func remove() {
        // If the folder cannot be removed, the system deletes it with other temporary files.
        if let folder { try? FileManager.default.removeItem(at: folder) }
    }
}

/// Runs the syncs of a case also in a reference store, and compares both stores.
struct ReferenceCheck {
    /// The reference store; nil if the check is off, and after the first step that the reference does not support.
    private var reference: ReferenceStore?

    init(isOn: Bool, _ actions: ScenarioActions) {
        let isKnown = actions.addedOnInsert == nil && !actions.stack.model.hasKeyedObjects
        reference = isOn && isKnown ? ReferenceStore(model: actions.stack.model) : nil
    }

    /// Compares the store with the reference after a step.
    ///
    /// - Throws: A `ScenarioReport.Failure` if store and reference differ.
    mutating func compare(after step: ScenarioStep, _ actions: ScenarioActions) async throws {
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
            let differences = try await ReferenceComparison.differences(reference, actions.stack)
            guard differences.isEmpty else {
                throw ScenarioReport.Failure(
                    expected: "the rows of the reference implementation", found: differences.joined(separator: "; "),
                    message: "the store after the sync")
            }
            self.reference = reference
        case .insert, .fill, .insertOrUpdate, .update, .delete, .reopen, .drop: self.reference = nil
        }
    }
}

extension SyncModel {
    /// Whether a relationship has `keyedBy`, which the reference does not support.
    fileprivate var hasKeyedObjects: Bool {
        entities.contains { $0.relationships.contains { $0.keyedBy != nil } }
    }
}

// MARK: - ScenarioActions+Reference

extension ScenarioActions {
    /// Runs a sync in the reference.
    func sync(_ call: ScenarioStep.SyncCall, in reference: inout ReferenceStore) throws {
        let json: JSONValue
        switch try payload(of: call) {
        case .bytes(let data): json = try JSONValue(parsing: data)
        case .value(let value): json = value
        }
        guard !call.isPaged else { return try sync(pages: json, call, in: &reference) }
        try reference.sync(
            json, inEntity: call.entity, predicate: try call.predicate.map { try RowPredicate(parsing: $0) },
            parent: call.parent, operations: call.operations, options: call.options)
    }

    /// Syncs all pages as one list. If a page is an object and the step sets no scope, the list is a delta.
    private func sync(
        pages: JSONValue, _ call: ScenarioStep.SyncCall, in reference: inout ReferenceStore
    ) throws {
        guard case .array(let pages) = pages else { return }
        var whole = call
        whole.isPaged = false
        whole.key = nil
        var records: [JSONValue] = []
        for page in pages {
            if case .array(let elements) = page {
                records += elements
            } else {
                records.append(page)
                if call.predicate == nil, call.parent == nil { whole.options.payloadKind = .delta }
            }
        }
        whole.payload = .inline(.array(records))
        try sync(whole, in: &reference)
    }
}
