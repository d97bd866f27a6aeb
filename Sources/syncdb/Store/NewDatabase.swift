import Foundation
import Sync

/// A database that is there only once its first import has succeeded.
///
/// It is filled under another name in the same folder and then moved, so that neither an error nor a crash leaves an
/// empty database where later commands would find it.
struct NewDatabase {
    let url: URL

    init(at url: URL) { self.url = url }

    /// Gives `body` the empty store to fill.
    func fill<Result>(_ model: Model, _ body: (DataStack) async throws -> Result) async throws -> Result {
        try checkFolder()
        let process = ProcessInfo.processInfo.processIdentifier
        let draft = folder.appendingPathComponent(".\(url.lastPathComponent).\(process)")
        defer { remove(draft) }
        let stack = try DataStack(model: model, at: draft)
        let result = try await body(stack)
        try stack.close()
        do {
            if Self.isEmptyFile(url) { try FileManager.default.removeItem(at: url) }
            try FileManager.default.moveItem(at: draft, to: url)
        } catch {
            throw SyncError(
                .storeFailure, "cannot make the database '\(url.path)'", underlying: error.localizedDescription)
        }
        return result
    }

    /// Whether there is a file that only holds the place, as `mktemp` makes one.
    static func isEmptyFile(_ url: URL) -> Bool {
        let attributes = try? FileManager.default.attributesOfItem(atPath: url.path)
        return attributes?[.type] as? FileAttributeType == .typeRegular && attributes?[.size] as? Int == 0
    }

    private var folder: URL { url.deletingLastPathComponent() }

    private func checkFolder() throws {
        var isFolder: ObjCBool = false
        guard FileManager.default.fileExists(atPath: folder.path, isDirectory: &isFolder), isFolder.boolValue else {
            throw SyncError(.unreadableStore, "there is no folder '\(folder.path)' to make the database in")
        }
    }

    /// Removes the draft with the files SQLite may have left beside it.
    private func remove(_ draft: URL) {
        for suffix in ["", "-wal", "-shm", "-journal"] {
            try? FileManager.default.removeItem(atPath: draft.path + suffix)
        }
    }
}
