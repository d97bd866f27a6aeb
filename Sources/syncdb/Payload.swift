import Foundation
import Sync

/// JSON that was read to be synced.
struct Payload {
    /// Where it is from, for errors.
    let name: String
    let data: Data
    let form: SyncOptions.Form
}
