import Foundation

/// The properties of a file.
package struct FileStatus: Sendable, Hashable {
    /// The identity of a file. Two paths of one file have equal identities. Two files that exist at the same time have
    /// different identities.
    package struct Identity: Sendable, Hashable {
        let device: UInt64
        let number: UInt64
    }

    package let identity: Identity
    package let size: Int
    /// The number of hard links.
    package let linkCount: Int
    package let owner: UInt32
    package let group: UInt32
    /// The time of the last write, in a form that is only compared for equality.
    let modified: [Int]
    /// The permission bits.
    package let permissions: UInt32
    let kind: Kind

    /// The kinds of files that the code distinguishes.
    enum Kind: Sendable, Hashable {
        case regular, folder, blockDevice, other
    }

    package var isRegular: Bool { kind == .regular }
    package var isFolder: Bool { kind == .folder }

    /// Whether the file keeps the bytes that are written to it. A write to such a file can destroy data.
    package var keepsBytes: Bool { isRegular || kind == .blockDevice }
}

/// An error of a system call.
package struct SystemError: LocalizedError {
    package let code: Int32

    /// - Parameter code: The error number; by default, the `errno` of the last system call.
    package init(_ code: Int32 = errno) { self.code = code }

    package var message: String {
        // The message of the system for this code does not name the problem.
        code == EILSEQ ? "a file or folder name in the path is not UTF-8" : String(cString: strerror(code))
    }
    package var errorDescription: String? { message }

    /// Runs code that uses Foundation, and converts an error of Foundation to the system error that caused it, or to
    /// `EIO` if this is unknown.
    static func mapping<Value>(_ body: () throws -> Value) throws(SystemError) -> Value {
        do {
            return try body()
        } catch {
            throw SystemError(error)
        }
    }

    private init(_ error: any Error) {
        let underlying = (error as NSError).userInfo[NSUnderlyingErrorKey] as? NSError
        for case let error? in [underlying, error as NSError] where error.domain == NSPOSIXErrorDomain {
            self.init(Int32(truncatingIfNeeded: error.code))
            return
        }
        switch (error as? CocoaError)?.code {
        case .fileWriteFileExists: self.init(EEXIST)
        case .fileNoSuchFile, .fileReadNoSuchFile: self.init(ENOENT)
        case .fileWriteNoPermission, .fileReadNoPermission: self.init(EACCES)
        case .fileWriteOutOfSpace: self.init(ENOSPC)
        default: self.init(EIO)
        }
    }
}

// MARK: - POSIX

#if !(os(Windows) || SYNC_FOUNDATION_FILES)
    extension FileStatus {
        /// Reads the status of the file at a path; nil if no file exists there, or if its status cannot be read.
        ///
        /// - Parameter followingLinks: Whether to follow a symbolic link and return the status of its target.
        package init?(at path: String, followingLinks: Bool = true) {
            var status = stat()
            guard (followingLinks ? stat(path, &status) : lstat(path, &status)) == 0 else { return nil }
            self.init(status)
        }

        /// Returns the status of the file at a path; nil if the path does not exist.
        ///
        /// - Throws: ``SystemError`` if it is unknown whether the path exists. Examples are a slash after a file name,
        ///   a cycle of links, and a folder that this user may not search.
        package static func find(_ path: String) throws(SystemError) -> FileStatus? {
            var status = stat()
            if stat(path, &status) == 0 { return FileStatus(status) }
            guard errno == ENOENT else { throw SystemError() }
            return nil
        }

        package init?(descriptor: Int32) {
            var status = stat()
            guard fstat(descriptor, &status) == 0 else { return nil }
            self.init(status)
        }

        /// Returns the reason why this user may not write to the file at a path; nil if the user may write.
        static func refusal(toWrite path: String) -> SystemError? { access(path, W_OK) == 0 ? nil : SystemError() }

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

// MARK: - Foundation

#if os(Windows) || SYNC_FOUNDATION_FILES
    extension FileStatus {
        /// Reads the status of the file at a path; nil if no file exists there, or if its status cannot be read.
        ///
        /// - Parameter followingLinks: Whether to follow a symbolic link and return the status of its target.
        package init?(at path: String, followingLinks: Bool = true) {
            let path = followingLinks ? URL(fileURLWithPath: path).resolvingSymlinksInPath().path : path
            guard let found = try? FileManager.default.attributesOfItem(atPath: path) else { return nil }
            func number(_ key: FileAttributeKey) -> UInt64 { (found[key] as? NSNumber)?.uint64Value ?? 0 }
            identity = Identity(device: number(.systemNumber), number: number(.systemFileNumber))
            size = Int(truncatingIfNeeded: number(.size))
            linkCount = Int(truncatingIfNeeded: number(.referenceCount))
            owner = UInt32(truncatingIfNeeded: number(.ownerAccountID))
            group = UInt32(truncatingIfNeeded: number(.groupOwnerAccountID))
            permissions = UInt32(truncatingIfNeeded: number(.posixPermissions))
            let seconds = (found[.modificationDate] as? Date)?.timeIntervalSinceReferenceDate ?? 0
            modified = [Int(truncatingIfNeeded: seconds.bitPattern)]
            kind =
                switch found[.type] as? FileAttributeType {
                case .typeRegular: .regular
                case .typeDirectory: .folder
                case .typeBlockSpecial: .blockDevice
                default: .other
                }
        }

        /// Returns the reason why this user may not write to the file at a path; nil if the user may write.
        static func refusal(toWrite path: String) -> SystemError? {
            FileManager.default.isWritableFile(atPath: path) ? nil : SystemError(EACCES)
        }
    }
#endif
