import Foundation

/// What a file is, under whatever name.
package struct FileStatus: Sendable, Hashable {
    /// The same for two names of one file, and for no two files that are there at once.
    package struct Identity: Sendable, Hashable {
        let device: UInt64
        let number: UInt64
    }

    package let identity: Identity
    package let size: Int
    /// How many names it has.
    package let linkCount: Int
    package let owner: UInt32
    package let group: UInt32
    /// When it was last written, in seconds and nanoseconds.
    private let modified: [Int]
    private let mode: UInt32

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

    private init(_ status: stat) {
        identity = Identity(device: UInt64(truncatingIfNeeded: status.st_dev), number: UInt64(status.st_ino))
        size = Int(status.st_size)
        linkCount = Int(status.st_nlink)
        owner = status.st_uid
        group = status.st_gid
        mode = UInt32(status.st_mode)
        #if canImport(Darwin)
            modified = [status.st_mtimespec.tv_sec, status.st_mtimespec.tv_nsec]
        #else
            modified = [status.st_mtim.tv_sec, status.st_mtim.tv_nsec]
        #endif
    }

    package var isRegular: Bool { kind == UInt32(S_IFREG) }
    package var isFolder: Bool { kind == UInt32(S_IFDIR) }

    /// Whether bytes written to it are kept in it, so that others can be lost by that.
    package var keepsBytes: Bool { isRegular || kind == UInt32(S_IFBLK) }

    /// Who may do what with it.
    package var permissions: UInt32 { mode & 0o7777 }

    private var kind: UInt32 { mode & UInt32(S_IFMT) }
}
