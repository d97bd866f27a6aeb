import Foundation
import SyncCore
import SyncSQLite

/// Where the store of one case is: in memory, or in a folder of its own that is removed afterwards.
struct ScenarioStoreFile: Sendable {
    private let folder: URL?
    private let isGuest: Bool

    init(needsFile: Bool, isGuest: Bool) throws {
        self.isGuest = isGuest
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
