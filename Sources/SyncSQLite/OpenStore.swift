import GRDB
import SyncCore

/// A store that was opened, and its tables at that moment.
struct OpenStore {
    let model: Model
    let database: any DatabaseWriter
    let schemaVersion: Int?
    /// What tells whether the file has changed, if it is read without locks.
    var unlocked: UnlockedStore?
}
