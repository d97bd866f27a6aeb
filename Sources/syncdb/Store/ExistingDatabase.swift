import Foundation
import Sync

extension DataStack {
    /// Opens a database with the model it keeps. Never creates one.
    static func existing(at path: String) throws -> DataStack {
        guard FileManager.default.fileExists(atPath: path) else {
            throw SyncError(.unreadableStore, "there is no database '\(path)'; 'syncdb import' makes one")
        }
        return try DataStack(at: URL(fileURLWithPath: path))
    }
}
