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
