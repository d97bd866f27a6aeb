import Foundation
import Sync

/// Reads a file whole, a large one into huge pages (``HugePages``): its bytes are then read from all over.
enum LargeFile {
    /// - Throws: What the system says.
    static func read(_ path: String) throws -> Data {
        let handle = try FileHandle(forReadingFrom: URL(fileURLWithPath: path))
        defer { try? handle.close() }
        let size = Int(try handle.seekToEnd())
        try handle.seek(toOffset: 0)
        guard size >= HugePages.size, let data = try read(handle.fileDescriptor, size) else {
            return try handle.readToEnd() ?? Data()
        }
        // What was added meanwhile.
        return try handle.readToEnd().map { data + $0 } ?? data
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
}
