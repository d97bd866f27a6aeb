package import Foundation

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// Reads whole files of any kind into memory.
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
        /// Reads a file or pipe to its end. For a file of at least 2 MB, it asks for huge pages (``HugePages``).
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
                // The file may have grown since its size was read.
                return try handle.readToEnd().map { data + $0 } ?? data
            } catch {
                throw unreadable(path, error.localizedDescription)
            }
        }

        /// Returns the size of a regular file; nil for any other file, such as a pipe, or if the size cannot be read.
        private static func size(_ descriptor: Int32) -> Int? {
            var status = stat()
            guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return nil }
            return Int(status.st_size)
        }

        /// Reads at most `size` bytes; nil if the memory cannot be allocated.
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

/// Memory pages of 2 MB on Linux. They reduce page faults and TLB misses for memory that is written once and read out
/// of order.
package enum HugePages {
    /// The size of a huge page in bytes, which is also its alignment.
    package static let size = 1 << 21

    /// Advises Linux to use huge pages inside a range of untouched memory. Does nothing on other systems.
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
    /// Reserves capacity for a number of elements, and asks for huge pages (``HugePages``) if the array grows.
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
