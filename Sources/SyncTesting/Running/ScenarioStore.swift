package import Foundation
package import Sync
package import SyncCore
package import SyncSQLite

/// A factory of the stores for scenarios and random comparisons.
package protocol ScenarioStoreFactory: Sendable {
    /// The needs of test cases that the stores do not meet, such as `onDisk`. The runner skips these test cases.
    var unmetNeeds: Set<String> { get }

    /// Opens a store.
    ///
    /// - Parameter folder: The folder for the files of the store; nil for a store in memory.
    func open(_ model: SyncModel, in folder: URL?) throws -> any ScenarioStore
}

/// What scenarios and random comparisons need of a store, beside the calls of every ``SyncStack``.
package protocol ScenarioStore: SyncStack {
    /// Inserts a row with the given values and related rows.
    func insertRow(
        _ entity: String, values: [String: JSONValue], relationships: [String: [SyncRow]]
    ) async throws

    /// Sets the attributes of the one row that satisfies a condition from a JSON record; nil to insert a new row.
    func fillRow(of entity: String, with record: JSONValue, where predicate: RowPredicate?) async throws

    /// Returns the number of rows that were written since the store was opened. If two calls return the same number,
    /// nothing was written between them.
    func totalChanges() async throws -> Int

    /// Returns all rows, links and pending references.
    func dump() async throws -> StoreDump

    /// Returns the problems of the store, such as links to missing rows; an empty array if there are none.
    func damage() async throws -> [String]

    func close() throws
}

extension ScenarioStoreFactory {
    /// Opens a store in memory.
    package func open(_ model: SyncModel) throws -> any ScenarioStore { try open(model, in: nil) }
}

// MARK: - SQLite

/// A factory of SQLite stores.
package struct SQLiteStoreFactory: ScenarioStoreFactory {
    /// Whether the stores are in app databases.
    private let usesAppDatabase: Bool
    /// Whether a store in memory uses existing tables with other names, if the model allows existing tables.
    private let usesExistingTables: Bool

    package init(usesAppDatabase: Bool = false, usesExistingTables: Bool = false) {
        self.usesAppDatabase = usesAppDatabase
        self.usesExistingTables = usesExistingTables
    }

    package var unmetNeeds: Set<String> { [] }

    /// Opens a store. Transformers of the model may be missing: a case lists those that it depends on in `needs`.
    package func open(_ model: SyncModel, in folder: URL?) throws -> any ScenarioStore {
        if usesExistingTables, folder == nil,
            let stack = try DataStack.withExistingTables(model.withOtherNames(), transformers: .optional)
        {
            return stack
        }
        if usesAppDatabase {
            let path = folder?.appendingPathComponent("app.sqlite").path
            return try DataStack.appDatabase(model, at: path, transformers: .optional)
        }
        guard let folder else { return try DataStack.inMemory(model, transformers: .optional) }
        return try DataStack(model: model, at: folder.appendingPathComponent("store.sqlite"), transformers: .optional)
    }
}

extension DataStack: ScenarioStore {
    package func insertRow(
        _ entity: String, values: [String: JSONValue], relationships: [String: [SyncRow]]
    ) async throws {
        _ = try await insert(entity, values: values, relationships: relationships)
    }

    package func fillRow(of entity: String, with record: JSONValue, where predicate: RowPredicate?) async throws {
        _ = try await updateAttributes(entity, with: record, where: predicate)
    }

    package func dump() async throws -> StoreDump { try await contents() }
}

extension SyncModel {
    /// Returns the model with other names for its tables, and for most of their columns.
    fileprivate func withOtherNames() throws -> SyncModel {
        try replacing(
            entities: entities.map { entity in
                var entity = entity
                if entity.parent == nil { entity.table = "app \(entity.name)" }
                for index in entity.attributes.indices {
                    entity.attributes[index].column = "c_\(entity.attributes[index].name)"
                }
                for index in entity.relationships.indices where !entity.relationships[index].isToMany {
                    let inverse = entity.relationships[index].inverse
                    let isOneToOne = self.entity(named: entity.relationships[index].destination)?.relationships
                        .contains { $0.name == inverse && !$0.isToMany }
                    if isOneToOne != true {
                        entity.relationships[index].column = "\(entity.name) \(entity.relationships[index].name)"
                    }
                }
                return entity
            })
    }
}

// MARK: - Location

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
