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

// MARK: - Paths and copies

#if !(os(Windows) || SYNC_FOUNDATION_FILES)
    /// Functions that copy files.
    package enum FileCopy {
        private static let chunkSize = 1 << 20

        /// Copies a file to a new file that only this user can read.
        ///
        /// - Throws: ``SystemError``.
        package static func copy(_ source: String, toNew target: String) throws {
            let descriptor = open(target, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
            guard descriptor >= 0 else { throw SystemError() }
            defer { close(descriptor) }
            try copy(source, into: descriptor)
        }

        /// Writes the contents of a file to an open file.
        ///
        /// - Throws: ``SystemError``.
        package static func copy(_ source: String, into target: Int32) throws {
            let descriptor = open(source, O_RDONLY | O_CLOEXEC)
            guard descriptor >= 0 else { throw SystemError() }
            defer { close(descriptor) }
            var buffer = [UInt8](repeating: 0, count: chunkSize)
            while true {
                let count = buffer.withUnsafeMutableBytes { read(descriptor, $0.baseAddress, $0.count) }
                if count == 0 { return }
                if count < 0 && errno == EINTR { continue }
                guard count > 0 else { throw SystemError() }
                try buffer.withUnsafeBytes {
                    try write(UnsafeRawBufferPointer(rebasing: $0.prefix(count)), into: target)
                }
            }
        }

        /// Reserves disk space for a number of bytes from the start of an open file. The contents of the file stay
        /// unchanged. The file may become longer, even if the reservation fails.
        ///
        /// - Returns: 0 if the space is reserved, or if the file system does not support reservations; otherwise the
        ///   error number of the system.
        package static func reserve(_ size: Int, in target: Int32) -> Int32 {
            // `posix_fallocate` rejects a length of 0.
            guard size > 0 else { return 0 }
            #if canImport(Darwin)
                let length = off_t(size - (FileStatus(descriptor: target)?.size ?? 0))
                guard length > 0 else { return 0 }
                var room = fstore_t(
                    fst_flags: UInt32(F_ALLOCATEALL), fst_posmode: F_PEOFPOSMODE, fst_offset: 0, fst_length: length,
                    fst_bytesalloc: 0)
                let code = fcntl(target, F_PREALLOCATE, &room) == 0 ? 0 : errno
            #else
                let code = posix_fallocate(target, 0, off_t(size))
            #endif
            // EBADF: where `posix_fallocate` is emulated, it reads the file, which may be open for writing only.
            return [EOPNOTSUPP, EINVAL, EBADF].contains(code) ? 0 : code
        }

        /// Writes all bytes to an open file.
        ///
        /// - Throws: ``SystemError``.
        package static func write(_ bytes: UnsafeRawBufferPointer, into target: Int32) throws {
            var rest = bytes[...]
            while !rest.isEmpty {
                let part = UnsafeRawBufferPointer(rebasing: rest)
                let count = Foundation.write(target, part.baseAddress, part.count)
                if count < 0 && errno == EINTR { continue }
                guard count >= 0 else { throw SystemError() }
                rest = rest.dropFirst(count)
            }
        }
    }
#endif

// MARK: - FileCopy+Foundation

#if os(Windows) || SYNC_FOUNDATION_FILES
    /// Functions that copy files.
    package enum FileCopy {
        /// Copies a file to a new file.
        ///
        /// - Throws: ``SystemError``.
        package static func copy(_ source: String, toNew target: String) throws {
            try SystemError.mapping { try FileManager.default.copyItem(atPath: source, toPath: target) }
        }

        /// Moves a file to a path that must not exist.
        ///
        /// - Throws: ``SystemError``, `EEXIST` if the path exists.
        static func move(_ source: String, toNew target: String) throws {
            try SystemError.mapping { try FileManager.default.moveItem(atPath: source, toPath: target) }
        }
    }
#endif

// MARK: - ResolvedPath

/// The path of a file, with all symbolic links resolved. The file need not exist.
package struct ResolvedPath: Sendable, Hashable {
    /// The canonical path of the folder, without symbolic links.
    package let folder: String
    package let name: String

    package var path: String { folder.hasSuffix("/") ? folder + name : folder + "/" + name }
}

// MARK: - ResolvedPath+POSIX

#if !(os(Windows) || SYNC_FOUNDATION_FILES)
    extension ResolvedPath {
        private static var mostLinks: Int { 40 }
        private static var slash: UInt8 { UInt8(ascii: "/") }

        /// Resolves the symbolic links of a path.
        ///
        /// - Throws: ``SystemError`` if the folder does not exist, if the links form a cycle, or if the path does not
        ///   end with a file name.
        package init(_ path: String) throws(SystemError) {
            var path = path
            for _ in 0..<Self.mostLinks {
                if let target = try Self.target(of: path) {
                    path = Self.path(of: target, in: path)
                    continue
                }
                let start = Self.folder(of: path)
                name = String(decoding: path.utf8.dropFirst(start.utf8.count), as: UTF8.self)
                guard !["", ".", ".."].contains(name) else { throw SystemError(path.isEmpty ? ENOENT : EISDIR) }
                folder = try Self.canonical(start.isEmpty ? "." : start)
                return
            }
            throw SystemError(ELOOP)
        }

        /// Returns the path that the symbolic link `link` with the target `target` leads to.
        package static func path(of target: String, in link: String) -> String {
            target.utf8.first == slash ? target : folder(of: link) + target
        }

        /// Returns the target of a symbolic link; nil if the path is not a link or does not exist.
        ///
        /// - Throws: ``SystemError`` if the target cannot be read, or if the target is not UTF-8.
        package static func target(of path: String) throws(SystemError) -> String? {
            var bytes = [CChar](repeating: 0, count: Int(PATH_MAX) + 1)
            let count = readlink(path, &bytes, bytes.count - 1)
            guard count >= 0 else {
                // EINVAL: the path is not a link. ENOENT: the path does not exist.
                if errno == EINVAL || errno == ENOENT { return nil }
                throw SystemError()
            }
            return try text(bytes)
        }

        /// Returns the path up to and including its last slash; an empty string if it has none. It compares bytes,
        /// because a slash with combining marks is a `Character` that is not equal to a slash.
        private static func folder(of path: String) -> String {
            path.utf8.lastIndex(of: slash).map { String(decoding: path.utf8[...$0], as: UTF8.self) } ?? ""
        }

        private static func canonical(_ folder: String) throws(SystemError) -> String {
            guard let path = realpath(folder, nil) else { throw SystemError() }
            defer { free(path) }
            return try text(path)
        }

        private static func text(_ name: UnsafePointer<CChar>) throws(SystemError) -> String {
            guard let text = String(validatingCString: name) else { throw SystemError(EILSEQ) }
            return text
        }
    }
#endif

// MARK: - ResolvedPath+Foundation

#if os(Windows) || SYNC_FOUNDATION_FILES
    extension ResolvedPath {
        /// Resolves the symbolic links of a path.
        ///
        /// - Throws: ``SystemError`` if the folder does not exist, or if the path is empty or ends with a slash.
        package init(_ path: String) throws(SystemError) {
            guard !path.isEmpty else { throw SystemError(ENOENT) }
            guard !path.hasSuffix("/") else { throw SystemError(EISDIR) }
            let url = URL(fileURLWithPath: path).resolvingSymlinksInPath()
            name = url.lastPathComponent
            folder = url.deletingLastPathComponent().resolvingSymlinksInPath().path
            guard let status = FileStatus(at: folder) else { throw SystemError(ENOENT) }
            guard status.isFolder else { throw SystemError(ENOTDIR) }
        }
    }
#endif
