package import Foundation
package import SyncCore
package import SyncStore
package import SyncTesting

/// A factory of stores in memory, which have no files.
package struct MemoryStoreFactory: ScenarioStoreFactory {
    private let wrap: @Sendable (MemorySession) -> any StoreSession

    /// - Parameter wrap: Returns the session that a sync uses instead of a session of the store.
    package init(wrap: @escaping @Sendable (MemorySession) -> any StoreSession = { $0 }) { self.wrap = wrap }

    package var unmetNeeds: Set<String> { [ScenarioFeatures.onDisk, ScenarioFeatures.reopening] }

    package func open(_ model: SyncModel, in folder: URL?) throws -> any ScenarioStore {
        try MemoryStack(model, wrap: wrap)
    }
}

extension MemoryStack: ScenarioStore {
    package func insertRow(
        _ entity: String, values: [String: JSONValue], relationships: [String: [SyncRow]]
    ) async throws {
        try await insert(entity, values: values, relationships: relationships)
    }

    package func fillRow(of entity: String, with record: JSONValue, where predicate: RowPredicate?) async throws {
        try await updateAttributes(entity, with: record, where: predicate)
    }

    package func totalChanges() async throws -> Int { contents.changeCount }

    package func dump() async throws -> StoreDump { contents.dump }

    package func damage() async throws -> [String] {
        let contents = contents
        return contents.model.links.flatMap { link in
            contents.danglingLinks(link).map { key in
                let entity = contents.model.entities[link.first.entity].name
                return "a link of \(entity) references a missing row: "
                    + "\(key.first.recordKey(nil)) to \(key.second.recordKey(nil))"
            }
        }
    }

    package func close() throws { feed.finish() }
}

extension MemoryContents {
    /// All rows, links and pending references as text.
    package var dump: StoreDump {
        var tables: [String: [String]] = [:]
        for hierarchy in model.hierarchies {
            tables[model.entities[hierarchy.root].name] = rows(of: hierarchy.id).map { key, row in
                let values = row.values.map(\.jsonForm)
                return text([key.json, .string(model.entities[row.entity].name)] + values)
            }
        }
        for link in model.links {
            let side = link.first.relationship == nil ? link.second : link.first
            tables["\(model.entities[side.entity].name).\(side.relationship?.name ?? "")"] = links(link).map {
                text([$0.first.json, $0.second.json, json($1.first), json($1.second)])
            }
        }
        tables["pending references"] = pendingReferences.map { reference, position in
            text([
                .string(model.entities[reference.ownerEntity].name), reference.owner.key.json,
                .string(reference.relationship), .string(model.entities[reference.targetEntity].name),
                reference.target.json, JSONValue(position),
            ])
        }
        return StoreDump(tables)
    }

    private func json(_ position: Int64?) -> JSONValue { position.map { JSONValue($0) } ?? .null }

    private func text(_ values: [JSONValue]) -> String {
        var bytes: [UInt8] = []
        JSONText.append(.array(values), to: &bytes)
        return String(decoding: bytes, as: UTF8.self)
    }
}

extension RowKey {
    fileprivate var json: JSONValue { recordKey(nil).json }
}
