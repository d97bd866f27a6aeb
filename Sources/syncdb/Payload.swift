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

    /// The beginning of it, or all; nil if it can only be read once.
    var start: Data? {
        switch content {
        case .whole(let data): data
        case .file(let url): try? FileHandle(forReadingFrom: url).read(upToCount: 1 << 18)
        case .chunks: nil
        }
    }

    /// The whole of it; nil if it is read in pieces.
    var data: Data? {
        guard case .whole(let data) = content else { return nil }
        return data
    }
}
