import Foundation
import Sync

extension SyncModel {
    /// Reads the model of a file that was named on the command line.
    static func file(_ path: String) throws -> SyncModel {
        do {
            // A URL would lose a slash at the end, and another file be read than is known to be.
            guard try FileStatus.find(path) != nil else {
                throw SyncError(.unreadableFile, "there is no model file '\(path)'")
            }
            return try SyncModel(contentsOf: URL(argument: path))
        } catch let error as SyncError {
            throw error.naming(path)
        } catch let failure as SystemFailure {
            throw SyncError(.unreadableFile, "cannot read '\(path)'", underlying: failure.message)
        }
    }
}
