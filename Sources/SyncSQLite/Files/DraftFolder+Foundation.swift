#if os(Windows) || SYNC_FOUNDATION_FILES
    import Foundation

    /// A folder for a file that is not complete yet, beside the place where it will be. Its name is random, and it is made by
    /// this call or not at all. What a killed process left stays: nobody can tell that it is gone.
    package final class DraftFolder: Sendable {
        private let folder: String

        /// The file to fill. It is not there yet.
        package var path: String { folder + "/draft" }

        /// - Throws: ``SystemFailure``.
        package init(in parent: String) throws {
            let folder = "\(parent)/.sync-draft-\(UUID().uuidString)"
            try SystemFailure.mapping {
                try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
            }
            self.folder = folder
        }

        /// Removes the folder with all that belongs to the draft.
        package func remove() { try? FileManager.default.removeItem(atPath: folder) }
    }
#endif
