import Foundation
import Sync

/// JSON to be synced.
struct Payload {
    /// Where its bytes are.
    enum Content {
        /// Small enough to be read whole, or needed so.
        case whole(Data)
        /// A plain file, to be read in pieces.
        case file(URL)
        /// Anything else that is read in pieces.
        case chunks(ByteChunks)
    }

    /// Where the payload is from, for errors.
    let name: String
    let content: Content
    let form: SyncOptions.Form

    /// The whole of it; nil if it is read in pieces.
    var data: Data? {
        guard case .whole(let data) = content else { return nil }
        return data
    }
}
