import Foundation
import Sync

extension DataStack {
    /// Opens a database to look at, with the model it keeps. Neither creates nor changes one.
    static func existing(at path: String) throws -> DataStack {
        guard FileManager.default.fileExists(atPath: path) else {
            throw SyncError(.unreadableStore, "there is no database '\(path)'; 'syncdb import' makes one")
        }
        return try DataStack(reading: URL(fileURLWithPath: path))
    }
}
