import Foundation

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
