import GRDB
import SyncCore

/// A store that is read without locks, because there is nothing by which this user could lock it. Whoever may write to it
/// does not know of the reader.
struct UnlockedStore: Sendable {
    private let files: StoreFiles

    init(_ files: StoreFiles) { self.files = files }

    /// Gives what `body` read, if nothing was written meanwhile nor before.
    ///
    /// - Throws: ``SyncError`` `storeBusy` if something was, whatever else went wrong by it.
    @discardableResult
    func reading<Result>(_ body: () throws -> Result) throws -> Result {
        do {
            let result = try body()
            try check()
            return result
        } catch {
            try check()
            throw error
        }
    }

    func check() throws {
        guard StoreFiles(files.path) == files else { throw Self.changed }
    }

    static var changed: SyncError {
        SyncError(.storeBusy, "the store was written to while it was read; try again")
    }
}
