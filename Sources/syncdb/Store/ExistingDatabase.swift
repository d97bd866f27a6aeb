import Foundation
import Sync

extension FileStatus {
    /// What is where a database is, or will be; nil if nothing is. The path is looked at as it was given: a URL loses a slash
    /// at its end, and makes the current folder of an empty one.
    ///
    /// - Throws: ``SyncError`` `unreadableStore` if there can be no database.
    static func ofDatabase(at path: String) throws -> FileStatus? {
        do {
            if let status = try FileStatus.find(path) { return status }
            _ = try ResolvedPath(path)
        } catch let failure where failure.code != ENOENT || path.isEmpty {
            throw SyncError(.unreadableStore, "cannot open the database '\(path)'", underlying: failure.message)
        } catch {
            // The folder is missing.
        }
        return nil
    }
}

extension DataStack {
    /// Opens a database to look at, with the model it keeps. Neither creates nor changes one.
    static func existing(at path: String) throws -> DataStack {
        guard try FileStatus.ofDatabase(at: path) != nil else {
            throw SyncError(.unreadableStore, "there is no database '\(path)'; 'syncdb import' makes one")
        }
        return try DataStack(reading: URL(argument: path), transformers: .optional)
    }
}
