package import Foundation

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// The bytes of a file that is needed whole, whatever kind of file it is.
package enum FileContents {
    #if os(Windows) || SYNC_FOUNDATION_FILES
        /// Reads a file.
        ///
        /// - Throws: ``SyncError`` `unreadableFile`.
        package static func read(_ path: String) throws -> Data {
            do {
                return try Data(contentsOf: URL(fileURLWithPath: path))
            } catch {
                throw unreadable(path, error.localizedDescription)
            }
        }
    #else
        /// Reads a pipe to its end, and a large file into huge pages (``HugePages``): its bytes are then read from all over.
        ///
        /// - Throws: ``SyncError`` `unreadableFile`.
        package static func read(_ path: String) throws -> Data {
            let descriptor = open(path, O_RDONLY | O_CLOEXEC)
            guard descriptor >= 0 else { throw unreadable(path, String(cString: strerror(errno))) }
            let handle = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
            defer { try? handle.close() }
            do {
                guard let size = size(descriptor), size >= HugePages.size, let data = try read(descriptor, size) else {
                    return try handle.readToEnd() ?? Data()
                }
                // What was added meanwhile.
                return try handle.readToEnd().map { data + $0 } ?? data
            } catch {
                throw unreadable(path, error.localizedDescription)
            }
        }

        /// The size of a file that has one; nil for a pipe or a device, which end where they end.
        private static func size(_ descriptor: Int32) -> Int? {
            var status = stat()
            guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return nil }
            return Int(status.st_size)
        }

        /// At most so many bytes; nil if there is no memory to be had in this way.
        private static func read(_ descriptor: Int32, _ size: Int) throws -> Data? {
            var memory: UnsafeMutableRawPointer?
            guard posix_memalign(&memory, HugePages.size, size) == 0, let memory else { return nil }
            HugePages.advise(memory, byteCount: size)
            var count = 0
            while count < size {
                let more = Foundation.read(descriptor, memory + count, size - count)
                if more < 0 && errno == EINTR { continue }
                guard more >= 0 else {
                    free(memory)
                    throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO)
                }
                if more == 0 { break }
                count += more
            }
            return Data(bytesNoCopy: memory, count: count, deallocator: .free)
        }
    #endif

    private static func unreadable(_ path: String, _ reason: String) -> SyncError {
        SyncError(.unreadableFile, "cannot read '\(path)'", underlying: reason)
    }
}

/// Memory in pages of 2 MB: what is written once and read out of order waits less for the first touch of each page, and
/// for finding it again.
package enum HugePages {
    /// The size of a huge page, and how memory must be aligned to be one.
    package static let size = 1 << 21

    /// Asks the system to use huge pages for those that lie wholly in a range of memory nobody has touched yet. Where it
    /// cannot, nothing changes.
    package static func advise(_ start: UnsafeRawPointer, byteCount: Int) {
        #if os(Linux)
            let first = (UInt(bitPattern: start) + UInt(size - 1)) & ~UInt(size - 1)
            let end = (UInt(bitPattern: start) + UInt(byteCount)) & ~UInt(size - 1)
            guard end > first, let address = UnsafeMutableRawPointer(bitPattern: first) else { return }
            madvise(address, Int(end - first), MADV_HUGEPAGE)
        #endif
    }
}

extension Array {
    /// Makes room for so many elements, in huge pages if that is much.
    mutating func reserve(_ count: Int) {
        guard count > capacity else { return }
        reserveCapacity(count)
        let room = capacity * MemoryLayout<Element>.stride
        withUnsafeMutableBufferPointer { buffer in
            guard let base = buffer.baseAddress else { return }
            HugePages.advise(base, byteCount: room)
        }
    }
}
