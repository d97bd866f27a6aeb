#if !(os(Windows) || SYNC_FOUNDATION_FILES)
    import Foundation

    extension FileStatus {
        /// The file at a path; nil if there is none, or it cannot be looked at.
        ///
        /// - Parameter followingLinks: Whether a symbolic link stands for what it leads to.
        package init?(at path: String, followingLinks: Bool = true) {
            var status = stat()
            guard (followingLinks ? stat(path, &status) : lstat(path, &status)) == 0 else { return nil }
            self.init(status)
        }

        /// The file at a path; nil if nothing is there.
        ///
        /// - Throws: ``SystemFailure`` if that cannot be told: `file/` asks for a folder where a file is, links go in a circle,
        ///   a folder may not be searched. Nobody may take that for a free place.
        package static func find(_ path: String) throws(SystemFailure) -> FileStatus? {
            var status = stat()
            if stat(path, &status) == 0 { return FileStatus(status) }
            guard errno == ENOENT else { throw SystemFailure() }
            return nil
        }

        package init?(descriptor: Int32) {
            var status = stat()
            guard fstat(descriptor, &status) == 0 else { return nil }
            self.init(status)
        }

        /// Why this user may not write to what is at a path; nil if that is allowed.
        static func refusal(toWrite path: String) -> SystemFailure? { access(path, W_OK) == 0 ? nil : SystemFailure() }

        private init(_ status: stat) {
            identity = Identity(device: UInt64(truncatingIfNeeded: status.st_dev), number: UInt64(status.st_ino))
            size = Int(status.st_size)
            linkCount = Int(status.st_nlink)
            owner = status.st_uid
            group = status.st_gid
            permissions = UInt32(status.st_mode) & 0o7777
            kind =
                switch UInt32(status.st_mode) & UInt32(S_IFMT) {
                case UInt32(S_IFREG): .regular
                case UInt32(S_IFDIR): .folder
                case UInt32(S_IFBLK): .blockDevice
                default: .other
                }
            #if canImport(Darwin)
                modified = [status.st_mtimespec.tv_sec, status.st_mtimespec.tv_nsec]
            #else
                modified = [status.st_mtim.tv_sec, status.st_mtim.tv_nsec]
            #endif
        }
    }
#endif
