#if !(os(Windows) || SYNC_FOUNDATION_FILES)
    import Foundation

    /// Copies bytes from file to file.
    package enum FileCopy {
        private static let chunkSize = 1 << 20

        /// Copies a file to one that is not there yet, which only this user can read.
        ///
        /// - Throws: ``SystemFailure``.
        package static func copy(_ source: String, toNew target: String) throws {
            let descriptor = open(target, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
            guard descriptor >= 0 else { throw SystemFailure() }
            defer { close(descriptor) }
            try copy(source, into: descriptor)
        }

        /// Writes what is in a file where an open one is.
        ///
        /// - Throws: ``SystemFailure``.
        package static func copy(_ source: String, into target: Int32) throws {
            let descriptor = open(source, O_RDONLY | O_CLOEXEC)
            guard descriptor >= 0 else { throw SystemFailure() }
            defer { close(descriptor) }
            var buffer = [UInt8](repeating: 0, count: chunkSize)
            while true {
                let count = buffer.withUnsafeMutableBytes { read(descriptor, $0.baseAddress, $0.count) }
                if count == 0 { return }
                if count < 0 && errno == EINTR { continue }
                guard count > 0 else { throw SystemFailure() }
                try buffer.withUnsafeBytes {
                    try write(UnsafeRawBufferPointer(rebasing: $0.prefix(count)), into: target)
                }
            }
        }

        /// Makes sure that there is room for so many bytes from the start of an open file, whose own bytes stay as they are. The
        /// file may be longer afterwards, also if there is no room.
        ///
        /// - Returns: Why there is none, as the system's number; 0 if there is, or nobody can tell.
        package static func reserve(_ size: Int, in target: Int32) -> Int32 {
            // The call has no word for nothing.
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
            // EBADF: it may be written but not read, see where it is opened.
            return [EOPNOTSUPP, EINVAL, EBADF].contains(code) ? 0 : code
        }

        /// Writes all of the bytes.
        ///
        /// - Throws: ``SystemFailure``.
        package static func write(_ bytes: UnsafeRawBufferPointer, into target: Int32) throws {
            var rest = bytes[...]
            while !rest.isEmpty {
                let part = UnsafeRawBufferPointer(rebasing: rest)
                let count = Foundation.write(target, part.baseAddress, part.count)
                if count < 0 && errno == EINTR { continue }
                guard count >= 0 else { throw SystemFailure() }
                rest = rest.dropFirst(count)
            }
        }
    }
#endif
