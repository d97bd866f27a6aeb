import Foundation
import Sync

extension Model {
    /// Reads the model of a file that was named on the command line.
    static func file(_ path: String) throws -> Model {
        do {
            return try Model(contentsOf: URL(fileURLWithPath: path))
        } catch let error as SyncError {
            throw error.naming(path)
        }
    }
}
