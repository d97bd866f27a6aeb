import Foundation

#if !(os(Windows) || SYNC_FOUNDATION_FILES)
    /// A folder for an incomplete file, usually beside the final location of the file.
    ///
    /// The initializer creates a folder with a random name, and never uses an existing folder. Other users cannot write
    /// into the folder. If the file system supports locks, the folder is locked until this object is released or the
    /// process ends. Other processes can then detect the folders of killed processes.
    package final class TemporaryFolder: Sendable {
        private static let prefix = ".sync-draft-"
        private static let file = "draft"
        private static let attempts = 10

        private let folder: String
        private let descriptor: Int32

        /// The path of the file to fill. Initially, no file exists at this path.
        package var path: String { folder + "/" + Self.file }

        /// Creates a temporary folder in `parent`, and removes the temporary folders that killed processes left in
        /// `parent`.
        ///
        /// - Throws: ``SystemError``.
        package init(in parent: String) throws {
            Self.removeAbandoned(in: parent)
            for _ in 0..<Self.attempts {
                let folder = parent + "/" + Self.prefix + Self.randomName()
                guard mkdir(folder, 0o700) == 0 else {
                    if errno == EEXIST { continue }
                    throw SystemError()
                }
                // Another process may have found the folder before it was locked, and removed it as abandoned.
                guard let descriptor = Self.open(folder) else { continue }
                if Self.lock(descriptor) != .taken, Self.isStill(folder, descriptor) {
                    (self.folder, self.descriptor) = (folder, descriptor)
                    return
                }
                close(descriptor)
            }
            throw SystemError(EEXIST)
        }

        deinit { close(descriptor) }

        /// Removes the folder and its files.
        package func remove() { Self.remove(folder, descriptor) }

        // MARK: Folders of killed processes

        /// Removes the temporary folders of processes that no longer run. Such a folder is unlocked, belongs to this
        /// user, has the prefix of temporary folders, and contains only files of a store.
        private static func removeAbandoned(in parent: String) {
            guard let names = try? FileManager.default.contentsOfDirectory(atPath: parent) else { return }
            for name in names where name.hasPrefix(prefix) {
                let folder = parent + "/" + name
                guard let descriptor = open(folder) else { continue }
                defer { close(descriptor) }
                guard let status = FileStatus(descriptor: descriptor), status.owner == geteuid(),
                    status.permissions & 0o077 == 0, lock(descriptor) == .ours, isStill(folder, descriptor),
                    let contents = try? FileManager.default.contentsOfDirectory(atPath: folder),
                    contents.allSatisfy(files.contains)
                else { continue }
                remove(folder, descriptor)
            }
        }

        // MARK: Folders

        private static let files = Set(StoreFiles.suffixes.map { file + $0 })

        private static func remove(_ folder: String, _ descriptor: Int32) {
            for file in files { unlinkat(descriptor, file, 0) }
            rmdir(folder)
        }

        private static func open(_ folder: String) -> Int32? {
            let descriptor = Foundation.open(folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
            return descriptor >= 0 ? descriptor : nil
        }

        private enum Lock { case ours, taken, unsupported }

        /// Tries to lock a folder. If the file system does not support locks, no folder counts as abandoned.
        private static func lock(_ descriptor: Int32) -> Lock {
            if flock(descriptor, LOCK_EX | LOCK_NB) == 0 { return .ours }
            return errno == EWOULDBLOCK ? .taken : .unsupported
        }

        private static func isStill(_ folder: String, _ descriptor: Int32) -> Bool {
            let status = FileStatus(at: folder, followingLinks: false)
            return status != nil && status?.identity == FileStatus(descriptor: descriptor)?.identity
        }

        /// Returns 20 random letters. The name does not reveal the process.
        private static func randomName() -> String {
            String((0..<20).map { _ in "abcdefghijklmnopqrstuvwxyz".randomElement() ?? "a" })
        }
    }
#endif

// MARK: - Foundation

#if os(Windows) || SYNC_FOUNDATION_FILES
    /// A folder for an incomplete file, usually beside the final location of the file. The initializer creates a folder
    /// with a random name. The folders of killed processes are not removed.
    package final class TemporaryFolder: Sendable {
        private let folder: String

        /// The path of the file to fill. Initially, no file exists at this path.
        package var path: String { folder + "/draft" }

        /// Creates a temporary folder in `parent`.
        ///
        /// - Throws: ``SystemError``.
        package init(in parent: String) throws {
            let folder = "\(parent)/.sync-draft-\(UUID().uuidString)"
            try SystemError.mapping {
                try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
            }
            self.folder = folder
        }

        /// Removes the folder and its files.
        package func remove() { try? FileManager.default.removeItem(atPath: folder) }
    }
#endif
