public import Foundation
import GRDB
import SyncCore

extension DataStack {
    /// Opens an existing store to fetch, count and plan, and leaves every byte of its file as it is.
    ///
    /// ``init(at:)`` is for apps: it lets readers and a writer work at the same time, for which the file's header is
    /// written when it is opened.
    /// - Throws: ``SyncError`` `unreadableStore` if there is no file, which is then not created, or it is not a store.
    public convenience init(reading url: URL) throws {
        guard url.isFileURL, FileManager.default.fileExists(atPath: url.path) else {
            throw SyncError(.unreadableStore, "there is no store at '\(url.path)'")
        }
        let (model, queue) = try StoreFailure.mapped(.unreadableStore, "'\(url.path)' cannot be read as a store") {
            let queue = try DatabaseQueue(path: url.path, configuration: StoreFile.configuration())
            return (try queue.read { db in try KeptModel.read(db, or: .notAStore) }, queue)
        }
        guard let model else { throw SyncError(.unreadableStore, "'\(url.path)' is empty") }
        self.init(model: model, open: queue)
    }
}
