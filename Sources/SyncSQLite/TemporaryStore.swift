import GRDB
import SyncCore

/// A private copy of a store, to be written to and thrown away: it is gone with its connection, also if the process is
/// killed.
enum TemporaryStore {
    /// What was committed when this is called, also while another process writes.
    static func copy(of db: Database) throws -> DatabaseQueue {
        // A path of no characters is SQLite's own temporary file, without a name.
        let queue = try DatabaseQueue(path: "", configuration: StoreFile.configuration())
        try queue.inDatabase { copy in try db.backup(to: copy) }
        return queue
    }
}
