import Foundation
import SyncCore
import SyncSQLite

/// Where the store of one case is: in memory, or in a folder of its own that is removed afterwards.
struct ScenarioStoreFile: Sendable {
    private let folder: URL?
    private let isGuest: Bool
    private let isAdopted: Bool

    init(needsFile: Bool, isGuest: Bool, isAdopted: Bool) throws {
        self.isGuest = isGuest
        self.isAdopted = isAdopted && !needsFile
        guard needsFile else {
            folder = nil
            return
        }
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("scenario-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        self.folder = folder
    }

    /// A case that depends on a transformer says so in its needs; models name others too.
    func open(_ model: SyncModel) throws -> DataStack {
        if isAdopted, let stack = try DataStack.adopted(model.withOtherNames(), transformers: .optional) {
            return stack
        }
        if isGuest {
            let path = folder?.appendingPathComponent("app.sqlite").path
            return try DataStack.guest(model, at: path, transformers: .optional)
        }
        guard let folder else { return try DataStack.inMemory(model, transformers: .optional) }
        return try DataStack(model: model, at: folder.appendingPathComponent("store.sqlite"), transformers: .optional)
    }

    func remove() {
        // A folder that cannot be removed is left to the system's clean-up of temporary files.
        if let folder { try? FileManager.default.removeItem(at: folder) }
    }
}

extension SyncModel {
    /// The model with other names for all tables and columns.
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
