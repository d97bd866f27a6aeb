import Foundation
import Sync

/// A database that is there only once its first import has succeeded.
///
/// It is filled out of sight and then put in its place, so that neither an error nor a crash leaves an empty database where
/// later commands would find it, and none that somebody else makes meanwhile is lost.
struct NewDatabase {
    let url: URL

    init(at url: URL) { self.url = url }

    /// Gives `body` the empty store to fill.
    func fill<Result>(_ model: SyncModel, _ body: (DataStack) async throws -> Result) async throws -> Result {
        let draft = try StoreDraft(for: url)
        defer { draft.remove() }
        let stack = try DataStack(model: model, in: draft)
        let result = try await body(stack)
        try stack.close()
        guard try draft.publish() else {
            throw SyncError(
                .storeFailure, "'\(url.path)' was made by another process meanwhile; nothing was written to it")
        }
        return result
    }
}
